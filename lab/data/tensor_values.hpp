// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "lab/data/safetensors.hpp"
#include "symport/data/array.hpp"

namespace symport::lab {

/// Whether tensors of this dtype can be decoded: F64, F32, F16, BF16.
bool is_number(std::string_view dtype);

/// The values as doubles, exactly. Throws std::logic_error for another dtype.
Vector decode(std::string_view dtype, std::string_view bytes);
/// The way back, rounded to nearest; `bytes` has room for all values.
void encode(std::string_view dtype, In<double> values, char* bytes);

/// All tensors as NumPy arrays. Throws InvalidArgument for a dtype that these do not have here.
ArrayMap arrays_of(const Safetensors& tensors);

}  // namespace symport::lab
