// SPDX-License-Identifier: MIT
#include "symport/training/teleportation.hpp"

#include <fmt/format.h>

#include "symport/core/invalid_argument.hpp"
#include "symport/search/auto_search.hpp"

namespace symport {

std::string_view to_string(StatePolicy policy) {
  switch (policy) {
    case StatePolicy::keep:
      return "keep";
    case StatePolicy::reset:
      return "reset";
    case StatePolicy::transport:
      return "transport";
  }
  return "unknown";
}

namespace {

/// Throws InvalidArgument unless a teleport can take every buffer along. Squares of gradients are
/// kept where there is no exact way. Returns whether there is anything to take along.
template <Real Scalar>
bool require_transport(const BasicSymmetry<Scalar>& symmetry, const OptimizerState<Scalar>& state) {
  bool moves = false;
  for (const StateBuffer<Scalar>& buffer : state.buffers) {
    if (buffer.kind == StateKind::scalar) continue;
    if (symmetry.transports(buffer.kind)) {
      moves = true;
    } else if (buffer.kind != StateKind::squared_cotangent) {
      throw InvalidArgument(
          "state", "transport",
          fmt::format("keep or reset: the symmetry {} cannot transport an optimizer's {} '{}'",
                      symmetry.name(), to_string(buffer.kind), buffer.name));
    }
  }
  return moves;
}

/// Each vector of every buffer moves as its kind says.
template <Real Scalar>
void transport_state(const BasicSymmetry<Scalar>& symmetry, const BasicOrbit<Scalar>& orbit,
                     Index parameters, OptimizerState<Scalar>& state) {
  for (StateBuffer<Scalar>& buffer : state.buffers) {
    if (buffer.kind == StateKind::scalar || !symmetry.transports(buffer.kind)) continue;
    for (Index first = 0; first + parameters <= buffer.values.size(); first += parameters) {
      orbit.transport(buffer.values.segment(first, parameters), buffer.kind);
    }
  }
}

/// Rehearses an accepted teleport from `plain` to w, and takes it back where something speaks
/// against it.
template <Real Scalar>
void rehearse_or_return(const Outlook<Scalar>& outlook, const BasicOptimizer<Scalar>& optimizer,
                        Branch<Scalar>& plain, Out<Scalar> w, OptimizerState<Scalar>& state,
                        Certificate& certificate) {
  // Where rounding alone changes the loss by so much, a lead says nothing.
  const bool rounded = certificate.at_rounding_level() && certificate.relative_change() > 1e-3;
  RehearsalOutcome rehearsed{.objection = "the loss is at rounding level"};
  if (!rounded) {
    try {
      rehearsed = rehearse<Scalar>(outlook, optimizer, plain, {w, state});
    } catch (const Interrupted&) {
      w = plain.w;
      state = std::move(plain.state);
      throw;
    }
  }
  certificate.evaluations += rehearsed.evaluations * outlook.gradient_cost;
  if (rehearsed.objection.empty()) return;
  w = plain.w;
  state = std::move(plain.state);
  certificate.accepted = false;
  certificate.reason = std::move(rehearsed.objection);
}

}  // namespace

template <Real Scalar>
Certificate teleport_in_training(const BasicObjective<Scalar>& objective,
                                 const BasicOptimizer<Scalar>& optimizer, double learning_rate,
                                 const Teleportation<Scalar>& plan, Random& random,
                                 OptimizerState<Scalar>& state, Out<Scalar> w,
                                 const Outlook<Scalar>& outlook) {
  const bool transported =
      plan.state == StatePolicy::transport && require_transport(*plan.symmetry, state);
  const OrbitOrReason<Scalar> orbit = plan.symmetry->orbit(objective, w);
  if (!orbit) return refused_certificate<Scalar>(objective, w, orbit.reason());
  const ObjectiveKind kind = plan.objective.value_or(default_objective(optimizer));
  if (plan.pays_for > 0.0 && (plan.own_objective || (kind != ObjectiveKind::predicted_decrease &&
                                                     kind != ObjectiveKind::decrement))) {
    throw InvalidArgument("teleport.objective",
                          plan.own_objective ? "an own one" : std::string(to_string(kind)),
                          "predicted_decrease or decrement with the schedule auto, which compares "
                          "decreases of the loss");
  }
  double previews = 0.0;
  NextStep<Scalar> next_step;
  if (!optimizer.plain_gradient_step() && !optimizer.automatic_rate()) {
    next_step = [&](In<Scalar> at, In<Scalar> gradient, Out<Scalar> u) {
      previews += 1.0;
      optimizer.preview(objective, at, gradient, learning_rate, state, u);
    };
  }
  const CriterionOptions criterion{.objective = kind,
                                   .own_objective = plan.own_objective,
                                   .learning_rate = learning_rate,
                                   .bound = plan.bound,
                                   .cap = plan.cap,
                                   .pays_for = plan.pays_for,
                                   .keep_going = plan.keep_going};
  const AutoSearch auto_search;
  const Search& search = plan.search ? *plan.search : auto_search;
  // A symmetry that is bound to its batch is watched elsewhere. Others are where the steps have
  // batches of their own, whose losses say little about the whole (the monitoring set of
  // mini-batches is the one that has a cost).
  Outlook<Scalar> ahead = outlook;
  const bool bound = orbit->scope().data == Scope::Data::batch;
  if (!bound && !(ahead.monitor_cost > 0.0)) ahead.monitor = nullptr;
  std::optional<Branch<Scalar>> plain;
  if (ahead.steps > 0 || (bound && ahead.monitor)) plain = Branch<Scalar>{w, state};
  Certificate certificate =
      teleport<Scalar>(objective, *orbit, search, criterion, random, w,
                       drift_allowed(*plan.symmetry, plan.drift_tolerance), next_step);
  certificate.evaluations += previews * optimizer.preview_evaluations(w.size());
  if (!certificate.accepted) return certificate;
  if (plan.state == StatePolicy::reset) {
    state = optimizer.init(w.size());
  } else if (transported) {
    transport_state(*plan.symmetry, *orbit, w.size(), state);
  }
  if (bound && ahead.monitor) {
    certificate.scope.checked = ahead.monitored;
    certificate.scope.loss_before = ahead.monitor(plain->w);
    certificate.scope.loss_after = ahead.monitor(w);
  }
  if (ahead.steps > 0) {
    rehearse_or_return<Scalar>(ahead, optimizer, *plain, w, state, certificate);
  }
  return certificate;
}

template Certificate teleport_in_training(const BasicObjective<float>&,
                                          const BasicOptimizer<float>&, double,
                                          const Teleportation<float>&, Random&,
                                          OptimizerState<float>&, Out<float>,
                                          const Outlook<float>&);
template Certificate teleport_in_training(const BasicObjective<double>&,
                                          const BasicOptimizer<double>&, double,
                                          const Teleportation<double>&, Random&,
                                          OptimizerState<double>&, Out<double>,
                                          const Outlook<double>&);

}  // namespace symport
