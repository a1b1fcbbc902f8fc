// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
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

  Index samples() const { return X.cols(); }
};

/// Checks on classes. 0: any number of them.
struct ClassRange {
  Index count = 0;  ///< classes are 0, ..., count - 1
};

/// Samples from the arrays `X` (samples x features, any dtype) and either `y` (integer classes, one
/// dimension) or `Y` (samples x outputs) of an `.npz` file.
///
/// Throws InvalidArgument, naming file and array, when one of them is missing or there is any other
/// array, when shapes do not fit, when a value is not finite in the precision asked for, and when a
/// class is negative or not below `range.count`.
template <Real Scalar = double>
SampleSet<Scalar> read_samples(const std::filesystem::path& path, const ClassRange& range = {});
/// The same from arrays that were read; `file` names them in messages.
template <Real Scalar = double>
SampleSet<Scalar> samples_from_arrays(const ArrayMap& arrays, const std::string& file,
                                      const ClassRange& range = {});

}  // namespace symport
