// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "lab/config/config_file.hpp"
#include "lab/options/given.hpp"
#include "lab/options/registry.hpp"
#include "symport/training/train.hpp"

namespace symport::lab {

/// What is asked of one run on a test function. Unset: the function, the optimizer or the search
/// decides.
struct OptimizeOptions {
  std::string function;
  std::optional<std::vector<double>> start = std::nullopt;
  std::string optimizer = "gd";
  std::optional<std::string> learning_rate = std::nullopt;  ///< LearningRate's grammar, or "auto"
  std::optional<Index> steps = std::nullopt;
  Schedule teleport{};
  std::string search = "auto";
  std::optional<Index> search_steps = std::nullopt;
  std::optional<double> search_rate = std::nullopt;
  std::optional<ObjectiveKind> objective = std::nullopt;
  double bound = Teleportation<double>{}.bound;
  std::optional<double> cap = std::nullopt;
  StatePolicy state = Teleportation<double>{}.state;
  std::uint64_t seed = TrainOptions<double>{}.seed;
};

/// The options that were given; anything malformed throws UsageError.
OptimizeOptions read_optimize_options(const Given& given);

/// A run with nothing left open: ready to go, or done.
class Optimization {
 public:
  /// Decides what was left open and checks that everything fits together. Complaints call the
  /// options as `given` does. Throws UsageError.
  Optimization(const OptimizeOptions& options, const Given& given = {});

  /// Algorithm 1. `watcher` sees every step and may end the run by returning false.
  void run(bool with_trace, StepWatcher watcher);

  /// Of a run that was ended early on purpose: the steps that were made become those asked for.
  void end_as_planned();

  const Problem& problem() const { return problem_; }
  const OptimizeOptions& options() const { return options_; }  ///< all of them set
  const Optimizer& optimizer() const { return *optimizer_; }
  /// The learning rate where it is one number, neither `auto` nor a schedule.
  std::optional<double> constant_rate() const;
  /// The result: the parameters, and how the run ended.
  const Vector& x() const { return x_; }
  const RunSummary& summary() const { return summary_; }

  /// Every option, resolved, as a configuration file that repeats the run.
  std::string config() const;

 private:
  void choose_search(const SearchEntry& entry, const Given& given);

  OptimizeOptions options_;
  Problem problem_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Search> search_;
  std::optional<LearningRate> learning_rate_;
  Vector x_;
  RunSummary summary_;
};

}  // namespace symport::lab
