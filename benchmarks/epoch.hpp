// SPDX-License-Identifier: MIT
#pragma once

#include "symport/training/image_source.hpp"

namespace symport::benchmarks {

struct EpochTimes {
  double seconds = 0.0;  ///< of the steps and of the evaluation of the validation set
  double validation_loss = 0.0;
};
/// One epoch of SGD over all images but the last 12,000, which are the validation set.
EpochTimes run_epoch(const ImageSource<float>& source, int threads);

/// The program `--one-epoch THREADS`: prints seconds, validation loss and peak memory in kB.
int one_epoch(int threads);

}  // namespace symport::benchmarks
