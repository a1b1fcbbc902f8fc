// SPDX-License-Identifier: MIT
// Rows 8, 9 and 11: an epoch of SGD over 48,000 images, and the loss of 12,000 others.
#include "epoch.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
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

/// The set and the start of the network for a framework, whose data is numbers, not bytes.
void give_set(const Framework& framework, const ImageSource<float>& source) {
  const ImageSet& images = source.images();
  const ImageProblem problem = image_problem(source, batch);
  framework.give<float>("problem", problem.objective, problem.w);
  std::ofstream X(framework.directory() / "X", std::ios::binary), y(framework.directory() / "y");
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
  framework.ask(fmt::format("set {} float classes {} 784 512 512 10",
                            framework.directory().string(), images.size()));
}

/// Seconds, validation loss and peak memory of an epoch in a fresh process: only of such a one can
/// the peak be asked.
std::vector<double> framework_epoch(const FrameworkProgram& program, int threads,
                                    const ImageSource<float>& source) {
  const Framework framework(program, threads);
  give_set(framework, source);
  return framework.ask(fmt::format("epoch {} {} {}", validation, batch, image_rate));
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
  // The validation set is measured once, below; the training set not at all, as in the frameworks.
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
  const auto best_threads = [](const auto& seconds_with) {
    return seconds_with(2) < seconds_with(1) ? 2 : 1;
  };
  const ImageSource<float>& source = bench.images.source;
  const int ours = best_threads([&](int n) { return run_epoch(source, n).seconds; });
  struct Entry {
    const FrameworkProgram& program;
    int threads;
    std::vector<double> times{}, memory{};
  };
  std::vector<Entry> entries;
  for (const auto& framework : bench.frameworks) {
    const FrameworkProgram& program = framework->program();
    try {
      entries.push_back({program, best_threads([&](int n) {
                           return framework_epoch(program, n, source).front();
                         })});
    } catch (const FrameworkFailure& failure) {
      bench.report.remark(fmt::format("{} cannot do 'epoch': {}", program.name, failure.what()));
    }
  }
  std::string note;
  for (int round = 0; round < 3; ++round) {
    const auto here = fresh_epoch(ours);
    note = fmt::format("{:.2f} s with {} thread{}, {:.0f} MB", here[0], ours, ours > 1 ? "s" : "",
                       here[2] / 1024);
    for (Entry& entry : entries) {
      const auto there = framework_epoch(entry.program, entry.threads, source);
      // The order of the samples differs, the loss after an epoch hardly.
      if (!(std::abs(there.at(1) - here[1]) < 0.1 * here[1])) {
        throw std::runtime_error(fmt::format("validation loss after an epoch: {} here, {} by {}",
                                             here[1], there.at(1), entry.program.name));
      }
      entry.times.push_back(there.at(0) / here[0]);
      entry.memory.push_back(here[2] / there.at(2));
      note += fmt::format("; {} {:.2f} s with {}, {:.0f} MB", entry.program.name, there.at(0),
                          entry.threads, there.at(2) / 1024);
    }
  }
  if (entries.empty()) return;
  const auto best = [&](std::vector<double> Entry::*field, bool smallest) {
    Ratio chosen;
    for (const Entry& entry : entries) {
      const Ratio ratio = summarize(entry.*field);
      const bool better = smallest ? ratio.median < chosen.median : ratio.median > chosen.median;
      if (&entry == &entries.front() || better) chosen = ratio;
    }
    return chosen;
  };
  bench.report.add({"9", "epoch with validation, best threads of each: fastest framework / ours",
                    best(&Entry::times, true), Goal::at_least, 2.5, note});
  bench.report.add({"11", "peak memory of that: ours / the smallest framework's",
                    best(&Entry::memory, false), Goal::at_most, 0.5});
}

}  // namespace symport::benchmarks
