// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <optional>
#include <string_view>

#include "symport/optimizers/optimizer.hpp"
#include "symport/schedules/schedule.hpp"
#include "symport/search/teleport.hpp"
#include "symport/symmetries/symmetry.hpp"
#include "symport/training/rehearsal.hpp"

namespace symport {

/// What happens to the optimizer's state at a teleport.
enum class StatePolicy {
  keep,   ///< it stays as it is
  reset,  ///< as at the start of the run
  /// Every buffer moves as its kind says (see StateKind). Squares of gradients move where that is
  /// exact, which is where the symmetry `transports` them (rescaling, permutations and sign flips),
  /// and are kept elsewhere. An optimizer with another kind that the symmetry does not transport is
  /// refused.
  transport,
};
std::string_view to_string(StatePolicy policy);

inline constexpr double minibatch_cap = 0.15;

/// A run with rehearsed teleports goes back to before a teleport when every one of its last
/// `rollback_steps` losses is above this multiple of the loss at which that teleport began, or when
/// a loss is no longer finite. With L the loss at the teleport and L_1 that at the first one,
/// "above m times" is
///   loss > L + (m - 1) |L| + eps |L_1|,
/// where eps is the machine epsilon: at rounding level, and at L = 0, small changes do not count.
/// In mini-batches, whose losses are noisy, L is the larger one of the loss on the teleport's batch
/// and the training loss of the last row before it.
inline constexpr double rollback_multiple = 2.0;
template <Real Scalar>
Index rollback_steps(const BasicOptimizer<Scalar>& optimizer, bool minibatches = false) {
  return usual_rehearsal(optimizer, minibatches);  // as long as its losses take to settle
}

/// When and how to teleport. A symmetry needs a schedule, which may be `never()`; with neither
/// there are no teleports.
template <Real Scalar>
struct Teleportation {
  const BasicSymmetry<Scalar>* symmetry = nullptr;
  const Search* search = nullptr;  ///< null: the best for the symmetry (AutoSearch)
  Schedule schedule{};
  StatePolicy state = StatePolicy::keep;
  /// Unset: `default_objective`.
  std::optional<ObjectiveKind> objective = std::nullopt;
  const TeleportObjective* own_objective = nullptr;        ///< see CriterionOptions
  double bound = std::numeric_limits<double>::infinity();  ///< see CriterionOptions
  /// See CriterionOptions. Unset in rehearsed mini-batches with `predicted_decrease`:
  /// `minibatch_cap`.
  std::optional<double> cap = std::nullopt;
  /// Largest accepted drift of the loss; 0: 1e-8 in double, 1e-4 in float, and any for a symmetry
  /// that is not loss-invariant.
  double drift_tolerance = 0.0;
  /// Steps that are tried with and without a teleport before it is committed, at most up to the
  /// next teleport; for an optimizer that remembers gradients for long (`forgets`), up to the end
  /// of the run, and up to `longest_rehearsal` times as many while the lead is small; see
  /// `rehearse`. Unset: `rehearsal_of`. 0: none, the next step alone decides. With a rehearsal, a
  /// run whose losses rise (see `rollback_multiple`) goes back to before the accepted teleport that
  /// began at the lowest loss (should they rise again, to before the first) and makes plain steps
  /// from there. What it took back counts as refused. Nor does it end above the loss at which that
  /// teleport began, or in mini-batches above `rollback_multiple` times that: it ends there
  /// instead.
  std::optional<Index> rehearsal = std::nullopt;
  double pays_for = 0.0;  ///< see CriterionOptions; an automatic schedule has its own
  /// Asked often during a search and a rehearsal, which may take far longer than a step. Where it
  /// says no, the teleport is given up: the run ends as `interrupted`, with a checkpoint from
  /// before it, so that a resumed run makes the same teleport.
  KeepGoing keep_going{};
};

/// The steps that a run rehearses: where the plan does not say, `usual_rehearsal`, but none with an
/// automatic schedule, which may cost next to nothing, and none where the search accepts what it
/// finds without comparing it.
template <Real Scalar>
Index rehearsal_of(const Teleportation<Scalar>& plan, const BasicOptimizer<Scalar>& optimizer,
                   bool minibatches = false) {
  if (plan.rehearsal) return *plan.rehearsal;
  const bool compared = !plan.search || plan.search->compares();
  return compared && !plan.schedule.automatic() ? usual_rehearsal(optimizer, minibatches) : 0;
}

/// The objective when none is given: `decrement` for an optimizer that finds its own rate,
/// otherwise `predicted_decrease`.
template <Real Scalar>
ObjectiveKind default_objective(const BasicOptimizer<Scalar>& optimizer) {
  return optimizer.automatic_rate() ? ObjectiveKind::decrement : ObjectiveKind::predicted_decrease;
}

/// One teleport of w inside a run, with the optimizer's state: makes the orbit, searches with the
/// optimizer's next step in view, commits or refuses, and applies the state policy. Where the
/// symmetry has no orbit, the certificate is a refused one with its reason. With steps in the
/// outlook the teleport is rehearsed first, and one at rounding level is refused. With a monitoring
/// set in it, the certificate of a symmetry that is bound to a batch says what the teleport did to
/// the loss there. Throws Interrupted, with w and the state as they were, when the plan's
/// `keep_going` says no.
template <Real Scalar>
Certificate teleport_in_training(const BasicObjective<Scalar>& objective,
                                 const BasicOptimizer<Scalar>& optimizer, double learning_rate,
                                 const Teleportation<Scalar>& plan, Random& random,
                                 OptimizerState<Scalar>& state, Out<Scalar> w,
                                 const Outlook<Scalar>& outlook = {});

}  // namespace symport
