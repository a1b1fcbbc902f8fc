// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "symport/core/parameter_layout.hpp"
#include "symport/objectives/test_function.hpp"

namespace symport {

/// L(U, V) = |Y - U V|_F^2 with U m x r and V r x n; parameters are U, then V, column-major.
class MatrixFactorization final : public TestFunction {
 public:
  /// Throws InvalidArgument unless Y is finite and not empty and rank >= 1.
  MatrixFactorization(Matrix Y, Index rank);
  /// A random Y of exactly this rank, so that the minimum is 0.
  static MatrixFactorization random(Index rows, Index cols, Index rank, std::uint64_t seed);
  /// Y = A diag(s) B' with A and B random orthonormal and s falling geometrically from 1 to
  /// 1 / condition; the start has entries N(0, 0.1^2), those of U then times the root of
  /// `imbalance` and those of V divided by it: the same product, written in another gauge. Throws
  /// InvalidArgument unless condition >= 1, imbalance > 0 and rank is at most rows and cols.
  static MatrixFactorization conditioned(Index rows, Index cols, Index rank, double condition,
                                         std::uint64_t seed, double imbalance = 1.0);

  const Matrix& Y() const { return Y_; }
  Index rank() const { return rank_; }
  const ParameterLayout& layout() const { return layout_; }

  std::string name() const override { return "factorization"; }
  std::string formula() const override { return "|Y - UV|^2"; }
  std::string citation() const override;
  /// Small random factors, of equal size where `imbalance` is 1.
  Vector start() const override;
  /// From the singular value decomposition of Y (Eckart and Young).
  Vector minimizer() const override;
  double minimum() const override;
  UsualRun usual_run() const override { return {1e-3, 500}; }

  Index dimension() const override { return layout_.size(); }
  double value(In<double> w) const override;
  double gradient(In<double> w, Out<double> gradient) const override;
  void hessian_vector(In<double> w, In<double> v, Out<double> result) const override;
  void third_derivative(In<double> w, In<double> v, Out<double> result) const override;
  /// U multiplies V, and V' multiplies U' (T6).
  void weight_inputs(In<double> w, const UseInputs<double>& use) const override;

  /// Views of the factors inside a flat vector.
  Eigen::Map<const Matrix> U(In<double> w) const {
    return ParameterLayout::view(layout_.blocks()[0], w.data());
  }
  Eigen::Map<const Matrix> V(In<double> w) const {
    return ParameterLayout::view(layout_.blocks()[1], w.data());
  }
  Eigen::Map<Matrix> U(Out<double>& w) const {
    return ParameterLayout::view(layout_.blocks()[0], w.data());
  }
  Eigen::Map<Matrix> V(Out<double>& w) const {
    return ParameterLayout::view(layout_.blocks()[1], w.data());
  }

 private:
  Matrix Y_;
  Index rank_;
  ParameterLayout layout_;
  double start_size_ = 0.5;  ///< of the entries of the start
  double imbalance_ = 1.0;   ///< of U and V there
};

}  // namespace symport
