// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "symport/data/batches.hpp"
#include "symport/objectives/batch_objective.hpp"
#include "symport/schedules/learning_rate.hpp"
#include "symport/training/batch_source.hpp"
#include "symport/training/checkpoint.hpp"
#include "symport/training/run_summary.hpp"
#include "symport/training/teleportation.hpp"

namespace symport {

/// Where a run is: called before every step; returning false interrupts the run.
struct MinibatchProgress {
  Index epoch = 0, epochs = 0;
  Index batch = 0, batches = 0;
  double batch_loss = 0.0;                  ///< of the last step
  double evaluations = 0.0, seconds = 0.0;  ///< so far
};

template <Real Scalar>
struct MinibatchOptions {
  Index epochs = 10;
  Index batch_size = 20;
  LearningRate learning_rate = 1e-2;  ///< a function of the epoch
  Teleportation<Scalar> teleport{};   ///< its schedule K counts epochs
  Index teleport_batches = 4;         ///< B: teleports in an epoch of K
  /// Samples of a teleport batch, which begins where the mini-batch begins; 0: the mini-batch.
  Index teleport_batch_size = 0;
  /// Stop when the validation loss has not fallen for so many epochs; 0: never.
  Index patience = 0;
  /// A row's training loss is that of the whole training set, with its gradient: one more pass over
  /// it after every epoch. Else it is the mean loss of the epoch's mini-batches, for nothing.
  bool exact_training_loss = true;
  std::uint64_t seed = 0;  ///< of the order of the samples and of the searches
  std::function<bool(const MinibatchProgress&)> watcher{};
  std::function<void(const EpochRow&)> on_epoch{};
  Checkpointing<Scalar> checkpoints{};
};

struct MinibatchSummary {
  RunStatus status = RunStatus::step_limit;
  Index epochs = 0;  ///< completed
  Index steps = 0;   ///< updates made
  double evaluations = 0.0;
  double seconds = 0.0;
  std::vector<EpochRow> rows;
  std::vector<Certificate> teleports;  ///< `step` is the epoch
};

/// The loss of a set in portions of `chunk` samples, so that memory does not grow with the set.
struct Evaluation {
  double loss = 0.0;
  double accuracy = 0.0;  ///< NaN for targets that are not classes
  double grad_sq = 0.0;   ///< NaN unless asked for
};
template <Real Scalar>
Evaluation evaluate(const BatchObjective<Scalar>& objective, const BatchSource<Scalar>& source,
                    const std::vector<Index>& samples, In<Scalar> w, bool with_gradient,
                    Index chunk = 1000);

/// One step of an optimizer on the bound batch: what `gradient` and `step` would do, to rounding,
/// without the gradient in memory where the optimizer allows it. Returns the loss before the step.
template <Real Scalar>
double minibatch_step(const BatchObjective<Scalar>& objective,
                      const BasicOptimizer<Scalar>& optimizer, double learning_rate,
                      OptimizerState<Scalar>& state, VectorOf<Scalar>& w);

/// Algorithm 2: stochastic gradient descent with symmetry teleportation.
///
///   for t = 0 .. epochs - 1
///     for each mini-batch X_i
///       if t in K and i < B:  g <- argmax over the orbit of w for X_i;  w <- g.w
///       w <- w - u(gradient of L(X_i, w))
///
/// `objective` says model and loss; copies of it are bound to one batch after the other. The order
/// of the samples is a function of (seed, epoch). `w` is the start and becomes the result.
template <Real Scalar>
MinibatchSummary train_minibatch(const BatchObjective<Scalar>& objective,
                                 const BatchSource<Scalar>& source, const Split& split,
                                 const BasicOptimizer<Scalar>& optimizer, VectorOf<Scalar>& w,
                                 const MinibatchOptions<Scalar>& options);

}  // namespace symport
