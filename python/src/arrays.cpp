// SPDX-License-Identifier: MIT
#include "arrays.hpp"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <memory>

#include "symport/core/invalid_argument.hpp"

namespace symport::python {

namespace {

using Anything = nb::ndarray<nb::numpy, nb::ro, nb::c_contig, nb::device::cpu>;

/// An array that owns a copy of the numbers.
template <class Number>
nb::object new_array(const Number* values, const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  auto copy = std::make_unique<Number[]>(std::max<std::size_t>(count, 1));
  if (count > 0) std::memcpy(copy.get(), values, count * sizeof(Number));
  Number* data = copy.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<Number*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, Number>(data, shape.size(), shape.data(), owner));
}

template <class Number>
Array::Values copied(const Anything& array) {
  const auto* first = static_cast<const Number*>(array.data());
  return std::vector<Number>(first, first + array.size());
}

Array to_array(const nb::handle& object, const std::string& field) {
  // Whatever order it has, as a contiguous array; no copy where it is one.
  const nb::object plain = nb::module_::import_("numpy").attr("ascontiguousarray")(object);
  const auto refuse = [&] {
    // Other byte orders print as ">f4".
    const nb::object dtype = plain.attr("dtype");
    throw InvalidArgument(field, "the dtype " + std::string(nb::str(nb::handle(dtype)).c_str()),
                          "float32, float64, int32, int64 or uint8 in the machine's byte order");
  };
  Anything array;
  if (!nb::try_cast(plain, array)) refuse();
  Array result;
  // `ascontiguousarray` gives a single number one axis.
  const auto axes = nb::cast<std::size_t>(nb::module_::import_("numpy").attr("ndim")(object));
  for (std::size_t i = 0; i < axes; ++i) result.shape.push_back(static_cast<Index>(array.shape(i)));
  const nb::dlpack::dtype type = array.dtype();
  if (type == nb::dtype<float>()) {
    result.values = copied<float>(array);
  } else if (type == nb::dtype<double>()) {
    result.values = copied<double>(array);
  } else if (type == nb::dtype<std::int32_t>()) {
    result.values = copied<std::int32_t>(array);
  } else if (type == nb::dtype<std::int64_t>()) {
    result.values = copied<std::int64_t>(array);
  } else if (type == nb::dtype<std::uint8_t>()) {
    result.values = copied<std::uint8_t>(array);
  } else {
    refuse();
  }
  return result;
}

}  // namespace

ArrayMap to_arrays(const nb::dict& arrays, const std::string& what) {
  ArrayMap result;
  for (const auto& [key, value] : arrays) {
    const auto name = nb::cast<std::string>(key);
    result.emplace(name, to_array(value, fmt::format("{}, array {}", what, name)));
  }
  return result;
}

nb::dict to_python(const ArrayMap& arrays) {
  nb::dict result;
  for (const auto& [name, array] : arrays) {
    const std::vector<std::size_t> shape(array.shape.begin(), array.shape.end());
    result[name.c_str()] = std::visit(
        [&](const auto& values) { return new_array(values.data(), shape); }, array.values);
  }
  return result;
}

nb::object to_python(In<double> values) {
  return new_array(values.data(), {static_cast<std::size_t>(values.size())});
}

nb::object to_python(const std::vector<double>& values) {
  return new_array(values.data(), {values.size()});
}

Vector to_vector(const nb::handle& array, Index size, const char* what) {
  using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  Numbers numbers;
  if (!nb::try_cast(array, numbers)) {
    throw InvalidArgument(what, nb::cast<std::string>(nb::repr(nb::type_name(array.type()))),
                          "a float64 array of one dimension");
  }
  if (static_cast<Index>(numbers.size()) != size) {
    throw InvalidArgument(what, fmt::format("{} numbers", numbers.size()), fmt::format("{}", size));
  }
  return Eigen::Map<const Vector>(numbers.data(), size);
}

}  // namespace symport::python
