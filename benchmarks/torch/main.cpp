// SPDX-License-Identifier: MIT
// LibTorch's side of the benchmarks. Reads one command per line from stdin and answers each with
// one line, seconds first, then the numbers by which the other side checks that the work was the
// same:
//
//   threads N                                 ->  0
//   problem DIR float|double classes|numbers SAMPLES WIDTH...   ->  0 loss
//   sgd STEPS RATE                            ->  seconds, loss before the last step
//   adagrad STEPS RATE, adam STEPS RATE       ->  the same
//   ascend STEPS RATE LENGTH                  ->  seconds of the steps alone, objective at the
//   start gradient RATE FILE                        ->  0, objective; its gradient in T_1, T_2 ...
//   to FILE teleport STEPS RATE LENGTH                ->  seconds with set-up, loss before and
//   after descend EPOCHS EVERY STEPS RATE LENGTH    ->  seconds, last loss: GD with teleports on J
//   set DIR float classes SAMPLES WIDTH...     ->  0: the data of the epochs
//   epoch VALIDATION BATCH RATE               ->  seconds, validation loss, peak memory in kB
//   rosenbrock RUNS                           ->  seconds, last loss
#include <dlfcn.h>
#include <sys/resource.h>
#include <torch/autograd.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>

#include "network.hpp"
#include "rosenbrock.hpp"

namespace {

/// Of the wall, or of the processor: the other side measures the same.
class Stopwatch {
 public:
  explicit Stopwatch(clockid_t clock = CLOCK_PROCESS_CPUTIME_ID) : clock_(clock), began_(now()) {}
  double seconds() const { return now() - began_; }

 private:
  double now() const {
    timespec time{};
    clock_gettime(clock_, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  clockid_t clock_;
  double began_;
};

Tensors trainable(const Problem& problem) {
  Tensors weights;
  for (const torch::Tensor& W : problem.weights) weights.push_back(W.clone().requires_grad_());
  return weights;
}

double plain_loss(const Tensors& weights, const Problem& problem) {
  torch::NoGradGuard guard;
  return loss(weights, problem.X, problem.target).item<double>();
}

void answer(std::initializer_list<double> numbers) {
  for (const double number : numbers) std::printf("%.17g ", number);
  std::printf("\n");
  std::fflush(stdout);
}

/// LibTorch's own pool, and that of the matrix products below it, which it does not reach.
void set_threads(int count) {
  torch::set_num_threads(count);
  using Setter = void (*)(int);
  if (auto* set = reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) {
    set(count);
  }
}

double peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss);
}

/// Plain gradient descent with teleports of some ascent steps on J before every so many epochs.
void descend(Problem problem, int epochs, int every, int steps, double rate, double length) {
  const Stopwatch watch;
  Tensors weights = trainable(problem);
  double last = 0.0;
  for (int t = 0; t < epochs; ++t) {
    if (t % every == 0) {
      problem.weights.clear();
      for (const torch::Tensor& W : weights) problem.weights.push_back(W.detach());
      Teleport teleport(problem);
      for (int k = 0; k < steps; ++k) teleport.step(0.0, length);
      torch::NoGradGuard guard;
      for (std::size_t m = 0; m < weights.size(); ++m) weights[m].copy_(teleport.weights()[m]);
    }
    last = sgd_step(weights, problem.X, problem.target, rate);
  }
  answer({watch.seconds(), last});
}

/// One epoch of SGD over a set in memory, and the loss of the last samples, which are not trained
/// on.
void epoch(const Problem& set, std::int64_t validation, std::int64_t batch, double rate) {
  const std::int64_t training = set.X.size(0) - validation;
  const Stopwatch watch(CLOCK_MONOTONIC);
  Tensors weights = trainable(set);
  const torch::Tensor order = torch::randperm(training, torch::kInt64);
  for (std::int64_t first = 0; first < training; first += batch) {
    const torch::Tensor part = order.narrow(0, first, std::min(batch, training - first));
    sgd_step(weights, set.X.index_select(0, part), set.target.index_select(0, part), rate);
  }
  double sum = 0.0;
  {
    torch::NoGradGuard guard;
    constexpr std::int64_t chunk = 1000;
    for (std::int64_t first = training; first < set.X.size(0); first += chunk) {
      const std::int64_t count = std::min(chunk, set.X.size(0) - first);
      const torch::Tensor value =
          loss(weights, set.X.narrow(0, first, count), set.target.narrow(0, first, count));
      sum += value.item<double>() * static_cast<double>(count);
    }
  }
  answer({watch.seconds(), sum / static_cast<double>(validation), peak_kilobytes()});
}

std::vector<std::int64_t> read_widths(std::istream& in) {
  std::vector<std::int64_t> widths;
  for (std::int64_t width = 0; in >> width;) widths.push_back(width);
  return widths;
}

}  // namespace

int main() {
  torch::manual_seed(1);
  Problem problem, set;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string command;
    in >> command;
    if (command == "threads") {
      int count = 1;
      in >> count;
      set_threads(count);
      answer({0.0});
    } else if (command == "problem" || command == "set") {
      std::string directory, precision, kind;
      std::int64_t samples = 0;
      in >> directory >> precision >> kind >> samples;
      Problem& target = command == "set" ? set : problem;
      target = read_problem(directory, read_widths(in), samples, kind == "classes",
                            precision == "float" ? torch::kFloat32 : torch::kFloat64);
      answer({0.0, command == "set" ? 0.0 : plain_loss(target.weights, target)});
    } else if (command == "sgd") {
      int steps = 0;
      double rate = 0.0, last = 0.0;
      in >> steps >> rate;
      Tensors weights = trainable(problem);
      const Stopwatch watch;
      for (int i = 0; i < steps; ++i) last = sgd_step(weights, problem.X, problem.target, rate);
      answer({watch.seconds(), last});
    } else if (command == "adagrad" || command == "adam") {
      int steps = 0;
      double rate = 0.0;
      in >> steps >> rate;
      const Stopwatch watch;
      const double last = optimizer_steps(command, problem, steps, rate);
      answer({watch.seconds(), last});
    } else if (command == "ascend") {
      int steps = 0;
      double rate = 0.0, length = 0.0, start = 0.0;
      in >> steps >> rate >> length;
      Teleport teleport(problem);
      const Stopwatch watch;
      for (int k = 0; k < steps; ++k) {
        const double value = teleport.step(rate, length);
        if (k == 0) start = value;
      }
      answer({watch.seconds(), start});
    } else if (command == "gradient") {
      double rate = 0.0;
      std::string path;
      in >> rate >> path;
      const Ascent ascent = Teleport(problem).evaluate(rate);
      std::ofstream file(path, std::ios::binary);
      for (const torch::Tensor& G : ascent.gradient) {
        const torch::Tensor packed = G.contiguous();
        file.write(static_cast<const char*>(packed.data_ptr()),
                   static_cast<std::streamsize>(packed.nbytes()));
      }
      file.close();
      answer({0.0, ascent.value});
    } else if (command == "teleport") {
      int steps = 0;
      double rate = 0.0, length = 0.0;
      in >> steps >> rate >> length;
      const Stopwatch watch;
      Teleport teleport(problem);
      for (int k = 0; k < steps; ++k) teleport.step(rate, length);
      const double after = plain_loss(teleport.weights(), problem);
      answer({watch.seconds(), plain_loss(problem.weights, problem), after});
    } else if (command == "descend") {
      int epochs = 0, every = 1, steps = 0;
      double rate = 0.0, length = 0.0;
      in >> epochs >> every >> steps >> rate >> length;
      descend(problem, epochs, every, steps, rate, length);
    } else if (command == "epoch") {
      std::int64_t validation = 0, batch = 1;
      double rate = 0.0;
      in >> validation >> batch >> rate;
      epoch(set, validation, batch, rate);
    } else if (command == "rosenbrock") {
      int runs = 1;
      in >> runs;
      double last = 0.0;
      const Stopwatch watch;
      for (int i = 0; i < runs; ++i) last = rosenbrock_run();
      answer({watch.seconds(), last});
    } else {
      std::fprintf(stderr, "bench_torch: unknown command '%s'\n", line.c_str());
      return 2;
    }
  }
}
