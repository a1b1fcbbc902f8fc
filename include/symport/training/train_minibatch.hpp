// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "symport/data/batches.hpp"
#include "symport/objectives/batch_objective.hpp"
#include "symport/schedules/learning_rate.hpp"
#include "symport/training/batch_source.hpp"
#include "symport/training/checkpoint.hpp"
#include "symport/training/evaluate.hpp"
#include "symport/training/run_clock.hpp"
#include "symport/training/run_summary.hpp"
#include "symport/training/step_watcher.hpp"
#include "symport/training/teleportation.hpp"

namespace symport {

template <Real Scalar>
struct MinibatchOptions {
  Index epochs = 10;
  Index batch_size = 20;
  LearningRate learning_rate = 1e-2;  ///< a function of the epoch
  Teleportation<Scalar> teleport{};   ///< its schedule K counts epochs
  Index teleport_batches = 4;         ///< B: teleports in an epoch of K
  /// Samples of a teleport batch, which begins where the mini-batch begins; 0: the mini-batch.
  Index teleport_batch_size = 0;
  /// Samples of the monitoring set of teleports that are bound to a batch (see `Outlook`): the
  /// first of the validation set where there is one, else some of the training set; 0: there is
  /// none.
  Index scope_samples = 200;
  /// Stop when the validation loss has not fallen for so many epochs; 0: never.
  Index patience = 0;
  /// Stop after the first row with a training loss below this.
  double stop_below = -std::numeric_limits<double>::infinity();
  /// A row's loss is that of the whole training set, with its gradient: one more pass over it
  /// before the first epoch and after every epoch. Otherwise it is the mean loss of the epoch's
  /// mini-batches, at no extra cost, and row 0 has none (NaN).
  bool exact_training_loss = true;
  /// Such a row also has |gradient|^2, which makes it three times as expensive; otherwise NaN.
  bool exact_gradients = true;
  /// Updates after which a further row is added; rows are then counted by updates. 0: rows are
  /// added only after epochs, and counted by them.
  Index evaluate_every = 0;
  std::uint64_t seed = 0;  ///< of the order of the samples and of the searches
  StepWatcher watcher{};
  std::function<void(const TraceRow&)> on_row{};  ///< called with every row of the trace
  Checkpointing<Scalar> checkpoints{};
  RunClock clock = RunClock::wall;  ///< of the seconds in trace and summary
};

/// Algorithm 2: stochastic gradient descent with symmetry teleportation.
///
///   for t = 0 .. epochs - 1
///     for each mini-batch X_i
///       if t in K and i < B:  g <- argmax over the orbit of w for X_i;  w <- g.w
///       w <- w - u(gradient of L(X_i, w))
///
/// `objective` gives the model and the loss; copies of it are bound to one batch after another. The
/// order of the samples is a function of (seed, epoch). `w` is the start and becomes the result.
/// The rows of the trace are epochs, or updates with `evaluate_every`; the final loss is that of
/// the last row. Throws InvalidArgument when the size of w is not the objective's dimension or an
/// option is out of range.
template <Real Scalar>
RunSummary train_minibatch(const BatchObjective<Scalar>& objective,
                           const BatchSource<Scalar>& source, const Split& split,
                           const BasicOptimizer<Scalar>& optimizer, VectorOf<Scalar>& w,
                           const MinibatchOptions<Scalar>& options);

}  // namespace symport
