// SPDX-License-Identifier: MIT
#include "symport/search/criterion.hpp"

#include <fmt/format.h>

#include <cmath>

#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

void require_positive(const char* field, double value) {
  if (!(value > 0.0)) throw InvalidArgument(field, fmt::format("{}", value), "a number > 0");
}

}  // namespace

Criterion::Criterion(const CriterionOptions& options, PointMeasures& here, double loss)
    : objective_(options.chosen()),
      here_(here),
      bound_(options.bound),
      cap_(options.cap.value_or(objective_.default_cap())),
      largest_value_(objective_.largest_value(loss)) {
  const double rate = options.learning_rate;
  if (!(rate >= 0.0 && std::isfinite(rate))) {
    throw InvalidArgument("learning_rate", fmt::format("{}", rate), "a finite number >= 0");
  }
  require_positive("bound", bound_);
  require_positive("cap", cap_);
  if (!objective_.at_given_rate()) cap_ = std::numeric_limits<double>::infinity();
}

double Criterion::worth(double grad_sq, double curvature) {
  KnownPoint point(grad_sq, curvature, here_.rate());
  return objective_.value(point);
}

bool Criterion::better(double a, double b) { return std::isfinite(a) && (a > b || std::isnan(b)); }

double Criterion::begin() {
  if (std::isfinite(cap_)) {
    start_curvature_ = here_.largest_curvature();
    start_next_loss_ = here_.next_loss();
  }
  start_value_ = value();
  return start_value_;
}

bool Criterion::allows() {
  if (std::isfinite(bound_) && !(here_.rate() * here_.curvature() <= bound_ * here_.grad_sq())) {
    return false;
  }
  if (largest_value_ && !(value() <= *largest_value_)) return false;
  if (!std::isfinite(cap_)) return true;
  // The cheaper condition first.
  const double next_loss = here_.next_loss();
  if (!(next_loss <= start_next_loss_) && std::isfinite(start_next_loss_)) return false;
  const double largest = here_.largest_curvature();
  const double stability = here_.rate() * largest;
  return stability <= cap_ || (largest <= start_curvature_ && stability < 2.0);
}

std::string Criterion::objection(PointMeasures& candidate, double slack) const {
  const double measured = objective_.value(candidate);
  if (!better(measured, start_value_)) {
    return fmt::format("measured on the parameters, {} is {:.6g} after {:.6g}: no improvement",
                       objective_.name(), measured, start_value_);
  }
  if (std::isfinite(bound_)) {
    const double bend = candidate.rate() * candidate.curvature() / candidate.grad_sq();
    if (!(bend <= bound_ * (1.0 + slack))) {
      return fmt::format("measured on the parameters, eta Phi / J is {:.6g}, allowed is {:.6g}",
                         bend, bound_);
    }
  }
  if (largest_value_ && !(measured <= *largest_value_ * (1.0 + slack))) {
    return fmt::format("measured on the parameters, the {} is {:.6g}, allowed is {:.6g}",
                       objective_.name(), measured, *largest_value_);
  }
  return {};
}

}  // namespace symport
