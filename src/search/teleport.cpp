// SPDX-License-Identifier: MIT
#include "symport/search/teleport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

/// What is wrong with the numbers of a candidate; empty when nothing is.
std::string objection(const Certificate& c, double tolerance) {
  if (!std::isfinite(c.loss_after)) return "the loss at the candidate is not finite";
  if (!std::isfinite(c.grad_sq_after)) return "the gradient at the candidate is not finite";
  if (!std::isfinite(c.curvature_after)) return "the curvature at the candidate is not finite";
  if (!(c.drift <= tolerance)) {
    return fmt::format("the loss would drift by {:.3g}, allowed is {:.3g}", c.drift, tolerance);
  }
  return {};
}

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
  double extra_evaluations = 1.0;  // the loss twice
  Certificate c;
  c.grad_sq_before = c.grad_sq_after = orbit.grad_sq();
  c.curvature_before = c.curvature_after = orbit.curvature();
  const std::optional<double> known = orbit.start_loss();
  c.loss_before = c.loss_after = known ? *known : orbit.objective().value(w);
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
      c.loss_after = orbit.objective().value(candidate);
      c.grad_sq_after = orbit.grad_sq();
      c.curvature_after = orbit.curvature();
      c.condition = orbit.condition();
      c.drift = drift(c.loss_before, c.loss_after, 0.0, tolerance);
      // Rounding need not be known where the loss has hardly changed.
      if (c.drift > 0.01 * tolerance && std::isfinite(c.drift)) {
        const double rounding = std::max(loss_rounding<Scalar>(orbit.objective(), w),
                                         loss_rounding<Scalar>(orbit.objective(), candidate));
        c.drift = drift(c.loss_before, c.loss_after, rounding, tolerance);
        extra_evaluations += 4.0;
      }
      const std::string wrong = objection(c, tolerance);
      if (wrong.empty()) {
        w = candidate;
        c.accepted = true;
      } else {
        c.reason = wrong;
      }
    }
  }
  if (!orbit.note().empty()) c.reason += "; " + orbit.note();
  c.evaluations = orbit.evaluations() + extra_evaluations;
  c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return c;
}

template Certificate teleport(const BasicObjective<float>&, BasicOrbit<float>&, const Search&,
                              const CriterionOptions&, Random&, Out<float>, double);
template Certificate teleport(const BasicObjective<double>&, BasicOrbit<double>&, const Search&,
                              const CriterionOptions&, Random&, Out<double>, double);

}  // namespace symport
