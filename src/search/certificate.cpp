// SPDX-License-Identifier: MIT
#include "symport/search/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace symport {

template <Real Scalar>
double loss_rounding(const BasicObjective<Scalar>& objective, In<Scalar> w) {
  constexpr double u = 0.5 * std::numeric_limits<Scalar>::epsilon();
  VectorOf<Scalar> gradient(w.size());
  objective.gradient(w, gradient);
  const VectorOf<Scalar> d = (gradient.array() < Scalar(0)).select(-w.cwiseAbs(), w.cwiseAbs());
  const double slope = gradient.template cast<double>().dot(d.template cast<double>());
  return u * slope + 0.5 * u * u * std::abs(objective.curvature(w, d));
}

double drift(double loss_before, double loss_after, double rounding, double tolerance) {
  const double change = std::abs(loss_after - loss_before);
  const double scale = std::max(std::abs(loss_before), 1000.0 * rounding / tolerance);
  return change == 0.0 ? 0.0 : change / scale;
}

template double loss_rounding(const BasicObjective<float>&, In<float>);
template double loss_rounding(const BasicObjective<double>&, In<double>);

}  // namespace symport
