// SPDX-License-Identifier: MIT
#include "symport/objectives/linear_model.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "symport/core/invalid_argument.hpp"

namespace symport {

LinearModel::LinearModel(Matrix X, Matrix Y) : X_(std::move(X)), Y_(std::move(Y)) {
  if (X_.size() == 0 || Y_.size() == 0 || X_.cols() != Y_.cols()) {
    throw InvalidArgument(
        "X, Y", fmt::format("{} x {} and {} x {}", X_.rows(), X_.cols(), Y_.rows(), Y_.cols()),
        "matrices with the same number of columns, at least 1");
  }
  if (!X_.allFinite()) throw InvalidArgument("X", "a non-finite entry", "finite numbers");
  if (!Y_.allFinite()) throw InvalidArgument("Y", "a non-finite entry", "finite numbers");
}

void LinearModel::set_data(Matrix X) {
  if (X.rows() != X_.rows() || X.cols() != X_.cols()) {
    throw std::logic_error("LinearModel::set_data: the shape of the data may not change");
  }
  X_ = std::move(X);
}

double LinearModel::value(In<double> w) const { return 0.5 * (W(w) * X_ - Y_).squaredNorm(); }

double LinearModel::gradient(In<double> w, Out<double> gradient) const {
  const Matrix residual = W(w) * X_ - Y_;
  W(gradient).noalias() = residual * X_.transpose();
  return 0.5 * residual.squaredNorm();
}

void LinearModel::hessian_vector(In<double>, In<double> v, Out<double> result) const {
  const Matrix change = W(v) * X_;
  W(result).noalias() = change * X_.transpose();
}

void LinearModel::third_derivative(In<double>, In<double>, Out<double> result) const {
  result.setZero();
}

}  // namespace symport
