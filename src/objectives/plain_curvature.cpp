// SPDX-License-Identifier: MIT
#include "objectives/plain_curvature.hpp"

#include <algorithm>

namespace symport {

template <Real Scalar>
VectorOf<Scalar> PlainCurvature<Scalar>::gradient() {
  VectorOf<Scalar> gradient(w_.size());
  if (known_) {
    known_(gradient);
  } else {
    objective_.gradient(w_, gradient);
    evaluations_ += 1.0;
  }
  return gradient;
}

template <Real Scalar>
double PlainCurvature<Scalar>::largest_eigenvalue() {
  if (!largest_) {
    largest_ = largest_curvature<Scalar>(objective_, w_, gradient(), lanczos_steps);
    evaluations_ += 2.0 * static_cast<double>(std::min(w_.size(), lanczos_steps));
  }
  return *largest_;
}

template <Real Scalar>
double PlainCurvature<Scalar>::next_loss(double learning_rate) {
  const VectorOf<Scalar> next = w_ - static_cast<Scalar>(learning_rate) * gradient();
  evaluations_ += 0.5;
  return objective_.value(next);
}

template class PlainCurvature<float>;
template class PlainCurvature<double>;

}  // namespace symport
