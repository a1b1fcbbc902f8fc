// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// One named tensor inside the flat parameter vector, column-major: the first axis runs fastest.
struct ParameterBlock {
  std::string name;
  std::vector<Index> shape;  ///< one or more axes
  Index rows = 0;            ///< as a matrix: the first axis ...
  Index cols = 0;            ///< ... by all others together
  Index offset = 0;
  Index size() const { return rows * cols; }
};

/// Names for the parts of one flat parameter vector: `W1`, `b1`, ...
class ParameterLayout {
 public:
  /// Appends a block after the last one. Throws InvalidArgument on a repeated name, no axis, or a
  /// negative size.
  ParameterLayout& add(std::string name, std::vector<Index> shape);
  ParameterLayout& add(std::string name, Index rows);
  ParameterLayout& add(std::string name, Index rows, Index cols);

  Index size() const { return size_; }
  const std::vector<ParameterBlock>& blocks() const { return blocks_; }
  /// Throws InvalidArgument, listing the known names, when `name` is none of them.
  const ParameterBlock& block(const std::string& name) const;

  /// The block as a matrix, given the first element of the flat vector.
  template <Real Scalar>
  static Eigen::Map<MatrixOf<Scalar>> view(const ParameterBlock& b, Scalar* w) {
    return {w + b.offset, b.rows, b.cols};
  }
  template <Real Scalar>
  static Eigen::Map<const MatrixOf<Scalar>> view(const ParameterBlock& b, const Scalar* w) {
    return {w + b.offset, b.rows, b.cols};
  }

 private:
  std::vector<ParameterBlock> blocks_;
  std::unordered_map<std::string, std::size_t> places_;  ///< of the names in `blocks_`
  Index size_ = 0;
};

}  // namespace symport
