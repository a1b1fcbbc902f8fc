// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "symport/optimizers/optimizer.hpp"

namespace symport {

struct RoundTripOptions {
  WhiteGaugeOptions gauge{};
  /// Steps between two checks of theta, see RoundTrip; 0: never.
  Index check_every = 32;
};

/// Round trips: turns an optimizer into one that steps in the white gauge of its objective
/// (docs/round_trips.md). The rule sees u = P dL/dw in place of the gradient, in the original
/// coordinates; its momentum, and whatever else it remembers, refers to u. The learning rate is
/// theta, which has no unit.
///
/// Two things make it unnecessary to tune theta. At each of the first `check_every` steps, at every
/// `check_every`th after that, and whenever the loss is half as large again as its running mean,
/// theta is halved until a step with it lowers the loss of the batch at hand (with momentum, until
/// the sum of the steps that this u will cause does), and it recovers by doubling. When the running
/// mean is half as large again as the first loss, and again whenever it has grown by as much, theta
/// is halved for good. And a rule that measures its steps (CurvatureDescent) takes
/// theta = <dL/dw, u> / u'Hu with backtracking.
///
/// Steps that do not grow with the gradient, such as Adam's, may raise the loss for a while and are
/// not checked so. In full batches, one that leads to a loss half as large again as the first, or
/// to none, is taken back; theta is halved for `check_every` steps, and the rule forgets its mean
/// gradient.
///
/// `step` costs two thirds of a gradient more than the rule's own, because it has to find the
/// states of the batch again. `measure` and `step_along`, which the loop of Algorithm 1 uses, avoid
/// this, and so does `minibatch_step`: there a step costs what an SGD step costs, plus some n x n
/// matrices.
template <Real Scalar = double>
class RoundTrip final : public BasicOptimizer<Scalar> {
 public:
  /// For objectives with the parameters of `objective`, which is not kept. Throws InvalidArgument
  /// when it has no white gauge, for a rule that uses more than the gradient (Newton), and for
  /// options out of range.
  RoundTrip(const BasicObjective<Scalar>& objective,
            std::shared_ptr<const BasicOptimizer<Scalar>> rule,
            const RoundTripOptions& options = {});

  const BasicOptimizer<Scalar>& rule() const override { return *rule_; }
  const RoundTripOptions& options() const { return options_; }
  /// The theta to use where none is given: the gauge's own divided by the rule's amplification. For
  /// rules like Adam, 1e-3 in mini-batches and 0.03 in full ones, where there is no noise to
  /// average out and a step too long is taken back.
  double usual_rate() const;
  double usual_full_batch_rate() const;

  std::string_view name() const override { return rule_->name(); }
  /// The rule's buffers, then `gauge` (its memory) and `theta` (of the checks).
  OptimizerState<Scalar> init(Index dimension) const override;
  StepOutcome step(const BasicObjective<Scalar>& objective, double loss, In<Scalar> gradient,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
  double preview_evaluations(Index) const override { return 1.0; }
  bool automatic_rate() const override { return rule_->automatic_rate(); }

  double measure(const BasicObjective<Scalar>& objective, In<Scalar> w,
                 const OptimizerState<Scalar>& state, Out<Scalar> gradient,
                 StepDirection<Scalar>& direction) const override;
  StepOutcome step_along(const StepDirection<Scalar>& direction,
                         const BasicObjective<Scalar>& objective, double loss, In<Scalar> gradient,
                         double learning_rate, OptimizerState<Scalar>& state,
                         Out<Scalar> w) const override;
  bool may_take_back() const override;
  bool takes_back(double loss, OptimizerState<Scalar>& state) const override;
  /// Without gradient or u in memory where no check is due.
  double minibatch_step(const BatchObjective<Scalar>& objective, double learning_rate,
                        OptimizerState<Scalar>& state, Out<Scalar> w,
                        double* evaluations = nullptr) const override;

 private:
  const WhiteGauge<Scalar>& gauge_of(const BasicObjective<Scalar>& objective) const;
  bool check_is_due(const OptimizerState<Scalar>& state) const;
  /// The fraction of theta that lowers the loss at w; its cost is added to `evaluations`.
  void check(const BasicObjective<Scalar>& objective, double loss, In<Scalar> u, double theta,
             In<Scalar> w, OptimizerState<Scalar>& state, double& evaluations) const;
  void remember(double loss, OptimizerState<Scalar>& state) const;
  StepOutcome measured_step(const BasicObjective<Scalar>& objective, double loss,
                            In<Scalar> gradient, In<Scalar> u, double learning_rate,
                            OptimizerState<Scalar>& state, Out<Scalar> w) const;

  std::shared_ptr<const BasicOptimizer<Scalar>> rule_;
  RoundTripOptions options_;
  Index dimension_ = 0;
  Index memory_size_ = 0;
  double usual_theta_ = 0.0;  ///< of gradient descent
};

}  // namespace symport
