// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "symport/data/array.hpp"

namespace symport::python {

namespace nb = nanobind;

/// Arrays by name from a dictionary of NumPy arrays, copied. Throws InvalidArgument, naming `what`
/// and the array, for a dtype that files do not have either.
ArrayMap to_arrays(const nb::dict& arrays, const std::string& what);

/// New NumPy arrays by name.
nb::dict to_python(const ArrayMap& arrays);

/// A new NumPy array of doubles.
nb::object to_python(In<double> values);
nb::object to_python(const std::vector<double>& values);

/// The numbers of a float64 array of one dimension with `size` entries, copied; `what` names it in
/// messages.
Vector to_vector(const nb::handle& array, Index size, const char* what);

}  // namespace symport::python
