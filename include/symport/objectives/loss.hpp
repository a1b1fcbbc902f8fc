// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "symport/objectives/targets.hpp"

namespace symport {

/// How far a network's outputs Z (outputs x samples) are from their targets. With z, y the columns
/// of one sample:
///
///   half_sum_squares   |z - y|^2 / 2
///   mean_squares       |z - y|^2 / outputs
///   cross_entropy      log(sum_k e^(z_k)) - z_c, c the class of the sample
///
/// and the loss is the sum or the mean of that over the samples. "half_sum_squares" alone means its
/// sum, the other two alone mean their mean.
///
/// A teleport preserves Z, hence dL/dZ and the Hessian in Z: no derivative beyond the second is
/// needed.
class Loss {
 public:
  enum class Kind { half_sum_squares, mean_squares, cross_entropy };
  enum class Reduction { sum, mean };

  Loss() = default;
  Loss(Kind kind, Reduction reduction) : kind_(kind), reduction_(reduction) {}
  explicit Loss(Kind kind);
  /// "cross_entropy:mean", "half_sum_squares", in any case; "mse" is mean_squares:mean, the mean
  /// over samples and outputs. Throws InvalidArgument, listing the names there are.
  static Loss parse(std::string_view text);
  /// When none is named: cross_entropy for targets that are classes, otherwise half_sum_squares.
  static Loss usual(bool categorical);

  /// What `parse` reads, with the reduction.
  std::string name() const;
  Kind kind() const { return kind_; }
  Reduction reduction() const { return reduction_; }
  /// Targets are classes, not numbers.
  bool categorical() const { return kind_ == Kind::cross_entropy; }

  /// Throws InvalidArgument when the targets do not suit this loss, `outputs` or `samples`, when a
  /// class is not in 0 ... outputs-1 or a number is not finite.
  template <Real Scalar>
  void check(const Targets<Scalar>& targets, Index outputs, Index samples) const;

  /// L(Z), accumulated in double.
  template <Real Scalar>
  double value(MatrixIn<Scalar> Z, const Targets<Scalar>& targets) const;
  /// delta <- dL/dZ; returns L(Z). `delta` may be Z itself.
  template <Real Scalar>
  double delta(MatrixIn<Scalar> Z, const Targets<Scalar>& targets, MatrixOut<Scalar> delta) const;
  /// out <- L'' R, the Hessian of L in Z applied to R (outputs x samples). `out` may be R itself.
  template <Real Scalar>
  void hessian_product(MatrixIn<Scalar> Z, MatrixIn<Scalar> R, MatrixOut<Scalar> out) const;

  bool operator==(const Loss&) const = default;

 private:
  /// The factor of |z - y|^2 / 2, or of the cross-entropy.
  double scale(Index outputs, Index samples) const;

  Kind kind_ = Kind::half_sum_squares;
  Reduction reduction_ = Reduction::sum;
};

}  // namespace symport
