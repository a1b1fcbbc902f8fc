// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "symport/core/random.hpp"
#include "symport/data/array.hpp"
#include "symport/optimizers/optimizer_state.hpp"
#include "symport/search/certificate.hpp"
#include "symport/training/trace.hpp"

namespace symport {

/// Where a run stood before a teleport, to go back to (see `Teleportation::rehearsal`).
template <Real Scalar>
struct RollbackPoint {
  Index teleport = 0;  ///< how many were tried before
  double loss = 0.0;   ///< see `rollback_multiple`
  VectorOf<Scalar> w;
  OptimizerState<Scalar> optimizer;
  std::string reason;  ///< why and when the run went back here; empty: it did not
};

/// Where a run is between two updates: all that `train` (Algorithm 1) or `train_minibatch`
/// (Algorithm 2) needs to continue as if it had never stopped. Batches are a function of seed and
/// epoch, schedules of the step or epoch, so their position is that of the run.
///
/// A run that continues from a checkpoint, with the options it was started with, ends with the same
/// bytes as an uninterrupted one. `max_steps` or `epochs` may be larger than they were. With
/// another optimizer, another learning rate or another objective it is refused.
template <Real Scalar>
struct Checkpoint {
  Index step = 0;   ///< updates made
  Index epoch = 0;  ///< epochs completed; 0 in Algorithm 1
  Index batch = 0;  ///< mini-batches of the next epoch that are done; 0 in Algorithm 1
  VectorOf<Scalar> w;
  OptimizerState<Scalar> optimizer;
  Random::State random;  ///< of the searches

  double evaluations = 0.0;
  double seconds = 0.0;
  bool teleported = false;  ///< a teleport was accepted since the last row
  std::vector<Certificate> teleports;
  Trace trace;
  /// Before the first accepted teleport, and before the one that began at the lowest loss; one
  /// where they are the same. A run that went back to one does not teleport any more.
  std::vector<RollbackPoint<Scalar>> rollback_points;
  Index steps_above = 0;  ///< consecutive losses so far that count against the teleports

  /// What a run that continues from here must have in common with the one that wrote it.
  std::string optimizer_name;
  std::string learning_rate;  ///< LearningRate::to_string
  double loss = 0.0;          ///< at w: in Algorithm 2, on the mini-batch that comes next

  /// Algorithm 1: the loss one update earlier.
  double previous_loss = std::numeric_limits<double>::infinity();

  /// Algorithm 2: the losses of the epoch's mini-batches, added up; what early stopping remembers.
  double epoch_loss = 0.0;
  double best_valid_loss = std::numeric_limits<double>::infinity();
  Index epochs_without_progress = 0;
};

/// When to write checkpoints, and where to continue from.
template <Real Scalar>
struct Checkpointing {
  /// Called every `every` steps, after every epoch of mini-batches, after the last step, and when a
  /// watcher stops the run. Never after the run has diverged.
  std::function<void(const Checkpoint<Scalar>&)> save{};
  Index every = 0;  ///< steps; 0: not in between
  /// The run continues from here: its w replaces the start. Null: from the start.
  const Checkpoint<Scalar>* resume = nullptr;
};

/// A checkpoint as named arrays, for `write_npz`; numbers are kept bit for bit. Single numbers have
/// no dimension (`step`, `evaluations`, ...), every column of a table is an array of its own
/// (`trace.loss`, `teleports.drift`, ...), the buffers of the optimizer are `optimizer.NAME`, and
/// `optimizer` lists their names and kinds. docs/training.md has the whole list.
template <Real Scalar>
ArrayMap checkpoint_arrays(const Checkpoint<Scalar>& checkpoint);
/// The inverse. There may be other arrays besides those of the checkpoint. Throws InvalidArgument,
/// naming file and array, when one is missing or has the wrong type or shape; and as
/// `require_checkpoint_format` does.
template <Real Scalar>
Checkpoint<Scalar> checkpoint_from_arrays(const ArrayMap& arrays, const std::string& file);

/// Throws InvalidArgument, naming the file and the format that was found, unless these are arrays
/// of the format that `checkpoint_arrays` writes.
void require_checkpoint_format(const ArrayMap& arrays, const std::string& file);

}  // namespace symport
