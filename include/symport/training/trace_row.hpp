// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <string_view>

#include "symport/core/types.hpp"

namespace symport {

/// What the rows of a trace are counted by: updates, or epochs of mini-batches.
enum class RowUnit { step, epoch };
std::string_view to_string(RowUnit unit);

/// The state of a run between two updates.
struct TraceRow {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  Index step = 0;   ///< updates made
  Index epoch = 0;  ///< epochs completed; 0 with full batches
  /// On the training data. Between the rows of epochs a watcher sees that of the previous batch;
  /// row 0 has none when MinibatchOptions::exact_training_loss is off.
  double loss = 0.0;
  double grad_sq = 0.0;        ///< |gradient of that loss|^2; NaN where it was not computed
  double learning_rate = 0.0;  ///< of the update that follows
  double evaluations = 0.0;    ///< in gradients (of a mini-batch), teleports included
  double seconds = 0.0;        ///< of training: not of validation, evaluation and checkpoints
  bool teleported = false;     ///< a teleport was accepted since the previous row
  /// On held-out samples; NaN where there are none.
  double valid_loss = unknown;
  double valid_accuracy = unknown;  ///< also NaN for targets that are not classes
};

}  // namespace symport
