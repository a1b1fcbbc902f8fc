// SPDX-License-Identifier: MIT
#include "lab/runs/network_files.hpp"

namespace symport::lab {

template <Real Scalar>
std::vector<Index> widths_of(const std::vector<LayerWeights<Scalar>>& layers) {
  std::vector<Index> widths{layers.front().W.cols()};
  for (const auto& layer : layers) widths.push_back(layer.W.rows());
  return widths;
}

template <Real Scalar>
VectorOf<Scalar> flat_parameters(const Mlp& network,
                                 const std::vector<LayerWeights<Scalar>>& layers) {
  VectorOf<Scalar> w(network.parameters());
  for (Index m = 1; m <= network.layers(); ++m) {
    const auto& layer = layers[static_cast<std::size_t>(m - 1)];
    network.weights(m, w.data()) = layer.W;
    if (network.biases()) network.augmented(m, w.data()).rightCols(1) = layer.b;
  }
  return w;
}

template <Real Scalar>
std::vector<LayerWeights<Scalar>> layers_of(const Mlp& network, In<Scalar> w) {
  std::vector<LayerWeights<Scalar>> layers;
  for (Index m = 1; m <= network.layers(); ++m) {
    layers.push_back({network.weights(m, w.data()), {}});
    if (network.biases()) layers.back().b = network.augmented(m, w.data()).rightCols(1);
  }
  return layers;
}

template <Real Scalar>
Targets<Scalar> targets_of(const SampleSet<Scalar>& samples) {
  if (samples.classes.empty()) return Targets<Scalar>(samples.Y);
  return Targets<Scalar>(std::vector<int>(samples.classes.begin(), samples.classes.end()));
}

Loss loss_for(const std::optional<Loss>& asked, bool categorical) {
  return asked.value_or(
      Loss(categorical ? Loss::Kind::cross_entropy : Loss::Kind::half_sum_squares));
}

template std::vector<Index> widths_of(const std::vector<LayerWeights<float>>&);
template std::vector<Index> widths_of(const std::vector<LayerWeights<double>>&);
template VectorOf<float> flat_parameters(const Mlp&, const std::vector<LayerWeights<float>>&);
template VectorOf<double> flat_parameters(const Mlp&, const std::vector<LayerWeights<double>>&);
template std::vector<LayerWeights<float>> layers_of(const Mlp&, In<float>);
template std::vector<LayerWeights<double>> layers_of(const Mlp&, In<double>);
template Targets<float> targets_of(const SampleSet<float>&);
template Targets<double> targets_of(const SampleSet<double>&);

}  // namespace symport::lab
