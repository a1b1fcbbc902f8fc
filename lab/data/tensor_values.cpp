// SPDX-License-Identifier: MIT
#include "lab/data/tensor_values.hpp"

#include <cstring>
#include <stdexcept>

#include "symport/core/invalid_argument.hpp"

namespace symport::lab {

namespace {

/// Calls action with a number of the dtype's type.
template <class Action>
auto with_type(std::string_view dtype, const Action& action) {
  if (dtype == "F64") return action(double{});
  if (dtype == "F32") return action(float{});
  if (dtype == "F16") return action(Eigen::half{});
  if (dtype == "BF16") return action(Eigen::bfloat16{});
  throw std::logic_error("no numbers of dtype " + std::string(dtype));
}

template <class Number>
Array::Values copied(std::string_view bytes) {
  std::vector<Number> values(bytes.size() / sizeof(Number));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

bool is_number(std::string_view dtype) {
  return dtype == "F64" || dtype == "F32" || dtype == "F16" || dtype == "BF16";
}

Vector decode(std::string_view dtype, std::string_view bytes) {
  return with_type(dtype, [&](auto type) -> Vector {
    VectorOf<decltype(type)> values(static_cast<Index>(bytes.size() / sizeof(type)));
    if (values.size() > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values.template cast<double>();
  });
}

void encode(std::string_view dtype, In<double> values, char* bytes) {
  with_type(dtype, [&](auto type) {
    const VectorOf<decltype(type)> rounded = values.template cast<decltype(type)>();
    if (rounded.size() > 0) {
      std::memcpy(bytes, rounded.data(), static_cast<std::size_t>(rounded.size()) * sizeof(type));
    }
  });
}

ArrayMap arrays_of(const Safetensors& tensors) {
  ArrayMap arrays;
  for (const auto& [name, tensor] : tensors.tensors()) {
    const std::string_view bytes = tensors.bytes(tensor);
    Array& array = arrays[name];
    array.shape = tensor.shape;
    if (tensor.dtype == "F64") {
      array.values = copied<double>(bytes);
    } else if (tensor.dtype == "F32") {
      array.values = copied<float>(bytes);
    } else if (tensor.dtype == "I64") {
      array.values = copied<std::int64_t>(bytes);
    } else if (tensor.dtype == "I32") {
      array.values = copied<std::int32_t>(bytes);
    } else if (tensor.dtype == "U8") {
      array.values = copied<std::uint8_t>(bytes);
    } else {
      throw InvalidArgument(name, "the dtype " + tensor.dtype,
                            "F64, F32, I64, I32 and U8 in an .npz file; a .safetensors file has "
                            "them all");
    }
  }
  return arrays;
}

}  // namespace symport::lab
