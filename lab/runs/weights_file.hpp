// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "lab/runs/network_run_spec.hpp"
#include "symport/training/mlp_file.hpp"

namespace symport::lab {

/// The file of --weights, read once; where none is given, weights are drawn from the seed.
class WeightsFile {
 public:
  /// Throws InvalidArgument for a file that cannot be read or names an activation that there is
  /// not.
  explicit WeightsFile(const NetworkRunSpec& spec);

  /// With the activation that the file names, where none was given.
  NetworkRunSpec with_activation(NetworkRunSpec spec) const;
  /// Neither the user nor the file named it.
  bool leaves_activation_open(const NetworkRunSpec& asked) const;

  /// The network with its parameters. Layers and biases in `spec` become those of the file. Throws
  /// OptionError where both are there and differ.
  template <Real Scalar>
  StoredMlp<Scalar> network(NetworkRunSpec& spec) const;

 private:
  std::optional<ArrayMap> arrays_;
  std::optional<Activation> activation_;
};

}  // namespace symport::lab
