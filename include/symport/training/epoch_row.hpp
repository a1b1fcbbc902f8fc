// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/types.hpp"

namespace symport {

/// One epoch of mini-batches, measured after its last step.
struct EpochRow {
  Index epoch = 0;
  double train_loss = 0.0;      ///< see MinibatchOptions::exact_training_loss
  double valid_loss = 0.0;      ///< NaN without a validation set
  double valid_accuracy = 0.0;  ///< NaN without one, or without classes
  double grad_sq = 0.0;         ///< |gradient of the training loss|^2; NaN for a running loss
  double learning_rate = 0.0;
  double evaluations = 0.0;  ///< in gradients of a mini-batch, teleports included, evaluation not
  double seconds = 0.0;      ///< of training up to here, evaluation not
};

}  // namespace symport
