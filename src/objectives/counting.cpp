// SPDX-License-Identifier: MIT
#include "symport/objectives/counting.hpp"

#include "objectives/noted_curvature.hpp"

namespace symport {

template <Real Scalar>
std::unique_ptr<LocalCurvature<Scalar>> CountingObjective<Scalar>::local_curvature(
    In<Scalar> w, KnownGradient<Scalar> known) const {
  return std::make_unique<NotedCurvature<Scalar>>(
      inner_.local_curvature(w, std::move(known)),
      [this](double gradients) { count_.other += gradients; });
}

template class CountingObjective<float>;
template class CountingObjective<double>;

}  // namespace symport
