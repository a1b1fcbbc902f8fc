// SPDX-License-Identifier: MIT
#include "symport/data/model_file.hpp"

#include <set>

#include "data/array_check.hpp"
#include "data/input.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

void require_float(const Array& array, const std::string& field) {
  if (array.dtype() != DType::f4 && array.dtype() != DType::f8) {
    throw InvalidArgument(field, "dtype " + std::string(to_string(array.dtype())), "<f4 or <f8");
  }
}

/// What to say where shapes do not fit but would if all weights were transposed.
std::string transposed_hint(const ArrayMap& arrays) {
  const Array* before = nullptr;
  for (int m = 1;; ++m) {
    const auto W = arrays.find("W" + std::to_string(m)), b = arrays.find("b" + std::to_string(m));
    if (W == arrays.end()) break;
    const std::vector<Index>& shape = W->second.shape;
    if (shape.size() != 2) return "";
    if (before != nullptr && before->shape[1] != shape[0]) return "";
    if (b != arrays.end() && b->second.shape != std::vector<Index>{shape[1]}) return "";
    before = &W->second;
  }
  return "; weights are outputs x inputs, and yours look transposed: store W1.T, W2.T, ...";
}

}  // namespace

template <Real Scalar>
std::vector<LayerWeights<Scalar>> model_from_arrays(const ArrayMap& arrays,
                                                    const std::string& file) {
  const bool biases = arrays.contains("b1");
  std::vector<LayerWeights<Scalar>> layers;
  std::set<std::string> used;
  for (;;) {
    const std::string number = std::to_string(layers.size() + 1);
    const auto found = arrays.find("W" + number);
    if (found == arrays.end()) break;
    const std::string field = detail::array_field(file, found->first);
    require_float(found->second, field);
    LayerWeights<Scalar> layer{detail::finite_matrix<Scalar>(found->second, field, "out x in"), {}};
    if (!layers.empty() && layer.W.cols() != layers.back().W.rows()) {
      throw InvalidArgument(field, "shape " + shape_string(found->second.shape),
                            std::to_string(layers.back().W.rows()) +
                                " columns, the rows of the layer before it" +
                                transposed_hint(arrays));
    }
    if (biases) {
      const std::string bias_field = detail::array_field(file, "b" + number);
      const auto bias = arrays.find("b" + number);
      if (bias == arrays.end()) {
        throw InvalidArgument(bias_field, "no such array", "biases for all layers or for none");
      }
      require_float(bias->second, bias_field);
      layer.b = detail::finite_vector<Scalar>(bias->second, bias_field);
      if (layer.b.size() != layer.W.rows()) {
        throw InvalidArgument(
            bias_field, "shape " + shape_string(bias->second.shape),
            shape_string({layer.W.rows()}) + ", the rows of W" + number + transposed_hint(arrays));
      }
    }
    used.insert("W" + number);
    if (biases) used.insert("b" + number);
    layers.push_back(std::move(layer));
  }
  if (layers.empty()) {
    throw InvalidArgument(detail::array_field(file, "W1"), "no such array",
                          "the weights W1, W2, ... of a network");
  }
  used.insert({"activation", "loss"});  // names, see `mlp_description`
  for (const auto& [name, array] : arrays) {
    if (!used.contains(name)) {
      throw InvalidArgument(detail::array_field(file, name), "an array of this name",
                            "W1, W2, ... without gaps, b1, b2, ... for all layers or for none, "
                            "activation, loss, and nothing else");
    }
  }
  return layers;
}

template <Real Scalar>
std::vector<LayerWeights<Scalar>> read_model(const std::filesystem::path& path) {
  return model_from_arrays<Scalar>(read_npz(path), path.string());
}

template <Real Scalar>
ArrayMap model_arrays(const std::vector<LayerWeights<Scalar>>& layers) {
  ArrayMap arrays;
  for (std::size_t m = 0; m < layers.size(); ++m) {
    const std::string number = std::to_string(m + 1);
    arrays["W" + number] = to_array(layers[m].W);
    if (layers[m].b.size() > 0) arrays["b" + number] = to_array(layers[m].b);
  }
  return arrays;
}

template <Real Scalar>
void write_model(const std::filesystem::path& path, const std::vector<LayerWeights<Scalar>>& layers,
                 const NpzOptions& options) {
  write_npz(path, model_arrays(layers), options);
}

template std::vector<LayerWeights<float>> model_from_arrays<float>(const ArrayMap&,
                                                                   const std::string&);
template std::vector<LayerWeights<double>> model_from_arrays<double>(const ArrayMap&,
                                                                     const std::string&);
template std::vector<LayerWeights<float>> read_model<float>(const std::filesystem::path&);
template std::vector<LayerWeights<double>> read_model<double>(const std::filesystem::path&);
template ArrayMap model_arrays<float>(const std::vector<LayerWeights<float>>&);
template ArrayMap model_arrays<double>(const std::vector<LayerWeights<double>>&);
template void write_model<float>(const std::filesystem::path&,
                                 const std::vector<LayerWeights<float>>&, const NpzOptions&);
template void write_model<double>(const std::filesystem::path&,
                                  const std::vector<LayerWeights<double>>&, const NpzOptions&);

}  // namespace symport
