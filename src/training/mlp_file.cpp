// SPDX-License-Identifier: MIT
#include "symport/training/mlp_file.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "symport/core/invalid_argument.hpp"
#include "symport/data/model_file.hpp"

namespace symport {

namespace {

/// The value that an array of bytes names; nothing where there is no such array.
template <class Value>
std::optional<Value> named(const ArrayMap& arrays, const std::string& file, const char* name) {
  const auto found = arrays.find(name);
  if (found == arrays.end()) return std::nullopt;
  const std::string field = file + ", array " + name;
  const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&found->second.values);
  if (!bytes) {
    throw InvalidArgument(field, "dtype " + std::string(to_string(found->second.dtype())),
                          "text as bytes, |u1");
  }
  const std::string text(bytes->begin(), bytes->end());
  try {
    return Value::parse(text);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(field, fmt::format("'{}'", text),
                          fmt::format("the name of {} {}", *name == 'a' ? "an" : "a", name));
  }
}

Array text_array(const std::string& text) {
  return {{static_cast<Index>(text.size())}, std::vector<std::uint8_t>(text.begin(), text.end())};
}

}  // namespace

MlpDescription mlp_description(const ArrayMap& arrays, const std::string& file) {
  return {named<Activation>(arrays, file, "activation"), named<Loss>(arrays, file, "loss")};
}

void describe_mlp(ArrayMap& arrays, const MlpDescription& description) {
  if (description.activation) arrays["activation"] = text_array(description.activation->name());
  if (description.loss) arrays["loss"] = text_array(description.loss->name());
}

template <Real Scalar>
StoredMlp<Scalar> mlp_from_arrays(const ArrayMap& arrays, const std::string& file,
                                  const Activation& activation) {
  const std::optional<Activation> own = mlp_description(arrays, file).activation;
  if (own && *own != activation) {
    throw InvalidArgument("activation", activation.name(),
                          fmt::format("{}, which the file '{}' names", own->name(), file));
  }
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
