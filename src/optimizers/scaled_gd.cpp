// SPDX-License-Identifier: MIT
#include "symport/optimizers/scaled_gd.hpp"

#include "core/dense.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/matrix_factorization.hpp"

namespace symport {

template <Real Scalar>
void ScaledGd<Scalar>::require_fit(const BasicObjective<Scalar>& objective) const {
  if constexpr (std::same_as<Scalar, double>) {
    if (dynamic_cast<const MatrixFactorization*>(&objective)) return;
  }
  throw InvalidArgument("optimizer", "'scaled_gd' on a loss that is no factorization",
                        "factorization; what it does elsewhere is called round trips "
                        "(--round-trip)");
}

template <Real Scalar>
StepOutcome ScaledGd<Scalar>::step(const BasicObjective<Scalar>& objective,
                                   MeasuredPoint<Scalar>& here, double learning_rate,
                                   OptimizerState<Scalar>& state, Out<Scalar> w) const {
  require_fit(objective);
  if constexpr (std::same_as<Scalar, double>) {
    const auto& pair = static_cast<const MatrixFactorization&>(objective);
    const Vector before = w;
    const Matrix U = pair.U(before), V = pair.V(before);
    const Matrix G = pair.U(In<double>(here.gradient)), H = pair.V(In<double>(here.gradient));
    pair.U(w) -= learning_rate * solve(V * V.transpose(), G.transpose()).transpose();
    pair.V(w) -= learning_rate * solve(U.transpose() * U, H);
  }
  ++state.count;
  return {true, learning_rate, 0.0};
}

template class ScaledGd<float>;
template class ScaledGd<double>;

}  // namespace symport
