// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "symport/core/workspaces.hpp"
#include "symport/objectives/mlp.hpp"
#include "symport/objectives/weight_inputs.hpp"
#include "symport/optimizers/optimizer.hpp"

namespace symport {

/// What a round trip keeps.
enum class Length {
  kept,    ///< inputs keep their mean square, so that the learning rate keeps its meaning
  metric,  ///< nothing: with power 1/2 the step of gradient descent is G (A + lambda I)^-1
};

std::string_view to_string(Length length);

struct RoundTripOptions {
  Length length = Length::kept;
  /// 1/2 makes inputs white, 0 leaves them as they are. Unset: 1/4, and half of that for rules
  /// whose steps grow with the gradient, which the gauge multiplies twice; 1/2 for `metric`.
  std::optional<double> power = std::nullopt;
  /// Of weights that are given data, where white inputs learn faster and generalise worse. Unset:
  /// 0, and 1/2 for `metric`.
  std::optional<double> data_power = std::nullopt;
  double damping = 0.1;
  Index refresh = 10;  ///< steps from one gauge to the next, after the first few
  Index rows = 256;    ///< of the inputs that are looked at in a step; 0: all
};

/// Lets any first-order rule take its steps in a borrowed gauge (docs/round_trips.md). A weight W
/// multiplies inputs h whose second moment is A, a running mean over steps. With
///
///   g = c (A + lambda I)^-power,   lambda = (damping + d / rows seen) tr(A) / d,
///
/// the same layer is (W g^-1)(g h). The rule sees the gradient G g there, its step D comes back as
/// W <- W + D g, and W itself is never rewritten. Its learning rate and its weight decay keep their
/// meaning.
///
/// Networks say what their weights multiply, an own model does so in `weight_inputs`. What a rule
/// remembers of gradients lives in the gauge and moves with it; squares stay.
///
/// A step costs, beyond that of the rule, two products with g for every weight in a gauge (one with
/// n columns for rules like momentum), and an eigenvalue problem every `refresh` steps. Own models
/// pay another half of a gradient for their inputs.
template <Real Scalar = double>
class RoundTrip final : public BasicOptimizer<Scalar> {
 public:
  /// Throws InvalidArgument for options out of range.
  explicit RoundTrip(std::shared_ptr<const FirstOrderOptimizer<Scalar>> rule,
                     const RoundTripOptions& options = {});

  std::string_view name() const override { return rule_->name(); }
  double power() const { return hidden_power_; }  ///< of hidden layers

  /// The rule's buffers, then `gauges`, which the first step makes. Moments are written in gauges
  /// that no teleport knows: where the weights teleport too, the plan needs the policy `reset`.
  OptimizerState<Scalar> init(Index dimension) const override;
  bool uses_states() const override { return true; }
  StepOutcome step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
  double minibatch_step(const BatchObjective<Scalar>& objective, double learning_rate,
                        OptimizerState<Scalar>& state, Out<Scalar> w,
                        double* evaluations = nullptr) const override;
  double preview_evaluations(Index) const override { return 1.0; }
  double amplification() const override { return rule_->amplification(); }
  bool forgets() const override { return rule_->forgets(); }

 private:
  /// A weight that steps in a gauge.
  struct Weight {
    Index first, outputs, inputs;
    double power;
    Index numbers;  ///< where those of its gauge begin
    Index size() const { return outputs * inputs; }
  };
  struct Workspace {
    VectorOf<Scalar> gradient, zero, u;
    MatrixOf<Scalar> sample, mapped, product;
  };

  /// A weight with inputs of that kind, if they have a gauge, whose numbers begin at `next`.
  std::optional<Weight> place(Index first, Index outputs, Index inputs, InputKind kind,
                              Index& next) const;
  /// W_m of a network at number m - 1.
  std::vector<std::optional<Weight>> weights_of(const Mlp& network) const;
  /// Makes room in `gauges` at the first step.
  void prepare(const std::vector<std::optional<Weight>>& weights,
               OptimizerState<Scalar>& state) const;
  /// Brings the gauge of a weight up to date, and what the rule remembers with it.
  void see(const Weight& weight, const Eigen::Ref<const MatrixOf<Scalar>>& h,
           OptimizerState<Scalar>& state, Workspace& own) const;
  /// own.gradient <- that in the gauge.
  void enter(const Weight& weight, OptimizerState<Scalar>& state, Workspace& own) const;
  /// w <- w + D g, where own.gradient is that in the gauge.
  void step_weight(const Weight& weight, double learning_rate, OptimizerState<Scalar>& state,
                   Workspace& own, Out<Scalar> w) const;
  double network_step(const MlpObjective<Scalar>& mlp, double learning_rate,
                      OptimizerState<Scalar>& state, Out<Scalar> w) const;

  std::shared_ptr<const FirstOrderOptimizer<Scalar>> rule_;
  RoundTripOptions options_;
  double hidden_power_ = 0.0, data_power_ = 0.0;
  mutable Workspaces<Workspace> workspaces_;
};

}  // namespace symport
