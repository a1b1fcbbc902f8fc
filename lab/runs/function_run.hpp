// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/options/rate_spec.hpp"
#include "lab/options/round_trip_spec.hpp"
#include "lab/options/teleport_spec.hpp"
#include "symport/training/train.hpp"

namespace symport::lab {

/// One run on a test function (`symport optimize`). Unset: the function, the optimizer or the
/// search decides.
struct FunctionRunSpec {
  std::string function{};
  std::optional<std::string> symmetry = std::nullopt;  ///< of a formula; functions have their own
  std::optional<std::vector<double>> start = std::nullopt;
  std::string optimizer = "gd";
  std::optional<RateSpec> learning_rate = std::nullopt;
  std::optional<Index> steps = std::nullopt;
  std::optional<double> stop_at = std::nullopt;  ///< a loss that is low enough
  Schedule teleport{};
  TeleportSpec how{};
  RoundTripSpec trip{};
  std::uint64_t seed = TrainOptions<double>{}.seed;
};
const OptionTable<FunctionRunSpec>& function_run_options();

/// A run with nothing left open, and the objects that it names.
struct FunctionRun {
  FunctionRunSpec spec;
  FunctionProblem problem;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<Search> search;

  LearningRate learning_rate() const;
  Vector start() const;
};

/// Decides what was left open and checks that everything fits together. Throws OptionError.
FunctionRun resolve(const FunctionRunSpec& spec);

struct FunctionResult {
  FunctionRunSpec spec;  ///< resolved
  std::string formula;   ///< of the function
  double minimum = 0.0;
  Vector x;
  RunSummary summary;
};

/// Algorithm 1. `watcher` sees every step and may end the run by returning false; `keep_going` may
/// do so within a teleport.
FunctionResult run_function(const FunctionRun& run, bool with_trace, StepWatcher watcher,
                            KeepGoing keep_going = {});

}  // namespace symport::lab
