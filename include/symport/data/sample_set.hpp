// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "symport/core/types.hpp"
#include "symport/data/array.hpp"

namespace symport {

/// Inputs with what a network should output: classes or targets, never both. Columns are samples.
template <Real Scalar = double>
struct SampleSet {
  MatrixOf<Scalar> X;          ///< features x samples
  std::vector<Index> classes;  ///< one per sample; empty when there are targets
  MatrixOf<Scalar> Y;          ///< outputs x samples; empty when there are classes
  /// What the classes are called, where the file names them (class k is class_names[k]).
  std::vector<std::string> class_names{};

  Index samples() const { return X.cols(); }
};

/// Classes are 0, ..., largest_class at most: they are kept in 32 bits.
inline constexpr Index largest_class = std::numeric_limits<std::int32_t>::max();

/// Checks on classes.
struct ClassRange {
  Index count = 0;  ///< classes are 0, ..., count - 1; 0: any up to `largest_class`

  Index largest() const { return count > 0 ? count - 1 : largest_class; }
};

/// Samples from the arrays `X` (samples x features, any dtype) and either `y` (integer classes, one
/// dimension) or `Y` (samples x outputs, or one dimension for one output) of an `.npz` file.
///
/// Throws InvalidArgument, naming file and array, when one of them is missing or another array is
/// there, when shapes do not fit, when a value is not finite in the precision asked for, and when a
/// class is negative, not below `range.count`, or above `largest_class`.
template <Real Scalar = double>
SampleSet<Scalar> read_samples(const std::filesystem::path& path, const ClassRange& range = {});
/// The same from arrays that were read; `file` names them in messages.
template <Real Scalar = double>
SampleSet<Scalar> samples_from_arrays(const ArrayMap& arrays, const std::string& file,
                                      const ClassRange& range = {});

}  // namespace symport
