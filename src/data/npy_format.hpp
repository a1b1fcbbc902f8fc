// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/byte_source.hpp"
#include "symport/data/array.hpp"

namespace symport::detail {

/// What the header of an `.npy` file says.
struct NpyHeader {
  DType dtype = DType::f8;
  Order order = Order::c;
  std::vector<Index> shape;
  Index count = 0;          ///< product of the shape
  std::uint64_t bytes = 0;  ///< of all values
};

/// The dictionary of an `.npy` header, a Python literal with the keys descr, fortran_order and
/// shape.
NpyHeader parse_npy_dictionary(std::string_view text, const std::string& field);

/// One array from `total` bytes. The header must account for exactly that many before any value is
/// read.
Array read_npy_source(ByteSource& source, std::uint64_t total, const std::string& field);

/// Magic string, version 1.0 and dictionary, padded to a multiple of 64 bytes as NumPy does.
std::string npy_header(const Array& array);
/// The values as they stand in memory, which is as they stand in the file.
std::string_view value_bytes(const Array& array);

}  // namespace symport::detail
