// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

#include "symport/optimizers/optimizer.hpp"
#include "symport/schedules/learning_rate.hpp"
#include "symport/training/checkpoint.hpp"
#include "symport/training/run_clock.hpp"
#include "symport/training/run_summary.hpp"
#include "symport/training/step_watcher.hpp"
#include "symport/training/stopping.hpp"
#include "symport/training/teleportation.hpp"

namespace symport {

/// Loss and accuracy on held-out samples.
struct Validation {
  double loss = 0.0;
  double accuracy = 0.0;  ///< NaN where there are no classes
  Index samples = 0;
};

template <Real Scalar>
struct TrainOptions {
  Index max_steps = 1000;
  LearningRate learning_rate = 1e-3;
  Teleportation<Scalar> teleport{};
  Stopping stop{};
  std::uint64_t seed = 0;  ///< of the searches
  bool trace = true;
  /// Measures held-out samples, for every row of the trace. They are the monitoring set of
  /// teleports that are bound to a batch (see `Outlook`).
  std::function<Validation(In<Scalar> w)> validate{};
  StepWatcher watcher{};
  Checkpointing<Scalar> checkpoints{};
  RunClock clock = RunClock::wall;  ///< of the seconds in trace and summary
};

/// Algorithm 1: gradient descent (or another optimizer) with symmetry teleportation.
///
///   for t = 0 .. max_steps - 1
///     if t in K:  g <- argmax over the orbit of w;  w <- g.w
///     w <- w - u(dL/dw)
///
/// `w` is the start and becomes the result. Throws InvalidArgument when its size is not the
/// objective's dimension or an option is out of range.
template <Real Scalar>
RunSummary train(const BasicObjective<Scalar>& objective, const BasicOptimizer<Scalar>& optimizer,
                 VectorOf<Scalar>& w, const TrainOptions<Scalar>& options = {});

}  // namespace symport
