// SPDX-License-Identifier: MIT
#include "lab/runs/weights_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lab/options/registry.hpp"
#include "lab/runs/settled.hpp"

namespace symport::lab {

namespace {

/// Random numbers for the weights do not depend on those for the data.
constexpr std::uint64_t weights_stream = 1;

}  // namespace

WeightsFile::WeightsFile(const NetworkRunSpec& spec) {
  if (!spec.weights) return;
  arrays_ = read_npz(*spec.weights);
  activation_ = mlp_description(*arrays_, *spec.weights).activation;
}

NetworkRunSpec WeightsFile::with_activation(NetworkRunSpec spec) const {
  if (!spec.activation) spec.activation = activation_;
  return spec;
}

bool WeightsFile::leaves_activation_open(const NetworkRunSpec& asked) const {
  return arrays_ && !asked.activation && !activation_;
}

template <Real Scalar>
StoredMlp<Scalar> WeightsFile::network(NetworkRunSpec& spec) const {
  if (!arrays_) {
    const Mlp network =
        for_option("layers", [&] { return Mlp(spec.layers, *spec.activation, spec.biases); });
    Random random(spec.seed, weights_stream);
    return {network, initialize<Scalar>(network, *spec.init, random)};
  }
  settled("activation", spec.activation, activation_, *spec.weights, activation_names());
  StoredMlp<Scalar> stored = mlp_from_arrays<Scalar>(*arrays_, *spec.weights, *spec.activation);
  const std::vector<Index> widths = stored.network.widths();
  if (!spec.layers.empty() && spec.layers != widths) {
    throw OptionError(
        "layers", fmt::format("found {}, but the weights in '{}' are of {}",
                              fmt::join(spec.layers, ","), *spec.weights, fmt::join(widths, ",")));
  }
  spec.layers = widths;
  spec.biases = stored.network.biases();
  return stored;
}

template StoredMlp<float> WeightsFile::network(NetworkRunSpec&) const;
template StoredMlp<double> WeightsFile::network(NetworkRunSpec&) const;

}  // namespace symport::lab
