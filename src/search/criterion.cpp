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

double default_cap(ObjectiveKind objective) {
  return objective == ObjectiveKind::predicted_decrease ? 1.5
                                                        : std::numeric_limits<double>::infinity();
}

Criterion::Criterion(const CriterionOptions& options)
    : options_(options), cap_(options.cap.value_or(default_cap(options.objective))) {
  if (!(options.learning_rate >= 0.0 && std::isfinite(options.learning_rate))) {
    throw InvalidArgument("learning_rate", fmt::format("{}", options.learning_rate),
                          "a finite number >= 0");
  }
  require_positive("bound", options.bound);
  require_positive("cap", cap_);
}

bool Criterion::uses_forecast() const {
  return options_.objective == ObjectiveKind::predicted_decrease || std::isfinite(options_.bound);
}

double Criterion::rate(const OrbitMeasurement& at) const {
  return at.forecast ? at.forecast->slope / at.grad_sq : options_.learning_rate;
}

double Criterion::rate(Orbit& orbit) const {
  if (!orbit.has_forecast()) return options_.learning_rate;
  return orbit.forecast().slope / orbit.grad_sq();
}

double Criterion::value(const OrbitMeasurement& at) const {
  const double J = at.grad_sq, Phi = at.curvature;
  switch (options_.objective) {
    case ObjectiveKind::gradient_norm:
      return J;
    case ObjectiveKind::predicted_decrease: {
      if (at.forecast) return at.forecast->decrease();
      const double eta = options_.learning_rate;
      return eta * J - 0.5 * eta * eta * Phi;
    }
    case ObjectiveKind::decrement:
      return Phi > 0.0 ? 0.5 * J * (J / Phi) : std::nan("");
  }
  return std::nan("");
}

double Criterion::value(Orbit& orbit) const {
  OrbitMeasurement at{.grad_sq = orbit.grad_sq()};
  if (options_.objective == ObjectiveKind::predicted_decrease && orbit.has_forecast()) {
    at.forecast = orbit.forecast();
  } else if (options_.objective != ObjectiveKind::gradient_norm) {
    at.curvature = orbit.curvature();
  }
  return value(at);
}

bool Criterion::better(double a, double b) { return std::isfinite(a) && (a > b || std::isnan(b)); }

Criterion::Weights Criterion::weights(Orbit& orbit) const {
  switch (options_.objective) {
    case ObjectiveKind::gradient_norm:
      return {1.0, 0.0};
    case ObjectiveKind::predicted_decrease: {
      const double eta = rate(orbit);
      return {eta, -0.5 * eta * eta};
    }
    case ObjectiveKind::decrement: {
      // (D4) of D* = J^2 / (2 Phi). Where Phi <= 0 there is no best step length; a larger J is the
      // way out.
      const double Phi = orbit.curvature();
      if (!(Phi > 0.0)) return {1.0, 0.0};
      const double step = orbit.grad_sq() / Phi;
      return {step, -0.5 * step * step};
    }
  }
  return {};
}

double Criterion::begin(Orbit& orbit) {
  if (std::isfinite(cap_)) {
    start_curvature_ = orbit.largest_curvature();
    start_next_loss_ = orbit.next_loss(options_.learning_rate);
  }
  start_value_ = value(orbit);
  return start_value_;
}

bool Criterion::allows(Orbit& orbit) const {
  if (std::isfinite(options_.bound) &&
      !(rate(orbit) * orbit.curvature() <= options_.bound * orbit.grad_sq())) {
    return false;
  }
  if (options_.objective == ObjectiveKind::decrement) {
    return value(orbit) <= options_.largest_decrement;
  }
  if (!std::isfinite(cap_)) return true;
  // The cheaper condition first.
  const double next_loss = orbit.next_loss(options_.learning_rate);
  if (!(next_loss <= start_next_loss_) && std::isfinite(start_next_loss_)) return false;
  const double largest = orbit.largest_curvature();
  const double stability = rate(orbit) * largest;
  return stability <= cap_ || (largest <= start_curvature_ && stability < 2.0);
}

std::string Criterion::objection(const OrbitMeasurement& candidate, double slack) const {
  const double measured = value(candidate);
  if (!better(measured, start_value_)) {
    return fmt::format("measured on the parameters, {} is {:.6g} after {:.6g}: no improvement",
                       to_string(options_.objective), measured, start_value_);
  }
  const double bend = rate(candidate) * candidate.curvature / candidate.grad_sq;
  if (std::isfinite(options_.bound) && !(bend <= options_.bound * (1.0 + slack))) {
    return fmt::format("measured on the parameters, eta Phi / J is {:.6g}, allowed is {:.6g}", bend,
                       options_.bound);
  }
  if (options_.objective == ObjectiveKind::decrement &&
      !(measured <= options_.largest_decrement * (1.0 + slack))) {
    return fmt::format("measured on the parameters, the decrement is {:.6g}, allowed is {:.6g}",
                       measured, options_.largest_decrement);
  }
  return {};
}

std::string_view to_string(ObjectiveKind kind) {
  switch (kind) {
    case ObjectiveKind::gradient_norm:
      return "gradient_norm";
    case ObjectiveKind::predicted_decrease:
      return "predicted_decrease";
    case ObjectiveKind::decrement:
      return "decrement";
  }
  return "unknown";
}

}  // namespace symport
