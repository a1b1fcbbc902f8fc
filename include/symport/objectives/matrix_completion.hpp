// SPDX-License-Identifier: MIT
#pragma once

#include "symport/objectives/matrix_factorization.hpp"

namespace symport {

/// L(U, V) = |M o (Y - U V)|_F^2, o entry by entry: a matrix of low rank from some of its entries,
/// those where the mask M is 1. Parameters and symmetry (GL(r) on the factor pair) are those of
/// `MatrixFactorization`; a loss that depends only on U V has them.
class MatrixCompletion final : public TestFunction {
 public:
  /// Throws InvalidArgument unless the mask has the shape of Y, only zeros and ones, and a one.
  MatrixCompletion(MatrixFactorization full, Matrix mask);
  /// Of `MatrixFactorization::conditioned` every entry is known with probability `share`, drawn
  /// from the seed. Throws InvalidArgument as that does, unless 0 < share <= 1, and where no entry
  /// is known.
  static MatrixCompletion random(Index rows, Index cols, Index rank, double condition, double share,
                                 std::uint64_t seed);

  /// The same matrix with all entries known.
  const MatrixFactorization& full() const { return full_; }
  const Matrix& mask() const { return mask_; }

  std::string name() const override { return "completion"; }
  std::string formula() const override { return "|M o (Y - UV)|^2"; }
  std::string citation() const override;
  Vector start() const override { return full_.start(); }
  /// Of a matrix of this rank: its own factors.
  Vector minimizer() const override { return full_.minimizer(); }
  double minimum() const override { return value(minimizer()); }
  UsualRun usual_run() const override { return {0.1, 500}; }

  Index dimension() const override { return full_.dimension(); }
  double value(In<double> w) const override;
  double gradient(In<double> w, Out<double> gradient) const override;
  void hessian_vector(In<double> w, In<double> v, Out<double> result) const override;
  void third_derivative(In<double> w, In<double> v, Out<double> result) const override;

 private:
  Matrix masked(const Matrix& product) const { return mask_.cwiseProduct(product); }

  MatrixFactorization full_;
  Matrix mask_;
};

}  // namespace symport
