// SPDX-License-Identifier: MIT
#include "symport/objectives/counting.hpp"

#include "objectives/noted_curvature.hpp"

namespace symport {

template <Real Scalar>
std::unique_ptr<LocalCurvature<Scalar>> CountingObjective<Scalar>::local_curvature(
    In<Scalar> w, KnownGradient<Scalar> known) const {
  return std::make_unique<NotedCurvature<Scalar>>(
      inner_.local_curvature(w, std::move(known)),
      [this](double gradients) { add_other(gradients); });
}

template <Real Scalar>
EvaluationCount CountingObjective<Scalar>::count() const {
  constexpr auto relaxed = std::memory_order_relaxed;
  return {.values = values_.load(relaxed),
          .gradients = gradients_.load(relaxed),
          .hessian_vectors = hessian_vectors_.load(relaxed),
          .third_derivatives = third_derivatives_.load(relaxed),
          .curvatures = curvatures_.load(relaxed),
          .other = other_.load(relaxed)};
}

template <Real Scalar>
void CountingObjective<Scalar>::reset() {
  for (auto* calls :
       {&values_, &gradients_, &hessian_vectors_, &third_derivatives_, &curvatures_}) {
    calls->store(0, std::memory_order_relaxed);
  }
  other_.store(0.0, std::memory_order_relaxed);
}

template <Real Scalar>
void CountingObjective<Scalar>::add_other(double gradients) const {
  // fetch_add of a double is missing in libc++ before version 18.
  double before = other_.load(std::memory_order_relaxed);
  while (!other_.compare_exchange_weak(before, before + gradients, std::memory_order_relaxed)) {
  }
}

template class CountingObjective<float>;
template class CountingObjective<double>;

}  // namespace symport
