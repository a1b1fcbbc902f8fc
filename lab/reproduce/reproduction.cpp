// SPDX-License-Identifier: MIT
#include "lab/reproduce/reproduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "lab/reproduce/experiment_file.hpp"
#include "lab/runs/removal.hpp"
#include "lab/runs/run_reader.hpp"
#include "lab/runs/run_writer.hpp"
#include "symport/core/thread_scope.hpp"
#include "symport/search/teleport_tally.hpp"
#include "symport/statistics/quantile.hpp"

namespace symport::lab {

namespace fs = std::filesystem;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Of one run with one seed, below the directory of results.
fs::path folder_of(const Experiment& experiment, const ExperimentRun& run, std::uint64_t seed) {
  return (fs::path(experiment.name) / fmt::format("{}-{}", folder_name(run.name), seed))
      .lexically_normal();
}

std::vector<fs::path> folders_of(const Experiment& experiment) {
  std::vector<fs::path> folders;
  for (const ExperimentRun& run : experiment.runs) {
    for (const std::uint64_t seed : experiment.seeds) {
      folders.push_back(folder_of(experiment, run, seed));
    }
  }
  return folders;
}

/// The run that an earlier reproduction left in this folder, if it is complete.
std::optional<RunRecord> complete_run(const fs::path& folder) {
  if (!fs::exists(folder / "summary.json")) return std::nullopt;
  RunRecord run = read_run(folder);
  if (run.status == RunStatus::interrupted) return std::nullopt;
  return run;
}

/// Runs of an experiment, each into a folder of its own.
class Runner {
 public:
  Runner(const Experiment& experiment, DataCache& data, const ReproductionOptions& options)
      : clock_(experiment.clock), data_(data), options_(options) {}

  /// Nothing when it was interrupted.
  std::optional<RunRecord> run(const RunSpec& spec, const fs::path& folder) {
    // A run whose time is reported computes alone; its files are written while the next one runs.
    std::unique_lock<std::mutex> computing(alone_, std::defer_lock);
    if (clock_) computing.lock();
    const bool resume = fs::exists(folder / "config.toml");
    const std::unique_ptr<RunDirectory> directory =
        resume ? RunDirectory::of_earlier_run(folder, "--out")
               : std::make_unique<RunDirectory>(folder, true, "--out");
    const auto finish = [&](const auto& result, RunStatus status, const auto& write) {
      if (clock_) computing.unlock();
      write(result, *directory);
      if (status == RunStatus::interrupted) return std::optional<RunRecord>();
      std::optional<RunRecord> record = record_of(result);
      record->directory = folder;
      return record;
    };
    if (const auto* function = std::get_if<FunctionRunSpec>(&spec)) {
      const FunctionResult result = run_function(
          resolve(*function), true, [&](const TraceRow&) { return options_.keep_going(); },
          options_.keep_going);
      return finish(result, result.summary.status,
                    [](const FunctionResult& r, RunDirectory& d) { write_run(r, d); });
    }
    const std::unique_ptr<NetworkRun> loaded = load(std::get<NetworkRunSpec>(spec), data_);
    const NetworkResult result =
        loaded->train({directory.get(), resume},
                      {.watch = [&](const NetworkProgress&) { return options_.keep_going(); },
                       .warn = options_.warn,
                       .keep_going = options_.keep_going});
    return finish(result, result.summary.status,
                  [](const NetworkResult& r, RunDirectory& d) { write_results(r, d); });
  }

 private:
  bool clock_;
  DataCache& data_;
  const ReproductionOptions& options_;
  std::mutex alone_;
};

/// Calls job(0), ..., job(count - 1) on several threads; false once one of them was. The first
/// exception ends the work and is thrown again.
bool side_by_side(std::size_t at_once, std::size_t count,
                  const std::function<bool(std::size_t)>& job) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> good{true};
  std::exception_ptr error;
  std::mutex guard;
  const auto work = [&] {
    for (std::size_t i = next++; i < count && good; i = next++) {
      try {
        if (!job(i)) good = false;
      } catch (...) {
        const std::scoped_lock lock(guard);
        if (!error) error = std::current_exception();
        good = false;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (std::size_t i = 1; i < at_once; ++i) others.emplace_back(work);
    } catch (const std::system_error&) {  // those that could be started do it
    }
    work();
  }
  if (error) std::rethrow_exception(error);
  return good;
}

/// Of one run; processors are shared out among runs side by side.
std::size_t most_threads(const Experiment& experiment) {
  Index most = 1;
  for (const ExperimentRun& run : experiment.runs) {
    if (const auto* spec = std::get_if<NetworkRunSpec>(&run.spec)) {
      most = std::max(most, spec->threads);
    }
  }
  return static_cast<std::size_t>(most);
}

double statistic_of(std::vector<double> values, Statistic statistic) {
  if (std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); })) {
    return nan;
  }
  switch (statistic) {
    case Statistic::mean:
      return std::accumulate(values.begin(), values.end(), 0.0) /
             static_cast<double>(values.size());
    case Statistic::largest:
      return *std::max_element(values.begin(), values.end());
    case Statistic::smallest:
      return *std::min_element(values.begin(), values.end());
    case Statistic::median:
      break;
  }
  return median(std::move(values));
}

/// The row that a quantity is read from, if the run gets there.
std::optional<std::size_t> row_of(const TraceColumns& trace, const Quantity& quantity) {
  const std::vector<double>& index = trace[trace.index];
  const std::vector<double>& loss = trace.loss();
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (quantity.at) {
      if (index[i] == static_cast<double>(*quantity.at)) return i;
    } else if (quantity.at_loss) {
      if (loss[i] <= *quantity.at_loss) return i;
    } else if (quantity.at_change) {
      if (i > 0 && std::abs(loss[i] - loss[i - 1]) < *quantity.at_change) return i;
    } else if (i + 1 == index.size()) {
      return i;
    }
  }
  return std::nullopt;
}

/// The quantity of one run by itself; NaN where the run does not get there.
double number_of(const RunRecord& run, const Quantity& quantity) {
  if (quantity.column == "completed") return run.status == RunStatus::diverged ? 0.0 : 1.0;
  if (quantity.column == "drift" || quantity.column == "accepted") {
    const TeleportTally tally(run.teleports);
    return quantity.column == "drift" ? tally.largest_drift : static_cast<double>(tally.accepted);
  }
  const auto row = row_of(run.trace, quantity);
  return row ? run.trace[quantity.column][*row] : nan;
}

void check_columns(const Reproduction& result) {
  const auto check = [&](const Quantity& quantity, const std::string& origin) {
    if (!quantity.in_trace()) return;
    for (const RunResults& one : result.results) {
      if (one.seeds.front().trace.has(quantity.column)) continue;
      throw UsageError(origin,
                       fmt::format("column: there is no '{}' in the traces", quantity.column));
    }
  };
  for (const Expectation& e : result.experiment.expectations) check(e.quantity, e.origin);
  for (const SweepFigure& f : result.experiment.figures) check(f.quantity, "[[figure]] " + f.id);
}

double found_number(const Reproduction& result, const Expectation& expectation) {
  if (expectation.reduction == SweepReduction::none) {
    return result.number(expectation.run, expectation.quantity);
  }
  const auto& methods = result.experiment.methods;
  const auto method = std::find_if(methods.begin(), methods.end(), [&](const ExperimentMethod& m) {
    return m.name == expectation.run;
  });
  return reduced(
      expectation.reduction, result.experiment.axes[method->axes.front()].values,
      result.numbers(static_cast<std::size_t>(method - methods.begin()), expectation.quantity));
}

}  // namespace

double Reproduction::number(const std::string& run, const Quantity& quantity) const {
  const auto seeds_of = [&](const std::string& name) -> const std::vector<RunRecord>& {
    return std::find_if(results.begin(), results.end(),
                        [&](const RunResults& one) { return one.run.name == name; })
        ->seeds;
  };
  const std::vector<RunRecord>& seeds = seeds_of(run);
  std::vector<double> numbers;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    numbers.push_back(number_of(seeds[i], quantity));
    // Seeds are paired: each run is compared with the other method's of the same seed.
    if (!quantity.relative_to.empty()) {
      numbers.back() /= number_of(seeds_of(quantity.relative_to)[i], quantity);
    }
    if (!quantity.speed_up_over.empty()) {
      const double other = number_of(seeds_of(quantity.speed_up_over)[i], quantity);
      numbers.back() = std::isnan(numbers.back()) ? 0.0 : other / numbers.back();
    }
  }
  return statistic_of(std::move(numbers), quantity.statistic);
}

std::vector<double> Reproduction::numbers(std::size_t method, const Quantity& quantity) const {
  std::vector<double> list;
  for (const RunResults& one : results) {
    if (one.run.method == method) list.push_back(number(one.run.name, quantity));
  }
  return list;
}

double reduced(SweepReduction reduction, const std::vector<double>& x,
               const std::vector<double>& y) {
  const auto there = [](double v) { return std::isfinite(v) && v != 0.0; };
  const auto count =
      static_cast<double>(std::count_if(y.begin(), y.end(), [&](double v) { return there(v); }));
  switch (reduction) {
    case SweepReduction::share_missing:
      return 1.0 - count / static_cast<double>(y.size());
    case SweepReduction::share_above_one:
      return static_cast<double>(
                 std::count_if(y.begin(), y.end(), [&](double v) { return there(v) && v > 1.0; })) /
             count;
    case SweepReduction::largest: {
      double most = nan;
      for (const double v : y) most = there(v) ? std::fmax(most, v) : most;
      return most;
    }
    default:
      break;
  }
  const bool logarithmic = reduction == SweepReduction::exponent;
  const auto scaled = [&](double v) { return logarithmic ? std::log(v) : v; };
  double mx = 0.0, my = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mx += scaled(x[i]) / static_cast<double>(x.size());
    my += scaled(y[i]) / static_cast<double>(x.size());
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = scaled(x[i]) - mx, dy = scaled(y[i]) - my;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  return logarithmic ? xy / xx : xy * xy / (xx * yy);
}

std::string page_of(const Experiment& experiment) { return experiment.name + ".html"; }

void require_places(const Experiment& experiment, const fs::path& out, const std::string& origin) {
  const auto refuse = [&](const fs::path& path, const std::string& problem) {
    throw UsageError(origin, fmt::format("found '{}', {}; choose another directory for the results",
                                         path.string(), problem));
  };
  std::error_code ignored;
  const fs::path source = out / experiment.name / experiment_file_name;
  if (fs::exists(source, ignored)) refuse(source, "which is an experiment");
  RunDirectory::refuse_link(out, page_of(experiment), origin);
  const std::vector<fs::path> names = files_of_a_run();
  for (const fs::path& folder : folders_of(experiment)) {
    RunDirectory::refuse_links(out, folder, origin);
    const fs::path path = out / folder;
    if (RunDirectory::holds_a_run(path)) continue;
    const auto taken = std::find_if(names.begin(), names.end(), [&](const fs::path& name) {
      return fs::exists(path / name, ignored);
    });
    if (taken != names.end()) refuse(path / *taken, "which no run wrote");
  }
}

void remove_earlier_runs(const Experiment& experiment, const fs::path& out) {
  for (const fs::path& folder : folders_of(experiment)) remove_run(out, folder);
}

std::optional<Reproduction> reproduce(const Experiment& experiment, DataCache& data,
                                      const ReproductionOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  Reproduction result{experiment, {}, {}, 0.0};
  for (const ExperimentRun& run : experiment.runs) {
    result.results.push_back({run, std::vector<RunRecord>(experiment.seeds.size())});
  }
  fs::create_directories(options.out / experiment.name);
  const std::size_t all = experiment.runs.size() * experiment.seeds.size();
  std::atomic<std::size_t> begun{0};
  std::mutex guard;
  Runner runner(experiment, data, options);
  const auto job = [&](std::size_t i) {
    RunResults& one = result.results[i / experiment.seeds.size()];
    const std::size_t k = i % experiment.seeds.size();
    const std::uint64_t seed = experiment.seeds[k];
    {
      const std::scoped_lock lock(guard);
      options.begins(fmt::format("{}, seed {} ({} of {})", one.run.name, seed, ++begun, all));
    }
    RunSpec spec = one.run.spec;
    std::visit([&](auto& any) { any.seed = seed; }, spec);
    if (auto* network = std::get_if<NetworkRunSpec>(&spec); network && options.data_directory) {
      network->where.data_dir = options.data_directory;
    }
    const fs::path folder = options.out / folder_of(experiment, one.run, seed);
    std::optional<RunRecord> record = complete_run(folder);
    if (!record) {
      record = one.run.given.explained([&] { return runner.run(spec, folder); });
    }
    if (!record) return false;
    record->name = one.run.name;
    one.seeds[k] = std::move(*record);
    return true;
  };
  const auto there = static_cast<std::size_t>(processors());
  const std::size_t at_once =
      experiment.clock ? std::min<std::size_t>(there, 2) : there / most_threads(experiment);
  if (!side_by_side(std::clamp<std::size_t>(at_once, 1, all), all, job)) return std::nullopt;
  check_columns(result);
  for (const Expectation& expectation : experiment.expectations) {
    result.outcomes.push_back({expectation, found_number(result, expectation)});
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace symport::lab
