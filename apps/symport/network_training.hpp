// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "network.hpp"
#include "run_directory.hpp"
#include "symport/core/status.hpp"
#include "symport/objectives/initialization.hpp"
#include "symport/schedules/learning_rate.hpp"

namespace symport::cli {

/// What is asked of `symport train`. Unset: the data, the network or the optimizer decides.
struct TrainingOptions {
  std::string data;  ///< a file, or "regression"
  std::optional<std::string> weights = std::nullopt;
  std::vector<Index> layers{};
  Activation activation = default_activation();
  bool biases = false;
  std::optional<Loss> loss = std::nullopt;
  std::optional<Initialization> init = std::nullopt;
  std::string optimizer = "gd";
  std::optional<std::string> learning_rate = std::nullopt;  ///< LearningRate's grammar, or "auto"
  std::optional<Index> batch = std::nullopt;                ///< unset: full
  std::optional<Index> length = std::nullopt;               ///< steps, or epochs of mini-batches
  Index validation = 0;
  Index patience = 0;
  Schedule teleport{};
  Index teleport_batches = 4;
  std::optional<Index> teleport_batch_size = std::nullopt;
  TeleportOptions how{};
  Precision precision = Precision::twice;
  Index threads = 1;
  std::uint64_t seed = 0;
};
TrainingOptions read_training_options(const Given& given);

/// One row of the result: a step of full batches, or an epoch of mini-batches.
struct TrainingRow {
  Index index = 0;
  double train_loss = 0.0;
  double valid_loss = 0.0;  ///< NaN without a validation set
  double valid_accuracy = 0.0;
  double grad_sq = 0.0;
  double learning_rate = 0.0;
  double evaluations = 0.0;
  double seconds = 0.0;
};

struct TrainingResult {
  RunStatus status = RunStatus::step_limit;
  bool minibatch = false;
  Index steps = 0;  ///< updates made
  double evaluations = 0.0;
  double seconds = 0.0;
  std::vector<TrainingRow> rows;
  std::vector<Certificate> teleports;
  bool loss_invariant = true;
  TrainingOptions options;  ///< resolved
};

/// Shows how far a run is: index of the row that is being made, of how many, and the last loss.
/// Returning false interrupts the run.
using TrainingWatcher = std::function<bool(double part_done, double loss)>;

/// Reads the data, trains, and writes model.npz to the directory if there is one. Bad input throws
/// UsageError before anything is written.
TrainingResult train_network(const TrainingOptions& options, const Given& given,
                             const std::function<RunDirectory*()>& open_directory,
                             const TrainingWatcher& watcher);

/// Every option, resolved, as a configuration file that repeats the run.
std::string training_config(const TrainingOptions& options);

}  // namespace symport::cli
