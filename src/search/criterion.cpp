// SPDX-License-Identifier: MIT
#include "symport/search/criterion.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

void require_positive(const char* field, double value) {
  if (!(value > 0.0)) throw InvalidArgument(field, fmt::format("{}", value), "a number > 0");
}

}  // namespace

Criterion::Criterion(const CriterionOptions& options, PointMeasures& here, double loss,
                     std::function<double()> start_curvature)
    : objective_(options.chosen()),
      here_(here),
      bound_(options.bound),
      cap_(options.cap.value_or(objective_.default_cap())),
      largest_value_(objective_.largest_value(loss)),
      loss_(loss),
      pays_for_(options.pays_for),
      keep_going_(options.keep_going),
      ask_start_curvature_(std::move(start_curvature)) {
  const double rate = options.learning_rate;
  if (!(rate >= 0.0 && std::isfinite(rate))) {
    throw InvalidArgument("learning_rate", fmt::format("{}", rate), "a finite number >= 0");
  }
  require_positive("bound", bound_);
  require_positive("cap", cap_);
  if (!(pays_for_ >= 0.0)) {
    throw InvalidArgument("pays_for", fmt::format("{}", pays_for_), "a number >= 0");
  }
  if (!objective_.at_given_rate()) cap_ = std::numeric_limits<double>::infinity();
}

double Criterion::value() {
  require_going_on(keep_going_);
  return objective_.value(here_);
}

Slope Criterion::slope() {
  require_going_on(keep_going_);
  return objective_.slope(here_);
}

double Criterion::worth(double grad_sq, double curvature) {
  KnownPoint point(grad_sq, curvature, here_.rate());
  return objective_.value(point);
}

Worth Criterion::preference() {
  const double rate = here_.rate();
  const bool given = objective_.at_given_rate();
  return {[this](double J, double Phi) { return worth(J, Phi); },
          [=](double J, double Phi) { return given ? rate : J / Phi; }, cap_ / rate};
}

bool Criterion::pays(double value) const {
  if (pays_for_ == 0.0) return true;
  // (D13): a plain step takes the part D/L of the loss, or D where that says nothing.
  const double part = start_value_ / loss_;
  const double plain = part > 0.0 && part < 1.0 ? loss_ * (1.0 - std::pow(1.0 - part, pays_for_))
                                                : pays_for_ * start_value_;
  return value > 2.0 * plain;
}

bool Criterion::better(double a, double b) { return std::isfinite(a) && (a > b || std::isnan(b)); }

double Criterion::begin() {
  if (std::isfinite(cap_)) {
    if (!ask_start_curvature_) start_curvature_ = here_.largest_curvature();
    start_next_loss_ = here_.next_loss();
  }
  start_value_ = value();
  return start_value_;
}

bool Criterion::allows() {
  const auto refuse = [this](std::string reason) {
    refusal_ = std::move(reason);
    return false;
  };
  if (std::isfinite(bound_) && !(here_.rate() * here_.curvature() <= bound_ * here_.grad_sq())) {
    return refuse(
        fmt::format("rate * curvature along the gradient is {:.3g} there, more than {}, "
                    "the bound",
                    here_.rate() * here_.curvature() / here_.grad_sq(), bound_));
  }
  if (largest_value_ && !(value() <= *largest_value_)) {
    return refuse(fmt::format("the {} is {:.3g} there, more than the {:.3g} that is believed",
                              objective_.name(), value(), *largest_value_));
  }
  if (!std::isfinite(cap_)) return true;
  // The cheaper condition first.
  const double next_loss = here_.next_loss();
  if (!(next_loss <= start_next_loss_) && std::isfinite(start_next_loss_)) {
    return refuse(
        fmt::format("the next step from there ends at a loss of {:.3g}, that from the "
                    "start at {:.3g}",
                    next_loss, start_next_loss_));
  }
  const double largest = here_.largest_curvature();
  const double stability = here_.rate() * largest;
  if (stability <= cap_) return true;
  const auto unstable = [&] {
    return refuse(
        fmt::format("a step from there would be unstable: rate * largest curvature is "
                    "{:.3g}, more than {}, the cap",
                    stability, cap_));
  };
  if (!(stability < 2.0)) return unstable();
  if (!start_curvature_) start_curvature_ = ask_start_curvature_();
  return largest <= *start_curvature_ || unstable();
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
