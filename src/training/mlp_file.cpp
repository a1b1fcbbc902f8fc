// SPDX-License-Identifier: MIT
#include "symport/training/mlp_file.hpp"

#include <stdexcept>

#include "symport/data/model_file.hpp"

namespace symport {

template <Real Scalar>
StoredMlp<Scalar> mlp_from_arrays(const ArrayMap& arrays, const std::string& file,
                                  const Activation& activation) {
  const auto layers = model_from_arrays<Scalar>(arrays, file);
  std::vector<Index> widths{layers.front().W.cols()};
  for (const auto& layer : layers) widths.push_back(layer.W.rows());
  const bool biases = layers.front().b.size() > 0;
  Mlp network(std::move(widths), activation, biases);
  VectorOf<Scalar> w(network.parameters());
  for (Index m = 1; m <= network.layers(); ++m) {
    const auto& layer = layers[static_cast<std::size_t>(m - 1)];
    network.weights(m, w.data()) = layer.W;
    if (biases) network.augmented(m, w.data()).rightCols(1) = layer.b;
  }
  return {std::move(network), std::move(w)};
}

template <Real Scalar>
StoredMlp<Scalar> load_mlp(const std::filesystem::path& path, const Activation& activation) {
  return mlp_from_arrays<Scalar>(read_npz(path), path.string(), activation);
}

template <Real Scalar>
ArrayMap mlp_arrays(const Mlp& network, In<Scalar> w) {
  if (w.size() != network.parameters()) {
    throw std::logic_error("mlp_arrays: the parameters are not those of the network");
  }
  std::vector<LayerWeights<Scalar>> layers;
  for (Index m = 1; m <= network.layers(); ++m) {
    layers.push_back({network.weights(m, w.data()), {}});
    if (network.biases()) layers.back().b = network.augmented(m, w.data()).rightCols(1);
  }
  return model_arrays(layers);
}

template <Real Scalar>
void save_mlp(const std::filesystem::path& path, const Mlp& network, In<Scalar> w,
              const NpzOptions& options) {
  write_npz(path, mlp_arrays<Scalar>(network, w), options);
}

template StoredMlp<float> mlp_from_arrays(const ArrayMap&, const std::string&, const Activation&);
template StoredMlp<double> mlp_from_arrays(const ArrayMap&, const std::string&, const Activation&);
template StoredMlp<float> load_mlp(const std::filesystem::path&, const Activation&);
template StoredMlp<double> load_mlp(const std::filesystem::path&, const Activation&);
template ArrayMap mlp_arrays(const Mlp&, In<float>);
template ArrayMap mlp_arrays(const Mlp&, In<double>);
template void save_mlp(const std::filesystem::path&, const Mlp&, In<float>, const NpzOptions&);
template void save_mlp(const std::filesystem::path&, const Mlp&, In<double>, const NpzOptions&);

}  // namespace symport
