// SPDX-License-Identifier: MIT
// Rows 8, 9 and 11: an epoch of SGD over 48,000 images, and the loss of 12,000 others.
#include "epoch.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <symport/symport.hpp>

#include "parts.hpp"

namespace symport::benchmarks {

namespace {

constexpr Index batch = 20, validation = 12000;

double peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss);
}

/// The set and the start of the network for LibTorch, whose data is numbers, not bytes.
void give_set(const TorchSide& torch, const ImageSource<float>& source) {
  const ImageSet& images = source.images();
  torch.give<float>("problem", image_problem(source, batch).objective,
                    image_problem(source, batch).w);
  std::ofstream X(torch.directory() / "X", std::ios::binary), y(torch.directory() / "y");
  std::vector<float> row(static_cast<std::size_t>(images.rows * images.cols));
  for (Index i = 0; i < images.size(); ++i) {
    const auto image = images.image(i);
    std::transform(image.begin(), image.end(), row.begin(),
                   [](std::uint8_t grey) { return float(grey) * (1.0f / 255.0f); });
    X.write(reinterpret_cast<const char*>(row.data()),
            static_cast<std::streamsize>(row.size() * sizeof(float)));
    const std::int64_t label = images.classes[static_cast<std::size_t>(i)];
    y.write(reinterpret_cast<const char*>(&label), sizeof label);
  }
  if (!X.flush() || !y.flush()) throw std::runtime_error("the set cannot be written");
  torch.ask(fmt::format("set {} float classes {} 784 512 512 10", torch.directory().string(),
                        images.size()));
}

std::vector<double> torch_epoch(const TorchSide& torch) {
  return torch.ask(fmt::format("epoch {} {} {}", validation, batch, image_rate));
}

/// Seconds, validation loss and peak memory of an epoch in a fresh process of our own.
std::array<double, 3> fresh_epoch(int threads) {
  std::array<char, 4096> self{};
  if (readlink("/proc/self/exe", self.data(), self.size() - 1) < 0) {
    throw std::runtime_error("/proc/self/exe cannot be read");
  }
  std::FILE* pipe = popen(fmt::format("'{}' --one-epoch {}", self.data(), threads).c_str(), "r");
  std::array<double, 3> answer{};
  const int read = pipe ? std::fscanf(pipe, "%lf %lf %lf", &answer[0], &answer[1], &answer[2]) : 0;
  if (!pipe || pclose(pipe) != 0 || read != 3) throw std::runtime_error("--one-epoch failed");
  return answer;
}

}  // namespace

EpochTimes run_epoch(const ImageSource<float>& source, int threads) {
  const ImageProblem start = image_problem(source, batch);
  Split parts;
  parts.training.resize(static_cast<std::size_t>(source.samples() - validation));
  parts.validation.resize(static_cast<std::size_t>(validation));
  std::iota(parts.training.begin(), parts.training.end(), Index{0});
  std::iota(parts.validation.begin(), parts.validation.end(), source.samples() - validation);
  // The validation set is measured once, below; the training set not at all, as on LibTorch's side.
  const Split training_only{parts.training, {}};
  const ThreadScope scope(threads);
  VectorOf<float> w = start.w;
  const RunSummary run =
      train_minibatch<float>(start.objective, source, training_only, GradientDescent<float>{}, w,
                             {.epochs = 1,
                              .batch_size = batch,
                              .learning_rate = image_rate,
                              .exact_training_loss = false});
  Evaluation result;
  const auto began = std::chrono::steady_clock::now();
  result = evaluate<float>(start.objective, source, parts.validation, w, false);
  const double evaluation =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return {run.seconds + evaluation, result.loss};
}

int one_epoch(int threads) {
  const Images images = load_images();
  const EpochTimes times = run_epoch(images.source, threads);
  fmt::print("{} {} {}\n", times.seconds, times.validation_loss, peak_kilobytes());
  return 0;
}

void bench_threads(Bench& bench) {
  Alternating times(2);
  times.run(
      3, [&] { return run_epoch(bench.images.source, 1).seconds; },
      [&] { return run_epoch(bench.images.source, 2).seconds; });
  bench.report.add({"8", "epoch with validation: one thread / two threads", times.ratio(0, 1),
                    Goal::at_least, 1.6,
                    fmt::format("one {:.2f} s, two {:.2f} s; {} cores", times.median_seconds(0),
                                times.median_seconds(1), sysconf(_SC_NPROCESSORS_ONLN))});
}

void bench_epoch(Bench& bench) {
  std::vector<double> ratios, memory;
  std::string note;
  const auto best_threads = [](const auto& seconds_with) {
    return seconds_with(2) < seconds_with(1) ? 2 : 1;
  };
  const int ours = best_threads([&](int n) { return run_epoch(bench.images.source, n).seconds; });
  int theirs = 1;
  for (int round = 0; round < 3; ++round) {
    // A fresh process each time: that is what peak memory can be asked of.
    TorchSide torch(bench.torch.program());
    give_set(torch, bench.images.source);
    if (round == 0) {
      theirs = best_threads([&](int n) {
        torch.ask(fmt::format("threads {}", n));
        return torch_epoch(torch).front();
      });
    }
    torch.ask(fmt::format("threads {}", theirs));
    const auto libtorch = torch_epoch(torch);
    const auto here = fresh_epoch(ours);
    // The order of the samples differs, the loss after an epoch hardly.
    require_same("validation loss after an epoch", here[1], libtorch.at(1), 0.1);
    ratios.push_back(libtorch.at(0) / here[0]);
    memory.push_back(here[2] / libtorch.at(2));
    note = fmt::format(
        "{:.2f} s with {} thread{}, LibTorch {:.2f} s with {}; {:.0f} MB and {:.0f} MB", here[0],
        ours, ours > 1 ? "s" : "", libtorch.at(0), theirs, here[2] / 1024, libtorch.at(2) / 1024);
  }
  bench.report.add({"9", "epoch with validation, best threads of each: LibTorch / ours",
                    summarize(ratios), Goal::at_least, 2.5, note});
  bench.report.add(
      {"11", "peak memory of that: ours / LibTorch", summarize(memory), Goal::at_most, 0.5});
}

}  // namespace symport::benchmarks
