// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// What a network should output for a batch: numbers (outputs x samples) or one class per sample.
template <Real Scalar>
struct Targets {
  MatrixOf<Scalar> values;     ///< empty when there are classes
  std::vector<Index> classes;  ///< empty when there are values

  Targets() = default;
  Targets(MatrixOf<Scalar> Y) : values(std::move(Y)) {}
  Targets(std::vector<Index> y) : classes(std::move(y)) {}
  Targets(const std::vector<int>& y) : classes(y.begin(), y.end()) {}

  bool categorical() const { return !classes.empty(); }
  Index samples() const {
    return categorical() ? static_cast<Index>(classes.size()) : values.cols();
  }
  /// The targets of the given samples, in that order.
  Targets subset(const std::vector<Index>& samples) const;
};

template <Real Scalar>
Targets<Scalar> Targets<Scalar>::subset(const std::vector<Index>& samples) const {
  Targets part;
  if (categorical()) {
    for (const Index i : samples) part.classes.push_back(classes[static_cast<std::size_t>(i)]);
  } else {
    part.values = values(Eigen::all, samples);
  }
  return part;
}

}  // namespace symport
