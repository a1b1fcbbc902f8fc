// SPDX-License-Identifier: MIT
#include "symport/search/teleport.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/search/auto_search.hpp"

namespace symport {

namespace {

/// Measures a candidate on its parameters and judges it by that.
template <Real Scalar>
class Examination {
 public:
  Examination(BasicOrbit<Scalar>& orbit, double tolerance, double unit, Certificate& c)
      : condition_(orbit.condition()),
        here_(orbit.start_objective()),
        there_(orbit.objective()),
        tolerance_(tolerance),
        unit_(unit),
        c_(c) {}

  /// What is wrong with the candidate; empty when nothing is. The criterion is asked again where
  /// its preference is why the candidate is here.
  std::string objection(In<Scalar> start, In<Scalar> candidate, double learning_rate,
                        const NextStep<Scalar>& next_step, const Criterion& criterion,
                        bool preferred) {
    ParameterMeasures<Scalar> measured(there_, candidate, learning_rate, next_step);
    c_.loss_after = measured.loss();
    c_.grad_sq_after = measured.grad_sq();
    c_.curvature_after = measured.curvature();
    c_.condition = condition_;
    c_.drift = c_.relative_change();
    if (!candidate.allFinite()) return "a parameter of the candidate is not finite";
    if (!std::isfinite(c_.loss_after)) return "the loss at the candidate is not finite";
    if (!std::isfinite(c_.grad_sq_after)) return "the gradient at the candidate is not finite";
    if (!std::isfinite(c_.curvature_after)) return "the curvature at the candidate is not finite";
    if (std::isfinite(tolerance_)) {
      std::string changed = loss_objection(start, candidate, measured.gradient());
      if (!changed.empty()) return changed;
    }
    return preferred ? criterion.objection(measured, tolerance_) : "";
  }

  /// Of an orbit that keeps a part of the batch: what the teleport does to the loss of all of it,
  /// which must not rise.
  std::string objection_of_the_whole(const BasicObjective<Scalar>& whole, In<Scalar> start,
                                     In<Scalar> candidate) {
    Scope& scope = c_.scope;
    if (scope.data != Scope::Data::batch || scope.samples == scope.of) return {};
    scope.checked = scope.of;
    scope.loss_before = whole.value(start);
    scope.loss_after = whole.value(candidate);
    more_ += 1.0;
    if (scope.loss_after <= scope.loss_before * (1.0 + tolerance_)) return {};
    return fmt::format("the loss on the whole batch would rise from {:.4g} to {:.4g}",
                       scope.loss_before, scope.loss_after);
  }

  /// In gradients.
  double evaluations() const {
    return here_.count().gradient_equivalents() + there_.count().gradient_equivalents() + more_;
  }

 private:
  std::string loss_objection(In<Scalar> start, In<Scalar> candidate, In<Scalar> gradient) {
    double scale = std::abs(c_.loss_before);
    double own = first_order_rounding<Scalar>(candidate, gradient, unit_);
    // The rest of the rounding, and the floor that the start's makes, need not be known where the
    // loss has hardly changed and does not depend on the candidate's last digits.
    if (c_.drift > 0.01 * tolerance_ || !(own <= tolerance_ * scale)) {
      own = loss_rounding<Scalar>(there_, candidate, gradient, unit_);
      const double rounding = loss_rounding<Scalar>(here_, start, unit_);
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

  double condition_;
  CountingObjective<Scalar> here_, there_;  ///< at the start and at the candidate
  double tolerance_;
  double unit_;  ///< roundoff of what stores the parameters
  double more_ = 0.0;
  Certificate& c_;
};

/// Whether a random element of the group changes the loss by more than rounding can: the reason to
/// give then. Moves the orbit.
template <Real Scalar>
std::string denial(BasicOrbit<Scalar>& orbit, In<Scalar> w, double loss, double tolerance,
                   double& evaluations) {
  constexpr std::uint64_t probe_seed = 0;
  constexpr double spread = 0.1;
  Random random(probe_seed);
  if (!orbit.randomize(random, spread)) return {};
  VectorOf<Scalar> there(w.size());
  orbit.commit(there);
  const double moved = orbit.objective().value(there);
  evaluations += 0.5;
  if (!std::isfinite(moved) || std::abs(moved - loss) <= tolerance * std::abs(loss)) return {};
  const double rounding = loss_rounding<Scalar>(orbit.start_objective(), w);
  evaluations += 3.0;
  if (!(drift(loss, moved, rounding, tolerance) > std::sqrt(tolerance))) return {};
  return fmt::format(
      "this is not a symmetry of your loss: an element of the group changes it from {:.6g} to "
      "{:.6g} (testing::check_symmetry says more)",
      loss, moved);
}

}  // namespace

template <Real Scalar>
Certificate teleport(const BasicObjective<Scalar>& objective, BasicOrbit<Scalar>& orbit,
                     const Search& search, const CriterionOptions& options, Random& random,
                     Out<Scalar> w, double tolerance, const NextStep<Scalar>& next_step,
                     bool stored_as_float) {
  if (w.size() != objective.dimension()) {
    throw InvalidArgument("w", fmt::format("{} numbers", w.size()),
                          fmt::format("{}, the objective's dimension", objective.dimension()));
  }
  if (!(tolerance >= 0.0)) {
    throw InvalidArgument("drift_tolerance", fmt::format("{}", tolerance), "a number >= 0");
  }
  if (tolerance == 0.0) {
    tolerance =
        stored_as_float ? default_drift_tolerance<float>() : default_drift_tolerance<Scalar>();
  }
  const auto began = std::chrono::steady_clock::now();
  double evaluations = 0.0;  // beyond the orbit's
  Certificate c;
  c.scope = orbit.scope();
  c.grad_sq_before = c.grad_sq_after = orbit.grad_sq();
  c.curvature_before = c.curvature_after = orbit.curvature();
  if (const std::optional<double> known = orbit.start_loss()) {
    c.loss_before = *known;
  } else {
    c.loss_before = orbit.start_objective().value(w);
    evaluations += 0.5;
  }
  c.loss_after = c.loss_before;
  OrbitMeasures<Scalar> measures(orbit, options.learning_rate, next_step);
  Criterion criterion(options, measures, c.loss_before, [&] {
    const auto start = orbit.start_objective().local_curvature(w, {});
    const double largest = start->largest_eigenvalue();
    evaluations += start->evaluations();
    return largest;
  });
  if (!std::isfinite(c.loss_before) || !std::isfinite(c.grad_sq_before)) {
    c.reason = "the start is not finite";
  } else if (c.grad_sq_before == 0.0) {
    c.reason = "the gradient is zero, and stays so along the orbit";
  } else {
    SearchOutcome outcome = search.run(orbit, criterion, random);
    if (outcome.improved && options.pays_for > 0.0 && !criterion.pays(criterion.value())) {
      outcome = {false, outcome.reason + ": what it gains does not pay for the search"};
    }
    c.reason = outcome.reason;
    if (outcome.improved) {
      VectorOf<Scalar> candidate(w.size());
      orbit.commit(candidate);
      if (stored_as_float)
        candidate = VectorOf<float>(candidate.template cast<float>()).template cast<Scalar>();
      const double unit = stored_as_float ? unit_roundoff<float> : unit_roundoff<Scalar>;
      Examination<Scalar> examination(orbit, tolerance, unit, c);
      std::string wrong = examination.objection(w, candidate, options.learning_rate, next_step,
                                                criterion, outcome.preferred);
      if (wrong.empty()) wrong = examination.objection_of_the_whole(objective, w, candidate);
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
  const bool refused = !c.accepted && (!criterion.refusal().empty() || c.drift > tolerance);
  if (refused && orbit.stated() && std::isfinite(tolerance)) {
    const std::string wrong = denial<Scalar>(orbit, w, c.loss_before, tolerance, evaluations);
    if (!wrong.empty()) c.reason = wrong;
  }
  if (!orbit.note().empty()) c.reason += "; " + orbit.note();
  c.evaluations = orbit.evaluations() + measures.evaluations() + evaluations;
  c.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return c;
}

template <Real Scalar>
double drift_allowed(const BasicSymmetry<Scalar>& symmetry, double tolerance) {
  const bool any = tolerance == 0.0 && !symmetry.loss_invariant();
  return any ? std::numeric_limits<double>::infinity() : tolerance;
}

template <Real Scalar>
Certificate teleport(const BasicObjective<Scalar>& objective, Out<Scalar> w,
                     const TeleportOptions<Scalar>& options) {
  if (options.symmetry == nullptr) {
    throw InvalidArgument("symmetry", "none", "a symmetry of the objective");
  }
  const OrbitOrReason<Scalar> orbit = options.symmetry->orbit(objective, w);
  if (!orbit) return refused_certificate<Scalar>(objective, w, orbit.reason());
  const ObjectiveKind usual =
      options.learning_rate ? ObjectiveKind::predicted_decrease : ObjectiveKind::decrement;
  const CriterionOptions criterion{.objective = options.objective.value_or(usual),
                                   .own_objective = options.own_objective,
                                   .learning_rate = options.learning_rate.value_or(1.0),
                                   .bound = options.bound,
                                   .cap = options.cap};
  const AutoSearch usual_search;
  Random random(options.seed);
  return teleport<Scalar>(objective, *orbit, options.search ? *options.search : usual_search,
                          criterion, random, w,
                          drift_allowed(*options.symmetry, options.drift_tolerance),
                          options.next_step, options.stored_as_float);
}

template Certificate teleport(const BasicObjective<float>&, BasicOrbit<float>&, const Search&,
                              const CriterionOptions&, Random&, Out<float>, double,
                              const NextStep<float>&, bool);
template Certificate teleport(const BasicObjective<double>&, BasicOrbit<double>&, const Search&,
                              const CriterionOptions&, Random&, Out<double>, double,
                              const NextStep<double>&, bool);

template Certificate teleport(const BasicObjective<float>&, Out<float>,
                              const TeleportOptions<float>&);
template Certificate teleport(const BasicObjective<double>&, Out<double>,
                              const TeleportOptions<double>&);
template double drift_allowed(const BasicSymmetry<float>&, double);
template double drift_allowed(const BasicSymmetry<double>&, double);

}  // namespace symport
