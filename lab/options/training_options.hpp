// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/data/open_data.hpp"
#include "lab/options/network.hpp"
#include "symport/objectives/initialization.hpp"
#include "symport/schedules/schedule.hpp"

namespace symport::lab {

/// The name of the paper's regression data, generated from the seed.
inline constexpr const char* generated_data = "regression";

/// What a row of mini-batch training says about the training set.
enum class TrainLoss {
  exact,    ///< loss and gradient of the whole set after the epoch: one more pass
  running,  ///< the mean of the mini-batches' losses
};
std::string_view to_string(TrainLoss kind);

/// What is asked of `symport train`. Unset: the data, the network or the optimizer decides.
struct TrainingOptions {
  std::string data;  ///< see `open_data`, or "regression"
  std::optional<std::string> test = std::nullopt;
  DataOptions where{};                          ///< where fetched sets are, the label of a CSV file
  std::optional<Index> samples = std::nullopt;  ///< only so many, the first ones
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
  TrainLoss train_loss = TrainLoss::exact;
  Schedule teleport{};
  Index teleport_batches = 4;
  std::optional<Index> teleport_batch_size = std::nullopt;
  TeleportOptions how{};
  Precision precision = Precision::twice;
  Index threads = 1;
  std::uint64_t seed = 0;
  Index checkpoint_every = 0;  ///< steps; 0: the default
};

TrainingOptions read_training_options(const Given& given);

/// Every option, resolved, as a configuration file that repeats the run.
std::string training_config(const TrainingOptions& options);
/// The same without what may change when a run goes on: its length and its checkpoints. Two runs
/// with the same text are the same run.
std::string training_identity(const TrainingOptions& options);

}  // namespace symport::lab
