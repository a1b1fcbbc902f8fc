// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/byte_source.hpp"
#include "symport/data/array.hpp"

namespace symport::detail {

/// The element types of files: those of arrays, and those that are converted.
enum class FileType { f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8, b1 };
std::string_view to_string(FileType type);  ///< as NumPy writes it
std::size_t size_of(FileType type);         ///< in bytes

/// What the header of an `.npy` file says.
struct NpyHeader {
  FileType type = FileType::f8;
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
