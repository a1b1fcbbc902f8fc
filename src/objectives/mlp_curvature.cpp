// SPDX-License-Identifier: MIT
#include "objectives/mlp_curvature.hpp"

#include <utility>

#include "objectives/plain_curvature.hpp"

namespace symport {

template <Real Scalar>
MlpCurvature<Scalar>::MlpCurvature(const MlpObjective<Scalar>& objective, In<Scalar> w,
                                   KnownGradient<Scalar> known)
    : w_(w), hessian_(objective, w_), evaluations_(0.5) {
  fallback_ = [&objective, known = std::move(known), this] {
    return std::make_unique<PlainCurvature<Scalar>>(objective, w_, known);
  };
}

template <Real Scalar>
MlpCurvature<Scalar>::MlpCurvature(MlpHessian<Scalar> hessian, Fallback fallback)
    : hessian_(std::move(hessian)), fallback_(std::move(fallback)) {}

template <Real Scalar>
double MlpCurvature<Scalar>::largest_eigenvalue() {
  if (largest_) return *largest_;
  const Index before = hessian_.products();
  largest_ = hessian_.largest_eigenvalue(lanczos_steps, lanczos_tolerance);
  evaluations_ += 0.5 * static_cast<double>(hessian_.products() - before);
  if (!largest_) {
    const auto plain = fallback_();
    largest_ = plain->largest_eigenvalue();
    evaluations_ += plain->evaluations();
  }
  return *largest_;
}

template <Real Scalar>
double MlpCurvature<Scalar>::next_loss(double learning_rate) {
  evaluations_ += 0.5;
  return hessian_.next_loss(learning_rate);
}

template class MlpCurvature<float>;
template class MlpCurvature<double>;

}  // namespace symport
