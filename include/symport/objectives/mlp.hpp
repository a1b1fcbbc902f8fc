// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/core/parameter_layout.hpp"
#include "symport/objectives/activation.hpp"

namespace symport {

/// The shape of a multi-layer perceptron: h_0 = X, z_m = W_m h_(m-1) + b_m, h_m = sigma(z_m) for
/// m < p, and z_p is the output. Layers are counted from 1 as in the formulas; d_0 is the number of
/// features.
///
/// Parameters are one flat vector W1, b1, W2, b2, ... (no b without biases), each W_m (d_m x
/// d_(m-1)) column-major. So [W_m b_m] is one matrix in memory, the *augmented* weights, which acts
/// on h_(m-1) with a row of ones below: every formula for weights holds for biases too.
class Mlp {
 public:
  /// `widths` = d_0, ..., d_p. Throws InvalidArgument unless there are two or more, all positive.
  Mlp(std::vector<Index> widths, Activation activation, bool biases = false);

  /// p, the number of weight matrices.
  Index layers() const { return static_cast<Index>(widths_.size()) - 1; }
  /// d_m, 0 <= m <= p.
  Index width(Index m) const { return widths_[static_cast<std::size_t>(m)]; }
  const std::vector<Index>& widths() const { return widths_; }
  const Activation& activation() const { return activation_; }
  bool biases() const { return biases_; }

  /// Length of the flat parameter vector.
  Index parameters() const { return layout_.size(); }
  const ParameterLayout& layout() const { return layout_; }
  /// Where [W_m b_m] begins in the flat vector.
  Index offset(Index m) const { return offsets_[static_cast<std::size_t>(m)]; }
  /// Rows of h_m with its row of ones, if any.
  Index augmented_width(Index m) const { return width(m) + (biases_ ? 1 : 0); }

  /// [W_m b_m], 1 <= m <= p, inside the flat vector that begins at `w`.
  template <Real Scalar>
  Eigen::Map<MatrixOf<Scalar>> augmented(Index m, Scalar* w) const {
    return {w + offset(m), width(m), augmented_width(m - 1)};
  }
  template <Real Scalar>
  Eigen::Map<const MatrixOf<Scalar>> augmented(Index m, const Scalar* w) const {
    return {w + offset(m), width(m), augmented_width(m - 1)};
  }
  /// W_m alone.
  template <Real Scalar>
  Eigen::Map<MatrixOf<Scalar>> weights(Index m, Scalar* w) const {
    return {w + offset(m), width(m), width(m - 1)};
  }
  template <Real Scalar>
  Eigen::Map<const MatrixOf<Scalar>> weights(Index m, const Scalar* w) const {
    return {w + offset(m), width(m), width(m - 1)};
  }

 private:
  // What was given, then what follows from it.
  std::vector<Index> widths_;
  Activation activation_;
  bool biases_ = false;
  ParameterLayout layout_;
  std::vector<Index> offsets_;  ///< of W_m at index m
};

}  // namespace symport
