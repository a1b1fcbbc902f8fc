// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "lab/runs/network_run_spec.hpp"
#include "symport/data/array.hpp"
#include "symport/search/certificate.hpp"

namespace symport::lab {

/// One teleport of somebody's network (`symport teleport`).
struct WeightsTeleportSpec {
  std::string weights{};  ///< a file with W1, W2, ...
  std::string batch{};    ///< a file with X and y or Y
  Activation activation = default_activation();
  std::optional<Loss> loss = std::nullopt;
  /// Of the steps of gradient descent that follow; unset: each has the best length.
  std::optional<double> learning_rate = std::nullopt;
  NetworkTeleportSpec how{};
  std::uint64_t seed = 0;
  std::optional<Precision> precision = std::nullopt;  ///< unset: that of the weights
  Index threads = 1;
};
const OptionTable<WeightsTeleportSpec>& weights_teleport_options();

struct WeightsTeleportResult {
  WeightsTeleportSpec spec;  ///< with nothing left open
  Certificate certificate;
  bool loss_invariant = true;
  ArrayMap model;  ///< the teleported weights by name
};

/// Throws OptionError; an InvalidArgument names the file.
WeightsTeleportResult teleport_weights(const WeightsTeleportSpec& spec,
                                       const std::function<void(const std::string&)>& warn);
/// The same of arrays; `weights` and `batch` of the specification name them in messages. `watch` is
/// called between evaluations; what it throws ends the teleport.
WeightsTeleportResult teleport_arrays(const WeightsTeleportSpec& spec, const ArrayMap& weights,
                                      const ArrayMap& batch,
                                      const std::function<void(const std::string&)>& warn,
                                      const std::function<void()>& watch);

}  // namespace symport::lab
