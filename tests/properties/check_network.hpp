// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <memory>

#include "properties/exact_loss.hpp"
#include "properties/network_case.hpp"
#include "properties/tally.hpp"
#include "support/one_step.hpp"
#include "support/worth.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/search/auto_search.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/search/fixed_ascent.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "symport/search/random_search.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/linear_network.hpp"
#include "symport/symmetries/paper_action.hpp"
#include "symport/symmetries/permutation.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/symmetries/sign_flip.hpp"
#include "symport/training/teleportation.hpp"

namespace symport::testing {

/// Equal in every bit.
template <Real Scalar>
bool same_bits(const VectorOf<Scalar>& a, const VectorOf<Scalar>& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(),
                                       static_cast<std::size_t>(a.size()) * sizeof(Scalar)) == 0);
}

template <Real Scalar>
std::unique_ptr<BasicSymmetry<Scalar>> make_symmetry(const NetworkCase& c) {
  if (c.symmetry == "gl") {
    return std::make_unique<GeneralLinear<Scalar>>(
        GeneralLinearOptions{.allow_partial_batch = c.partial, .max_rank = c.max_rank});
  }
  if (c.symmetry == "rescale") return std::make_unique<PositiveScalingSymmetry<Scalar>>();
  if (c.symmetry == "linear_gl") return std::make_unique<LinearNetworkSymmetry<Scalar>>();
  if (c.symmetry == "permutation") return std::make_unique<PermutationSymmetry<Scalar>>();
  if (c.symmetry == "sign_flip") return std::make_unique<SignFlipSymmetry<Scalar>>();
  return std::make_unique<PaperAction<Scalar>>();
}

inline std::unique_ptr<Search> make_search(const NetworkCase& c) {
  if (c.search == "ascent") return std::make_unique<OrbitAscent>();
  if (c.search == "fixed")
    return std::make_unique<FixedAscent>(FixedAscentOptions{.rate = c.search_rate});
  if (c.search == "random") return std::make_unique<RandomSearch>();
  if (c.search == "any element") {
    return std::make_unique<RandomSearch>(
        RandomSearchOptions{.samples = 1, .keep_the_best = false});
  }
  if (c.search == "closed")
    return std::make_unique<ClosedFormSearch>(ClosedFormOptions{.kappa = c.kappa});
  return std::make_unique<AutoSearch>();
}

template <Real Scalar>
std::unique_ptr<BasicOptimizer<Scalar>> make_optimizer(const NetworkCase& c) {
  if (c.optimizer == "momentum") return std::make_unique<Momentum<Scalar>>();
  if (c.optimizer == "adam") return std::make_unique<Adam<Scalar>>();
  if (c.optimizer == "gd auto") return std::make_unique<CurvatureDescent<Scalar>>();
  return std::make_unique<GradientDescent<Scalar>>();
}

/// An accepted teleport that changed the loss, in words.
inline std::string complaint(const LossChange& change, const Certificate& certificate) {
  return fmt::format(
      "accepted with a drift of {:.3g} (relative {:.3g}), allowed is {:.3g}; the certificate says "
      "{:.3g}, loss {:.17g} -> {:.17g}, exact {:.17g} -> {:.17g}, condition {:.3g}, {}",
      change.drift(), change.relative(), change.tolerance, certificate.drift,
      certificate.loss_before, certificate.loss_after, static_cast<double>(change.before),
      static_cast<double>(change.after), certificate.condition, certificate.reason);
}

/// What an accepted certificate says of J and Phi that the objective at w does not; and, for a
/// search that must find something better by `criterion`, an improvement that is none. Empty:
/// nothing.
template <Real Scalar>
std::string wrong_numbers(const BasicObjective<Scalar>& objective, const Certificate& c,
                          const VectorOf<Scalar>& w, const CriterionOptions* criterion) {
  VectorOf<Scalar> gradient(w.size());
  objective.gradient(w, gradient);
  const double J = gradient.template cast<double>().squaredNorm();
  const double Phi = objective.curvature(w, gradient);
  constexpr double rounding = std::same_as<Scalar, double> ? 1e-12 : 1e-5;
  const auto same = [](double a, double b) { return std::abs(a - b) <= rounding * std::abs(b); };
  if (!same(c.grad_sq_after, J) || !same(c.curvature_after, Phi)) {
    return fmt::format("J {:.9g} and Phi {:.9g} are certified as {:.9g} and {:.9g} ({})", J, Phi,
                       c.grad_sq_after, c.curvature_after, c.reason);
  }
  if (criterion == nullptr) return {};
  const auto worth_of = [&](double grad_sq, double curvature) {
    return worth(criterion->objective, criterion->learning_rate, {0.0, grad_sq, curvature});
  };
  const double before = worth_of(c.grad_sq_before, c.curvature_before), after = worth_of(J, Phi);
  const bool defined = criterion->objective != ObjectiveKind::decrement || c.curvature_before > 0.0;
  // Formulas that are written differently differ in the last bits of `Scalar`.
  if (defined && std::isfinite(before) && !(after >= before - rounding * std::abs(before))) {
    return fmt::format("{} was {:.9g} and is {:.9g}: no improvement ({})",
                       to_string(criterion->objective), before, after, c.reason);
  }
  return {};
}

/// Teleports once. Either the loss, recomputed exactly, is what it was, or the teleport was refused
/// and nothing has changed. Returns what is wrong; empty: nothing.
template <Real Scalar>
std::string check_network_case(const NetworkCase& c, Tally& tally) {
  Random random(c.seed);
  const Mlp network(c.widths, Activation::parse(c.activation), c.biases);
  const Loss loss = Loss::parse(c.loss);
  const Batch batch = make_batch(c, random);
  const MatrixOf<Scalar> X = batch.X.template cast<Scalar>();
  VectorOf<Scalar> w = make_weights(c, network, random).template cast<Scalar>();
  Targets<Scalar> targets;
  if (loss.categorical()) {
    targets = batch.classes;
  } else {
    targets = MatrixOf<Scalar>(batch.Y.template cast<Scalar>());
  }
  if (!loss.categorical() && c.weights.ends_with("the minimum")) {
    const MlpObjective<Scalar> at(network, loss, X, targets);
    const MatrixOf<Scalar> Z = at.outputs(w);
    if (!Z.allFinite()) return {};
    targets = c.weights == "at the minimum"
                  ? Z
                  : MatrixOf<Scalar>(Z + Scalar(c.nearness) * targets.values);
  }
  const MlpObjective<Scalar> objective(network, loss, X, targets);
  const auto optimizer = make_optimizer<Scalar>(c);
  OptimizerState<Scalar> state = optimizer->init(w.size());
  if (c.prepared) {
    VectorOf<Scalar> gradient(w.size());
    for (int step = 0; step < 2; ++step) {
      VectorOf<Scalar> elsewhere = w;
      const double value = objective.gradient(w, gradient);
      testing::one_step(*optimizer, objective, value, gradient, c.learning_rate, state, elsewhere);
    }
  }
  const auto symmetry = make_symmetry<Scalar>(c);
  const auto search = make_search(c);
  Teleportation<Scalar> plan{.symmetry = symmetry.get(), .search = search.get()};
  plan.objective = c.objective;
  plan.bound = c.bound;
  plan.cap = c.cap;
  plan.drift_tolerance = c.tolerance;
  const StatePolicy policies[] = {StatePolicy::keep, StatePolicy::reset, StatePolicy::transport};
  plan.state = policies[c.state];
  if (plan.state == StatePolicy::transport && !symmetry->transports(StateKind::cotangent)) {
    plan.state = StatePolicy::keep;
  }

  const VectorOf<Scalar> start = w;
  const OptimizerState<Scalar> state_before = state;
  Certificate certificate;
  // With a part of the batch, the part's loss is kept.
  ExactLoss kept = exact_network_loss<Scalar>(network, loss, X, targets);
  try {
    if (c.partial) {
      const auto orbit = symmetry->orbit(objective, w);
      if (const auto* part = orbit->objective().mlp()) {
        kept = exact_network_loss<Scalar>(
            network, loss, MatrixOf<Scalar>(part->inputs().topRows(X.rows())), part->targets());
      }
    }
  } catch (const std::exception&) {  // the teleport below says why
  }
  try {
    certificate = teleport_in_training<Scalar>(objective, *optimizer, c.learning_rate, plan, random,
                                               state, w);
  } catch (const InvalidArgument&) {  // a symmetry of other activations
    certificate.accepted = false;
  }
  if (!certificate.accepted) {
    tally.refused(c.name());
    if (!same_bits(w, start)) return "refused, and the parameters changed";
    bool same = state.count == state_before.count;
    for (const StateBuffer<Scalar>& buffer : state_before.buffers) {
      same = same && same_bits(state[buffer.name], buffer.values);
    }
    if (!same) return "refused, and the optimizer's state changed";
    return {};
  }
  if (!w.allFinite()) return "accepted parameters that are not finite";
  if (!symmetry->loss_invariant() && c.tolerance == 0.0) {
    tally.accepted(c.name() + ", any drift");
    return {};
  }
  const double tolerance = c.tolerance > 0.0 ? c.tolerance : default_drift_tolerance<Scalar>();
  const LossChange change = loss_change<Scalar>(kept, start, w, tolerance);
  tally.accepted(c.name(), change);
  if (!change.kept()) return complaint(change, certificate);
  if (c.partial) return {};
  const CriterionOptions criterion{.objective = c.objective, .learning_rate = c.learning_rate};
  const bool plain = optimizer->plain_gradient_step() || optimizer->automatic_rate();
  return wrong_numbers<Scalar>(objective, certificate, w,
                               plain && c.prefers() ? &criterion : nullptr);
}

}  // namespace symport::testing
