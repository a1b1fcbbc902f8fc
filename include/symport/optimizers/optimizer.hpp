// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "symport/objectives/batch_objective.hpp"
#include "symport/optimizers/measured_point.hpp"
#include "symport/optimizers/optimizer_state.hpp"

namespace symport {

struct StepOutcome {
  bool moved = true;         ///< false: no acceptable step exists here (w is unchanged)
  double rate = 0.0;         ///< the learning rate that was used
  double evaluations = 0.0;  ///< beyond the gradient that was passed in, in gradients
  /// The step ended where the optimizer had measured already: `here` is now the new w, which the
  /// caller need not measure. The cost of that is not in `evaluations`.
  bool measured = false;
};

/// An optimizer: a rule with options, and explicit state that the caller owns, so that runs on
/// several threads may share one.
template <Real Scalar>
class BasicOptimizer {
 public:
  virtual ~BasicOptimizer() = default;

  virtual std::string_view name() const = 0;
  virtual OptimizerState<Scalar> init(Index dimension) const = 0;
  /// here <- what `step` needs to know at w: one gradient.
  void measure(const BasicObjective<Scalar>& objective, In<Scalar> w,
               MeasuredPoint<Scalar>& here) const;
  /// Whether `measure` keeps the states of a network.
  virtual bool uses_states() const { return false; }
  /// One step, w <- w - u, from what `measure` found at w.
  virtual StepOutcome step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                           double learning_rate, OptimizerState<Scalar>& state,
                           Out<Scalar> w) const = 0;
  /// u <- the step that `step` would take at w, with the state untouched. The default takes it with
  /// a copy of the state.
  virtual void preview(const BasicObjective<Scalar>& objective, In<Scalar> w, In<Scalar> gradient,
                       double learning_rate, const OptimizerState<Scalar>& state,
                       Out<Scalar> u) const;
  /// What one preview evaluates beyond the gradient that is passed in, in gradients.
  virtual double preview_evaluations(Index /*dimension*/) const { return 0.0; }
  /// u is exactly learning_rate * gradient, so J and Phi say everything about the next step.
  virtual bool plain_gradient_step() const { return false; }
  /// What a constant gradient is multiplied by in the long run, in addition to the learning rate:
  /// 1/(1 - mu) with momentum mu. 0 where steps do not grow with the gradient, as in Adam.
  virtual double amplification() const { return 0.0; }
  /// Whether what a gradient does to the steps fades within some tens of them. Where it does not,
  /// as with the squares that AdaGrad, RMSprop and Adam gather, a steep point slows many steps
  /// after it.
  virtual bool forgets() const { return true; }
  /// The optimizer finds its own step length (`--lr auto`); the learning rate is a first guess.
  virtual bool automatic_rate() const { return false; }

  /// One step on the bound batch: what `gradient` and `step` would do, to rounding, without the
  /// gradient in memory where the optimizer allows it. Returns the loss before the step;
  /// `evaluations`, if given, becomes what it cost in gradients.
  virtual double minibatch_step(const BatchObjective<Scalar>& objective, double learning_rate,
                                OptimizerState<Scalar>& state, Out<Scalar> w,
                                double* evaluations = nullptr) const;
};

using Optimizer = BasicOptimizer<double>;

/// What an optimizer remembers about some consecutive parameters.
template <Real Scalar>
class StateRange {
 public:
  StateRange(OptimizerState<Scalar>& state, Index first, Index size)
      : state_(state), first_(first), size_(size) {}

  Index count() const { return state_.count; }  ///< steps made before this one
  Index first() const { return first_; }        ///< of all parameters, where the range begins
  Index size() const { return size_; }
  /// The range of `size` parameters that begins with entry `offset` of this one.
  StateRange part(Index offset, Index size) const { return {state_, first_ + offset, size}; }
  /// The part for this range of the buffer that `init` added as number i, from 0: an optimizer
  /// knows the order of its buffers and looks up no names while it steps.
  Eigen::Map<VectorOf<Scalar>> operator[](std::size_t i) const {
    return {state_.buffers[i].values.data() + first_, size_};
  }

 private:
  OptimizerState<Scalar>& state_;
  Index first_, size_;
};

/// An optimizer whose step depends only on the gradient, its own state and, by decoupled decay, on
/// w. Most do so entry by entry: a step may therefore be made range by range, while a piece of the
/// gradient is still in the cache, and on several threads.
template <Real Scalar>
class FirstOrderOptimizer : public BasicOptimizer<Scalar> {
 public:
  /// Advances the state of some consecutive parameters by their gradient and fills u. All vectors
  /// are of the same range.
  virtual void update(In<Scalar> w, In<Scalar> gradient, double learning_rate,
                      const StateRange<Scalar>& state, Out<Scalar> u) const = 0;

  /// Whether an entry of the step depends on that entry of everything else only. Where it does not,
  /// as in Muon, a range is one or more whole slots of the rule's layout, one after the other, and
  /// is updated at once.
  virtual bool entry_by_entry() const { return true; }
  /// The step contains learning_rate * decoupled_decay(first) * w, and depends on w in no other
  /// way. It may differ from slot to slot: this is that of the slot that begins at `first`.
  virtual double decoupled_decay(Index /*first*/) const { return 0.0; }
  /// Is told when moments were moved to other coordinates while squares stayed: makes them such as
  /// gradients could have left, so that no step is longer than one of those.
  virtual void bound_moments(const StateRange<Scalar>& /*state*/) const {}

  /// The step of the parameters first, first + 1, ... whose gradient is given. When all have been
  /// stepped once, in any order, `++state.count` ends the step.
  void step_range(Index first, In<Scalar> gradient, double learning_rate,
                  OptimizerState<Scalar>& state, Out<Scalar> w) const;

  StepOutcome step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
  void preview(const BasicObjective<Scalar>& objective, In<Scalar> w, In<Scalar> gradient,
               double learning_rate, const OptimizerState<Scalar>& state,
               Out<Scalar> u) const override;
  double minibatch_step(const BatchObjective<Scalar>& objective, double learning_rate,
                        OptimizerState<Scalar>& state, Out<Scalar> w,
                        double* evaluations = nullptr) const override;
};

}  // namespace symport
