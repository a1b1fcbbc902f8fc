// SPDX-License-Identifier: MIT
#include "symport/search/teleport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "search/absolute_dot.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/counting.hpp"

namespace symport {

namespace {

/// Measures a candidate on its parameters and judges it by that.
template <Real Scalar>
class Examination {
 public:
  Examination(BasicOrbit<Scalar>& orbit, double tolerance, Certificate& c)
      : orbit_(orbit),
        here_(orbit.start_objective()),
        there_(orbit.objective()),
        tolerance_(tolerance),
        c_(c) {}

  /// What is wrong with the candidate; empty when nothing is. The criterion is asked again where
  /// its preference is why the candidate is here.
  std::string objection(In<Scalar> start, In<Scalar> candidate, const Criterion& criterion,
                        bool preferred) {
    measure(candidate);
    if (!std::isfinite(c_.loss_after)) return "the loss at the candidate is not finite";
    if (!std::isfinite(c_.grad_sq_after)) return "the gradient at the candidate is not finite";
    if (!std::isfinite(c_.curvature_after)) return "the curvature at the candidate is not finite";
    if (std::isfinite(tolerance_)) {
      std::string changed = loss_objection(start, candidate);
      if (!changed.empty()) return changed;
    }
    if (!preferred) return {};
    OrbitMeasurement measured{c_.grad_sq_after, c_.curvature_after};
    if (orbit_.has_forecast() && criterion.uses_forecast()) {
      measured.forecast = orbit_.forecast_from(candidate, gradient_);
    }
    return criterion.objection(measured, tolerance_);
  }

  /// In gradients; the forecast is on the orbit's account.
  double evaluations() const {
    return here_.count().gradient_equivalents() + there_.count().gradient_equivalents();
  }

 private:
  void measure(In<Scalar> candidate) {
    gradient_.resize(candidate.size());
    c_.loss_after = there_.gradient(candidate, gradient_);
    c_.grad_sq_after = absolute_dot<Scalar>(gradient_, gradient_);
    c_.curvature_after = there_.curvature(candidate, gradient_);
    c_.condition = orbit_.condition();
    c_.drift = c_.relative_change();
  }

  std::string loss_objection(In<Scalar> start, In<Scalar> candidate) {
    double scale = std::abs(c_.loss_before);
    double own = first_order_rounding<Scalar>(candidate, gradient_);
    // The rest of the rounding, and the floor that the start's makes, need not be known where the
    // loss has hardly changed and does not depend on the candidate's last digits.
    if (c_.drift > 0.01 * tolerance_ || !(own <= tolerance_ * scale)) {
      own = loss_rounding<Scalar>(there_, candidate, gradient_);
      const double rounding = loss_rounding<Scalar>(here_, start);
      scale = drift_scale(c_.loss_before, rounding, tolerance_);
      c_.drift = drift(c_.loss_before, c_.loss_after, rounding, tolerance_);
    }
    if (!(c_.drift <= tolerance_)) {
      return fmt::format("the loss would drift by {:.3g}, allowed is {:.3g}", c_.drift, tolerance_);
    }
    if (!(own <= tolerance_ * scale)) {
      return fmt::format(
          "rounding the candidate's parameters alone could make the loss drift by {:.3g}, allowed "
          "is {:.3g}",
          own / scale, tolerance_);
    }
    return {};
  }

  BasicOrbit<Scalar>& orbit_;
  CountingObjective<Scalar> here_, there_;  ///< at the start and at the candidate
  double tolerance_;
  Certificate& c_;
  VectorOf<Scalar> gradient_;
};

}  // namespace

template <Real Scalar>
Certificate teleport(const BasicObjective<Scalar>& objective, BasicOrbit<Scalar>& orbit,
                     const Search& search, const CriterionOptions& options, Random& random,
                     Out<Scalar> w, double tolerance) {
  if (w.size() != objective.dimension()) {
    throw InvalidArgument("w", fmt::format("{} numbers", w.size()),
                          fmt::format("{}, the objective's dimension", objective.dimension()));
  }
  if (!(tolerance >= 0.0)) {
    throw InvalidArgument("drift_tolerance", fmt::format("{}", tolerance), "a number >= 0");
  }
  if (tolerance == 0.0) tolerance = default_drift_tolerance<Scalar>();
  const auto began = std::chrono::steady_clock::now();
  double evaluations = 0.0;  // beyond the orbit's
  Certificate c;
  c.grad_sq_before = c.grad_sq_after = orbit.grad_sq();
  c.curvature_before = c.curvature_after = orbit.curvature();
  if (const std::optional<double> known = orbit.start_loss()) {
    c.loss_before = *known;
  } else {
    c.loss_before = orbit.start_objective().value(w);
    evaluations += 0.5;
  }
  c.loss_after = c.loss_before;
  CriterionOptions limits = options;
  if (c.loss_before > 0.0) {
    limits.largest_decrement = std::min(limits.largest_decrement, 2.0 * c.loss_before);
  }
  Criterion criterion(limits);
  if (!std::isfinite(c.loss_before) || !std::isfinite(c.grad_sq_before)) {
    c.reason = "the start is not finite";
  } else if (c.grad_sq_before == 0.0) {
    c.reason = "the gradient is zero, and stays so along the orbit";
  } else {
    const SearchOutcome outcome = search.run(orbit, criterion, random);
    c.reason = outcome.reason;
    if (outcome.improved) {
      VectorOf<Scalar> candidate(w.size());
      orbit.commit(candidate);
      Examination<Scalar> examination(orbit, tolerance, c);
      const std::string wrong = examination.objection(w, candidate, criterion, outcome.preferred);
      evaluations += examination.evaluations();
      if (wrong.empty()) {
        w = candidate;
        c.accepted = true;
        if (c.at_rounding_level()) c.reason += "; the loss is at rounding level";
      } else {
        c.reason = wrong;
      }
    }
  }
  if (!orbit.note().empty()) c.reason += "; " + orbit.note();
  c.evaluations = orbit.evaluations() + evaluations;
  c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return c;
}

template Certificate teleport(const BasicObjective<float>&, BasicOrbit<float>&, const Search&,
                              const CriterionOptions&, Random&, Out<float>, double);
template Certificate teleport(const BasicObjective<double>&, BasicOrbit<double>&, const Search&,
                              const CriterionOptions&, Random&, Out<double>, double);

}  // namespace symport
