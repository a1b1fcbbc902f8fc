// SPDX-License-Identifier: MIT
#include "symport/optimizers/newton.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/dense.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

template <Real Scalar>
Newton<Scalar>::Newton(const NewtonOptions& options) : options_(options) {
  if (options.max_dimension < 1) {
    throw InvalidArgument("max_dimension", fmt::format("{}", options.max_dimension),
                          "a whole number >= 1");
  }
}

template <Real Scalar>
OptimizerState<Scalar> Newton<Scalar>::init(Index dimension) const {
  if (dimension > options_.max_dimension) {
    throw InvalidArgument("optimizer newton", fmt::format("{} parameters", dimension),
                          fmt::format("at most {}", options_.max_dimension));
  }
  return {};
}

template <Real Scalar>
void Newton<Scalar>::preview(const BasicObjective<Scalar>& objective, In<Scalar> w,
                             In<Scalar> gradient, double learning_rate,
                             const OptimizerState<Scalar>&, Out<Scalar> u) const {
  const Index n = w.size();
  MatrixOf<Scalar> H(n, n);
  VectorOf<Scalar> unit = VectorOf<Scalar>::Zero(n);
  for (Index j = 0; j < n; ++j) {
    unit[j] = 1;
    objective.hessian_vector(w, unit, H.col(j));
    unit[j] = 0;
  }
  if (!H.allFinite()) {
    u.setConstant(std::numeric_limits<Scalar>::quiet_NaN());
    return;
  }
  const Matrix symmetric = (0.5 * (H + H.transpose())).template cast<double>();
  const SymmetricEigen eigen = symmetric_eigen(symmetric);
  const double smallest = 1e-12 * eigen.values.cwiseAbs().maxCoeff();
  if (smallest == 0.0) {
    u = static_cast<Scalar>(learning_rate) * gradient;
    return;
  }
  const Vector scales = eigen.values.cwiseAbs().cwiseMax(smallest);
  const Vector coordinates = eigen.vectors.transpose() * gradient.template cast<double>();
  u = (learning_rate * (eigen.vectors * coordinates.cwiseQuotient(scales))).template cast<Scalar>();
}

template <Real Scalar>
StepOutcome Newton<Scalar>::step(const BasicObjective<Scalar>& objective,
                                 MeasuredPoint<Scalar>& here, double learning_rate,
                                 OptimizerState<Scalar>& state, Out<Scalar> w) const {
  VectorOf<Scalar> u(w.size());
  preview(objective, w, here.gradient, learning_rate, state, u);
  w -= u;
  ++state.count;
  return {true, learning_rate, preview_evaluations(w.size())};
}

template class Newton<float>;
template class Newton<double>;

}  // namespace symport
