// SPDX-License-Identifier: MIT
#include "objectives/plain_curvature.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/lanczos.hpp"

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
  if (largest_) return *largest_;
  const Index n = w_.size();
  Lanczos<Scalar> krylov(n, std::min(n, lanczos_steps), [&](const Scalar* q, Scalar* Hq) {
    objective_.hessian_vector(w_, Eigen::Map<const VectorOf<Scalar>>(q, n),
                              Eigen::Map<VectorOf<Scalar>>(Hq, n));
  });
  if (!krylov.begin(gradient())) krylov.begin(VectorOf<Scalar>::Ones(n));
  // In few dimensions accuracy costs little. Where the space has ended, a small residual says
  // nothing about what is outside of it.
  bool may_end_early = n > 8 * lanczos_steps;
  while (krylov.steps() < krylov.capacity()) {
    krylov.step();
    if (krylov.steps() == krylov.capacity()) break;
    const double small = 10 * std::numeric_limits<Scalar>::epsilon() * krylov.scale();
    if (!(krylov.remainder() > small)) {
      krylov.restart();
      may_end_early = false;
    }
    if (!may_end_early || krylov.steps() < 3) continue;
    const auto [value, residual] = krylov.ritz();
    if (residual <= lanczos_tolerance * std::abs(value)) break;
  }
  largest_ = krylov.value();
  evaluations_ += 2.0 * static_cast<double>(krylov.steps());
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
