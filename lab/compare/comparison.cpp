// SPDX-License-Identifier: MIT
#include "lab/compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "lab/compare/rate_score.hpp"
#include "lab/runs/run_directory.hpp"

namespace symport::lab::compare {

namespace {

/// Rates are chosen with other seeds than those that are reported.
constexpr std::uint64_t first_tuning_seed = 1'000'000;

class Runner {
 public:
  Runner(const CompareOptions& options, DataCache& data, const CompareWatch& watch)
      : options_(options), data_(data), watch_(watch), rates_(rates_of(options.grid)) {}

  Comparison run() {
    Comparison result{.options = options_};
    for (const Problem& problem : options_.problems) {
      result.problems.push_back({problem, target_of(options_, problem), {}});
    }
    refuse_links();
    expect_work();
    for (ProblemResult& problem : result.problems) {
      for (const Method& method : options_.methods) {
        problem.entries.push_back(prepared(problem, method));
      }
    }
    require_fitting(result);
    for (Index i = 0; i < options_.seeds && watch_.keep_going(); ++i) {
      const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(i);
      if (run_seed(result, seed)) result.seeds.push_back(seed);
    }
    result.interrupted = !watch_.keep_going();
    for (ProblemResult& problem : result.problems) {
      for (Entry& entry : problem.entries) {
        if (entry.fits()) entry.trials.resize(result.seeds.size());
      }
    }
    result.seconds = seconds();
    return result;
  }

 private:
  /// Of a run, below the directory of results.
  static std::filesystem::path folder_of(const Problem& problem, const Method& method,
                                         std::uint64_t seed) {
    return std::filesystem::path(folder_name(problem.name)) /
           fmt::format("{}-{}", folder_name(method.text), seed);
  }

  /// Before the work, not at its end.
  void refuse_links() const {
    if (options_.out.empty()) return;
    for (const Problem& problem : options_.problems) {
      for (const Method& method : options_.methods) {
        for (Index i = 0; i < options_.seeds; ++i) {
          const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(i);
          RunDirectory::refuse_links(options_.out, folder_of(problem, method, seed), "--out");
        }
      }
    }
  }

  bool tunes(const Method& method) const { return !options_.rate && !method.has_own_rate(); }

  void expect_work() {
    for (const Method& method : options_.methods) {
      const std::size_t tuning =
          tunes(method) ? rates_.size() * static_cast<std::size_t>(options_.tuning_seeds) : 0;
      runs_ += options_.problems.size() * (tuning + static_cast<std::size_t>(options_.seeds));
    }
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

  Trial run_one(const TrialPlan& plan, const std::string& doing) {
    const double part = static_cast<double>(done_++) / static_cast<double>(runs_);
    return run_trial(plan, data_, [&](const Cost&) {
      watch_.progress(part, doing);
      return watch_.keep_going();
    });
  }

  /// The target of a problem as a loss. All methods begin at the same point.
  double threshold(const ProblemResult& problem, std::uint64_t seed) const {
    if (!problem.target.relative) return problem.target.value;
    return start_loss(problem.problem.spec, data_, seed, options_.spread).threshold(problem.target);
  }

  /// What a method's runs on a problem have in common, with the best rate there is.
  Entry prepared(const ProblemResult& problem, const Method& method) {
    Entry entry;
    try {
      explained(problem.problem, method, [&] {
        entry.spec = spec_for(problem.problem, method);
        if (tunes(method)) set_rate(entry, RateSpec{rates_.front()});
        if (options_.rate && !method.has_own_rate()) set_rate(entry, *options_.rate);
        check_fits(entry.spec, data_);
        if (tunes(method)) tune(problem, method, entry);
      });
      entry.rate =
          std::visit([](const auto& spec) { return spec.learning_rate->text(); }, entry.spec);
    } catch (const UsageError& error) {
      entry.misfit = error.what();
    }
    return entry;
  }

  static void set_rate(Entry& entry, const RateSpec& rate) {
    std::visit([&](auto& spec) { spec.learning_rate = rate; }, entry.spec);
  }

  void tune(const ProblemResult& problem, const Method& method, Entry& entry) {
    std::vector<std::uint64_t> seeds;
    std::vector<double> thresholds;
    for (Index i = 0; i < options_.tuning_seeds; ++i) {
      seeds.push_back(options_.seed + first_tuning_seed + static_cast<std::uint64_t>(i));
      thresholds.push_back(threshold(problem, seeds.back()));
    }
    std::optional<RateScore> best;
    RateSpec best_rate;
    for (std::size_t i = 0; i < rates_.size() && watch_.keep_going(); ++i) {
      const RateSpec rate = RateSpec::parse(fmt::format("{:.3g}", rates_[i]));
      set_rate(entry, rate);
      RateScore score;
      for (std::size_t k = 0; k < seeds.size() && watch_.keep_going(); ++k) {
        const Trial trial =
            run_one({.spec = entry.spec,
                     .seed = seeds[k],
                     .budget = options_.budget,
                     .threshold = thresholds[k],
                     .spread = options_.spread,
                     .stop_at_target = true,
                     .keep_curve = false},
                    fmt::format("tuning {} on {}", method.text, problem.problem.name));
        std::optional<double> cost;
        if (trial.reached) cost = trial.reached->in(options_.budget.unit);
        score.add(cost, options_.budget.amount, trial.last_loss);
        ++entry.tuning.runs;
        entry.tuning.evaluations += trial.spent.evaluations;
        entry.tuning.seconds += trial.spent.seconds;
      }
      if (best && !(score < *best)) continue;
      best = score;
      best_rate = rate;
      entry.at_edge = rates_.size() > 1 && (i == 0 || i + 1 == rates_.size());
    }
    if (best) set_rate(entry, best_rate);
    entry.tuned = true;
  }

  void require_fitting(const Comparison& result) const {
    for (std::size_t m = 0; m < options_.methods.size(); ++m) {
      const auto fits = [&](const ProblemResult& problem) { return problem.entries[m].fits(); };
      if (std::any_of(result.problems.begin(), result.problems.end(), fits)) continue;
      throw UsageError(result.problems.front().entries[m].misfit);
    }
  }

  /// All problems and methods with one seed; false when it was stopped.
  bool run_seed(Comparison& result, std::uint64_t seed) {
    for (ProblemResult& problem : result.problems) {
      const double loss = threshold(problem, seed);
      for (std::size_t m = 0; m < options_.methods.size(); ++m) {
        Entry& entry = problem.entries[m];
        if (!entry.fits()) continue;
        const Method& method = options_.methods[m];
        std::filesystem::path folder;
        if (!options_.out.empty()) folder = options_.out / folder_of(problem.problem, method, seed);
        entry.trials.push_back(
            run_one({.spec = entry.spec,
                     .seed = seed,
                     .budget = options_.budget,
                     .threshold = loss,
                     .spread = options_.spread,
                     .folder = folder},
                    fmt::format("seed {}: {} on {}", seed, method.text, problem.problem.name)));
        if (!watch_.keep_going()) return false;
      }
    }
    return true;
  }

  const CompareOptions& options_;
  DataCache& data_;
  const CompareWatch& watch_;
  const std::vector<double> rates_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::size_t runs_ = 0, done_ = 0;
};

}  // namespace

Comparison run_comparison(const CompareOptions& options, DataCache& data,
                          const CompareWatch& watch) {
  return Runner(options, data, watch).run();
}

}  // namespace symport::lab::compare
