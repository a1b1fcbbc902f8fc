// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "symport/optimizers/optimizer.hpp"

namespace symport {

/// The steps that would follow a teleport, as far as a run knows them.
template <Real Scalar>
struct Outlook {
  Index steps = 0;     ///< to rehearse; 0: none
  Index most = 0;      ///< where `steps` leave it open; less than that: no more than `steps`
  Index horizon = 0;   ///< steps until the next teleport or the end of the run
  bool noisy = false;  ///< every step has a batch of its own, on which a single loss says little
  /// Of the i-th step from now, i = 0, 1, ...: the objective (of the batch that is its turn)
  /// and the learning rate. What an earlier call of `objective` returned is no longer used.
  std::function<const BasicObjective<Scalar>&(Index i)> objective{};
  std::function<double(Index i)> rate{};
  double gradient_cost = 1.0;  ///< of such an objective, in gradients of the teleport's
  /// The loss on a monitoring set, samples that a teleport which is bound to a batch does not know;
  /// null: there is none.
  std::function<double(In<Scalar> w)> monitor{};
  Index monitored = 0;        ///< its samples
  double monitor_cost = 0.0;  ///< of one such loss, in gradients of `objective`
};

/// Parameters and what the optimizer remembers there.
template <Real Scalar>
struct Branch {
  VectorOf<Scalar> w;
  OptimizerState<Scalar> state;
};

struct RehearsalOutcome {
  std::string objection;     ///< why not to teleport; empty: no objection
  double evaluations = 0.0;  ///< in gradients
};

/// Takes the steps of `outlook` from both branches before a teleport is committed.
///
/// The next step says little about the run: the steepest point of an orbit often lies on the wall
/// of a valley whose floor is flatter there. What tells is whether the teleported branch stays
/// ahead. With the losses a_i and b_i of the plain and of the teleported branch on the same batch,
/// its lead is l_i = log(a_i / b_i), or a_i - b_i over what the better branch has gained so far
/// where losses are negative. The teleport is refused when
///   - b_i is not finite, or above ten times both b_0 and a_i;
///   - the lead at the end of the steps is negative, or would be at the horizon if it went on as
///     in the second half: until the next teleport, or the end of the run, plain steps catch up;
///   - at any step of the second half b_i is above 2 a_i, or would be at the horizon: where losses
///     oscillate, the run may end at the wrong moment. (Not where the outlook is noisy.)
/// (Leads are means over a quarter of the steps, except in the last rule.) Steps beyond the horizon
/// are subject to the last rule only, since another teleport comes before them. Where the outlook
/// has a monitoring set, the teleport is also refused when its branch has the higher loss there
/// after the steps. A branch that is a thousand times lower within the first three steps, or in the
/// end, is accepted whatever the trend; so is any where plain steps diverge.
///
/// A rehearsal of `steps` leaves it open when the branch is not behind, nor ten times lower at
/// every step of the second half. Then it goes on, twice as long each time, up to `most`.
template <Real Scalar>
RehearsalOutcome rehearse(const Outlook<Scalar>& outlook, const BasicOptimizer<Scalar>& optimizer,
                          Branch<Scalar> plain, Branch<Scalar> teleported);

/// How many times as long a rehearsal may become where the optimizer remembers gradients for long
/// (BasicOptimizer::forgets).
inline constexpr Index longest_rehearsal = 4;

/// How many steps are enough to tell: 20 for gradient descent, 100 for an optimizer whose state has
/// to settle first. In mini-batches 40 for all: fewer say little about noisy steps, and more, with
/// a teleport in every epoch or several, would cost more than they save.
template <Real Scalar>
Index usual_rehearsal(const BasicOptimizer<Scalar>& optimizer, bool minibatches = false) {
  if (minibatches) return 40;
  return optimizer.plain_gradient_step() || optimizer.automatic_rate() ? 20 : 100;
}

}  // namespace symport
