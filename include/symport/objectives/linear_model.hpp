// SPDX-License-Identifier: MIT
#pragma once

#include "symport/objectives/objective.hpp"

namespace symport {

/// L(W, X) = |W X - Y|_F^2 / 2 with W k x d (the parameters, column-major), X d x n, Y k x n;
/// columns are samples. The data can be replaced, as Algorithm 3 does.
class LinearModel final : public Objective {
 public:
  /// Throws InvalidArgument unless X and Y are finite, not empty and have equally many columns.
  LinearModel(Matrix X, Matrix Y);

  const Matrix& X() const { return X_; }
  const Matrix& Y() const { return Y_; }
  /// Requires the same shape as before.
  void set_data(Matrix X);
  /// W X for any data.
  Matrix predict(In<double> w, const Matrix& X) const { return W(w) * X; }
  Eigen::Map<const Matrix> W(In<double> w) const { return {w.data(), Y_.rows(), X_.rows()}; }
  Eigen::Map<Matrix> W(Out<double>& w) const { return {w.data(), Y_.rows(), X_.rows()}; }

  Index dimension() const override { return Y_.rows() * X_.rows(); }
  double value(In<double> w) const override;
  double gradient(In<double> w, Out<double> gradient) const override;
  void hessian_vector(In<double> w, In<double> v, Out<double> result) const override;
  void third_derivative(In<double> w, In<double> v, Out<double> result) const override;

 private:
  Matrix X_, Y_;
};

}  // namespace symport
