// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/data/data_source.hpp"
#include "lab/options/rate_spec.hpp"
#include "lab/options/round_trip_spec.hpp"
#include "lab/options/teleport_spec.hpp"
#include "symport/objectives/activation.hpp"
#include "symport/objectives/initialization.hpp"
#include "symport/objectives/loss.hpp"
#include "symport/training/train_minibatch.hpp"

namespace symport::lab {

enum class Precision { float32, float64 };
std::string_view to_string(Precision precision);  // "float", "double"
Codec<Precision> as_precision();

/// Of the hidden layers, when none is named: the paper's.
inline Activation default_activation() { return Activation(Activation::Kind::leaky_relu); }
Codec<Activation> as_activation();
/// The activations there are, for a help text.
std::string activation_names();
Codec<Loss> as_loss();
std::string loss_names();
/// "784,512,10"
Codec<std::vector<Index>> as_layers();

/// Of the samples: so many, or such a part of them.
struct Share {
  Index count = 0;
  double part = 0.0;  ///< 0: `count` says it

  Share() = default;
  Share(Index samples) : count(samples) {}
  static Share of_part(double part);
  bool empty() const { return count == 0 && part == 0.0; }
  Index of(Index samples) const;
};
/// "12000", "20%"
Codec<Share> as_share();

/// What a row of mini-batch training says about the training set.
enum class TrainLoss {
  exact,    ///< loss and gradient of the whole set after the epoch: one more pass
  running,  ///< the mean of the mini-batches' losses
};
std::string_view to_string(TrainLoss kind);

/// One training run of a network (`symport train`). Unset: the data, the network or the optimizer
/// decides.
struct NetworkRunSpec {
  std::string data{};  ///< see `DataSource`
  DataOptions where{};
  std::optional<std::string> test = std::nullopt;  ///< another set; unset: the set's own, if any
  std::optional<Index> samples = std::nullopt;     ///< only the first ones, this many
  Share validation{};
  std::optional<Scaling> scaling = std::nullopt;

  std::vector<Index> layers{};
  std::optional<std::string> weights = std::nullopt;
  std::optional<Activation> activation = std::nullopt;  ///< unset: that of `weights`, or the usual
  bool biases = false;
  std::optional<Loss> loss = std::nullopt;
  std::optional<Initialization> init = std::nullopt;
  Precision precision = Precision::float64;

  std::string optimizer = "gd";
  std::optional<RateSpec> learning_rate = std::nullopt;
  std::optional<Index> batch = std::nullopt;   ///< unset: full
  std::optional<Index> epochs = std::nullopt;  ///< of mini-batches
  std::optional<Index> steps = std::nullopt;   ///< of full batches
  Index patience = 0;
  std::optional<double> stop_at = std::nullopt;  ///< a training loss that is low enough
  TrainLoss train_loss = TrainLoss::exact;
  std::optional<Index> evaluate_every = std::nullopt;  ///< steps; unset: epochs
  Index threads = 1;
  std::uint64_t seed = 0;
  std::optional<Index> checkpoint_every = std::nullopt;  ///< steps

  Schedule teleport{};
  std::optional<Index> teleport_batches = 4;  ///< unset: all
  std::optional<Index> teleport_batch_size = std::nullopt;
  Index scope_samples = MinibatchOptions<double>{}.scope_samples;
  NetworkTeleportSpec how{};
  RoundTripSpec trip{};

  bool minibatch() const { return batch.has_value(); }
  Index length() const { return minibatch() ? *epochs : *steps; }
};
const OptionTable<NetworkRunSpec>& network_run_options();

/// Decides what was left open and checks that everything fits together, as far as that can be done
/// before data and weights are read: the loss, and the layers of given weights, remain open. Throws
/// OptionError.
NetworkRunSpec resolve(NetworkRunSpec spec);

}  // namespace symport::lab
