// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "lab/runs/network_run_spec.hpp"
#include "symport/data/array.hpp"
#include "symport/search/certificate.hpp"
#include "symport/training/evaluate.hpp"

namespace symport::lab {

/// One teleport of somebody's network (`symport teleport`).
struct WeightsTeleportSpec {
  std::string weights{};  ///< a file with W1, W2, ...
  std::string batch{};    ///< a file with X and y or Y
  /// Needed, as is the loss, unless the file of the weights names them.
  std::optional<Activation> activation = std::nullopt;
  std::optional<Loss> loss = std::nullopt;
  /// Of the steps of gradient descent that follow, `auto` where each has the best length. Needed.
  std::optional<RateSpec> learning_rate = std::nullopt;
  std::optional<std::string> check = std::nullopt;  ///< other data to measure the loss on
  DataOptions where{};                              ///< is that data
  NetworkTeleportSpec how{};
  std::uint64_t seed = 0;
  std::optional<Precision> precision = std::nullopt;  ///< unset: that of the weights
  /// What keeps the teleported weights, by which they are judged; unset: `precision`.
  std::optional<Precision> stored = std::nullopt;
  Index threads = 1;
};
const OptionTable<WeightsTeleportSpec>& weights_teleport_options();

/// The loss on other data.
struct WeightsCheck {
  Index samples = 0;
  Evaluation before{}, after{};
};

struct WeightsTeleportResult {
  WeightsTeleportSpec spec;  ///< with nothing left open
  Certificate certificate;
  bool loss_invariant = true;
  std::optional<WeightsCheck> check = std::nullopt;
  ArrayMap model{};  ///< the teleported weights by name, with activation and loss
};

/// `watch` is called between evaluations; what it throws ends the teleport. Throws OptionError; an
/// InvalidArgument names the file.
WeightsTeleportResult teleport_weights(const WeightsTeleportSpec& spec,
                                       const std::function<void(const std::string&)>& warn,
                                       const std::function<void()>& watch);
/// The same of arrays; `weights` and `batch` of the specification name them in messages.
WeightsTeleportResult teleport_arrays(const WeightsTeleportSpec& spec, const ArrayMap& weights,
                                      const ArrayMap& batch,
                                      const std::function<void(const std::string&)>& warn,
                                      const std::function<void()>& watch);

}  // namespace symport::lab
