// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "symport/data/array.hpp"

namespace symport {

/// One array in NumPy's `.npy` format, versions 1.0 to 3.0: the dtypes of DType, C or Fortran
/// order.
///
/// Throws InvalidArgument, naming the file, on anything else: other dtypes, big-endian or pickled
/// data, malformed headers, shapes that overflow, more or fewer bytes than the shape needs. No
/// memory is reserved for what a header claims and the file does not hold.
Array read_npy(const std::filesystem::path& path);
/// The same from bytes; `name` stands for them in messages.
Array parse_npy(std::string_view bytes, const std::string& name);

/// Written whole or not at all (AtomicFile); the same array gives the same bytes.
void write_npy(const std::filesystem::path& path, const Array& array);

}  // namespace symport
