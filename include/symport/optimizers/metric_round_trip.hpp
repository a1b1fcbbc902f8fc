// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "symport/core/workspaces.hpp"
#include "symport/objectives/weight_inputs.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/objective_bound.hpp"
#include "symport/optimizers/optimizer.hpp"

namespace symport {

struct MetricRoundTripOptions {
  /// lambda in units of the mean of the eigenvalues that can be non-zero. Larger is safer and
  /// nearer to plain gradient descent. Unset: 0.1, and for factor pairs 0.001, falling with the
  /// loss.
  std::optional<double> damping = std::nullopt;
  /// Steps between two checks of theta; 0: never. See below.
  Index check_every = 32;
};

/// Gradient descent, with momentum or with measured steps, in the metric that white inputs of the
/// batch at hand give to every weight (docs/round_trips.md): the rule sees
///
///   u = G (h h' + lambda I)^-1   of the summed loss
///
/// in place of the gradient G, where h are the batch's inputs with their row of ones, if any; for a
/// factor pair, the other factor. What the rule remembers refers to u. The learning rate is theta,
/// which has no unit: for squared errors, theta = 1 in one layer is Newton's step on the outputs.
///
/// Theta need not be tuned: at each of the first `check_every` steps, at every `check_every`th
/// after that, and when the loss is half as large again as its running mean, it is halved until a
/// step lowers the loss of the batch at hand (with momentum, until the sum of the steps that this u
/// will cause does), and it recovers by doubling. When the running mean is half as large again as
/// the first loss, theta is halved for good and the parameters go back to where the mean was
/// lowest. A rule that measures its steps (CurvatureDescent) takes theta = <G, u> / u'Hu with
/// backtracking.
///
/// A step costs what one of the rule costs, plus some n x n matrices.
template <Real Scalar = double>
class MetricRoundTrip final : public BasicOptimizer<Scalar>, public ObjectiveBound<Scalar> {
 public:
  /// Throws InvalidArgument for options out of range, and for a rule whose steps do not grow with
  /// the gradient: RoundTrip is for those.
  explicit MetricRoundTrip(std::shared_ptr<const FirstOrderOptimizer<Scalar>> rule,
                           const MetricRoundTripOptions& options = {});
  explicit MetricRoundTrip(std::shared_ptr<const CurvatureDescent<Scalar>> measured,
                           const MetricRoundTripOptions& options = {});

  /// The theta to use where none is given: 0.3 for networks, 0.25 for factor pairs, divided by the
  /// rule's amplification.
  double usual_rate(const BasicObjective<Scalar>& objective) const;
  /// What was given, or else what this objective has.
  double damping(const BasicObjective<Scalar>& objective) const;
  /// u <- what the next step from w would see in place of the gradient. The state remembers it.
  void direction(const BasicObjective<Scalar>& objective, const MeasuredPoint<Scalar>& here,
                 In<Scalar> w, OptimizerState<Scalar>& state, Out<Scalar> u) const;

  std::string_view name() const override { return rule().name(); }
  /// The rule's buffers, then `traces` (the largest of the layers' h h' or, of a factor pair, the
  /// largest loss) and those of the checks: `theta_...` and `best_point`.
  OptimizerState<Scalar> init(Index dimension) const override;
  bool uses_states() const override { return true; }
  StepOutcome step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
  double preview_evaluations(Index) const override { return 1.0; }
  bool automatic_rate() const override { return measured_ != nullptr; }
  /// Without gradient or u in memory where no check is due.
  double minibatch_step(const BatchObjective<Scalar>& objective, double learning_rate,
                        OptimizerState<Scalar>& state, Out<Scalar> w,
                        double* evaluations = nullptr) const override;
  /// Networks and factor pairs.
  void require_fit(const BasicObjective<Scalar>& objective) const override;

 private:
  struct Workspace {
    MatrixOf<Scalar> square, kernel, mapped;
    VectorOf<Scalar> u, candidate;
  };

  const BasicOptimizer<Scalar>& rule() const;
  /// own.square <- the Cholesky factor of the smaller of h h' and h'h, plus lambda, for h of layer
  /// m. False where there is nothing to learn from, or the run has diverged.
  bool factorize(const MlpObjective<Scalar>& mlp, Index m, const MatrixOf<Scalar>& h,
                 OptimizerState<Scalar>& state, Workspace& own) const;
  /// own.mapped <- (h h' + lambda I)^-1 h, for the summed loss.
  void map(const MlpObjective<Scalar>& mlp, Index m, const MatrixOf<Scalar>& h,
           OptimizerState<Scalar>& state, Workspace& own) const;
  void network_direction(const MlpObjective<Scalar>& mlp, const MeasuredPoint<Scalar>& here,
                         OptimizerState<Scalar>& state, Workspace& own, Out<Scalar> u) const;
  void pair_direction(const BasicObjective<Scalar>& objective, const MeasuredPoint<Scalar>& here,
                      In<Scalar> w, OptimizerState<Scalar>& state, Workspace& own,
                      Out<Scalar> u) const;
  StepOutcome measured_step(const BasicObjective<Scalar>& objective,
                            const MeasuredPoint<Scalar>& here, double learning_rate,
                            OptimizerState<Scalar>& state, Workspace& own, Out<Scalar> w) const;

  std::shared_ptr<const FirstOrderOptimizer<Scalar>> rule_;   ///< or
  std::shared_ptr<const CurvatureDescent<Scalar>> measured_;  ///< this, and the other is null
  MetricRoundTripOptions options_;
  std::size_t buffers_ = 0;  ///< of the rule; `traces` follows
  mutable Workspaces<Workspace> workspaces_;
};

}  // namespace symport
