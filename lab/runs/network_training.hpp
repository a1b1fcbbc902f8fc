// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/options/training_options.hpp"
#include "lab/runs/checkpoint_files.hpp"
#include "lab/runs/run_directory.hpp"
#include "symport/training/run_summary.hpp"

namespace symport::lab {

struct TrainingResult {
  RunSummary run;
  bool loss_invariant = true;
  Index test_samples = 0;  ///< 0: there is no test set
  double test_loss = 0.0;
  double test_accuracy = 0.0;  ///< NaN without classes
  ArrayMap model;              ///< the weights by name, as model.npz has them
  TrainingOptions options;     ///< resolved

  bool minibatch() const { return run.trace.unit == RowUnit::epoch; }
};

/// How far a run is: `step` of `steps` (of mini-batches: within the epoch).
struct TrainingProgress {
  bool minibatch = false;
  Index epoch = 0, epochs = 1;
  Index step = 0, steps = 0;
  Index samples_a_step = 0;
  double loss = 0.0;                        ///< of the last step
  double evaluations = 0.0, seconds = 0.0;  ///< so far
};

/// Who is told how a run gets on.
struct TrainingObserver {
  /// Before every step; returning false ends the run after it.
  std::function<bool(const TrainingProgress&)> watch;
  std::function<void(const TraceRow&)> epoch_done;  ///< in mini-batches, with every row
  std::function<void(const std::string&)> warn;
};

/// Where a run is kept.
struct TrainingPlace {
  RunDirectory* directory = nullptr;  ///< null: nowhere
  bool resume = false;                ///< go on from its checkpoint
};

/// Reads the data, trains, and keeps configuration and checkpoints in the directory if there is
/// one. `open` is called once all input is known to be good: bad input throws UsageError before
/// anything is written. A checkpoint that cannot be written is a warning: the run goes on.
TrainingResult train_network(const TrainingOptions& options, const Given& given,
                             const std::function<TrainingPlace()>& open,
                             const TrainingObserver& observer);

}  // namespace symport::lab
