// SPDX-License-Identifier: MIT
#include "symport/search/point_measures.hpp"

#include <limits>
#include <stdexcept>

namespace symport {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

StepForecast PointMeasures::forecast() {
  throw std::logic_error("PointMeasures::forecast: no next step is known");
}

double PointMeasures::largest_curvature() { return unknown; }

double PointMeasures::next_loss() { return unknown; }

double PointMeasures::norm_sq() { return unknown; }

Vector PointMeasures::parameters() {
  throw std::logic_error("PointMeasures::parameters: the point has no parameters");
}

Vector PointMeasures::sharpest_direction() {
  throw std::logic_error("PointMeasures::sharpest_direction: the point has no parameters");
}

Vector PointMeasures::third_derivative(const Vector&) {
  throw std::logic_error("PointMeasures::third_derivative: the point has no parameters");
}

double PointMeasures::rate() {
  return has_forecast() ? forecast().slope / grad_sq() : learning_rate();
}

}  // namespace symport
