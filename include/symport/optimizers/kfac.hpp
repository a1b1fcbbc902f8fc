// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "symport/objectives/mlp_objective.hpp"
#include "symport/optimizers/optimizer.hpp"

namespace symport {

/// Where the factor of the outputs' side comes from.
enum class Fisher {
  sampled,    ///< targets drawn from the model at every step: one more backward pass
  exact,      ///< all of its targets: as many more backward passes as the network has outputs
  empirical,  ///< the targets of the batch: free, but not the Fisher matrix
};
std::string_view to_string(Fisher fisher);

struct KfacOptions {
  double damping = 0.03;  ///< lambda, in the unit of second derivatives of the mean loss
  double decay = 0.95;    ///< of the running averages, per step
  /// Steps between two inverses; the first ones after 1, 2, 4, ... steps. 0: every step in layers
  /// whose inverses cost no more than the batch, a^3 + g^3 <= n (a + g)^2 with orders a and g and n
  /// samples, and 10 elsewhere. Old inverses are what makes K-FAC diverge where weights change
  /// fast: at the start of a run, and after a teleport.
  Index refresh = 0;
  double momentum = 0.9;
  Fisher fisher = Fisher::sampled;
  /// kappa: a step is shortened so that eta^2 <U, dL/dW> stays below it (0: never).
  double kl_clip = 0.0;
  std::uint64_t seed = 0;  ///< of the sampled targets
};

/// K-FAC (Martens and Grosse, 2015): natural gradient with a Fisher matrix of Kronecker factors. In
/// every layer, with h its inputs (the row of ones included), delta = dL/dz for one sample, and
/// delta~ the same with targets from the model:
///
///   A <- e A + (1 - e) mean(h h'),   G <- e G + (1 - e) mean(delta~ delta~'),
///
///   U = (G + sqrt(lambda)/pi I)^-1 mean(delta h') (A + pi sqrt(lambda) I)^-1,
///
///   v <- momentum v + nu U,   [W b] <- [W b] - eta v,
///
/// with e = min(1 - 1/t, decay), pi^2 = (tr A / order of A) / (tr G / order of G), and nu = min(1,
/// sqrt(kappa / (eta^2 <U, dL/dW>))).
///
/// A round trip is the input side alone: A of the batch itself, and no G. Here as there a mean over
/// the samples is meant, whatever the reduction of the loss, so that eta has no unit: with lambda =
/// 0, eta = 1 is Gauss and Newton's step for one layer. Squared losses have the Gauss-Newton matrix
/// as their Fisher matrix (a model with Gaussian noise).
///
/// The factors belong to the coordinates that they were gathered in, and no formula moves them.
/// They start anew when the parameters are not where the last step left them: after a teleport,
/// whatever happens to the rest of the state.
template <Real Scalar = double>
class Kfac final : public BasicOptimizer<Scalar> {
 public:
  /// For objectives with this network. Throws InvalidArgument for an option out of range.
  explicit Kfac(Mlp network, const KfacOptions& options = {});

  std::string_view name() const override { return "kfac"; }
  /// `velocity` and `factors`: the steps made and since the last inverses, <U, dL/dW>, then A, G
  /// and both inverses of every layer. Throws InvalidArgument for another dimension than the
  /// network's.
  OptimizerState<Scalar> init(Index dimension) const override;
  bool uses_states() const override { return true; }
  /// Throws InvalidArgument, as `minibatch_step` does, when the objective is not a network of that
  /// shape.
  StepOutcome step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                   double learning_rate, OptimizerState<Scalar>& state,
                   Out<Scalar> w) const override;
  double preview_evaluations(Index dimension) const override;
  double minibatch_step(const BatchObjective<Scalar>& objective, double learning_rate,
                        OptimizerState<Scalar>& state, Out<Scalar> w,
                        double* evaluations = nullptr) const override;

 private:
  /// Backward passes beyond that of the gradient, in gradients.
  double more_passes() const;
  /// Throws InvalidArgument when it is not one of that shape.
  const MlpObjective<Scalar>& network_of(const BasicObjective<Scalar>& objective) const;
  /// Advances the factors by the states of the batch at w; u <- all U.
  void find_direction(const MlpObjective<Scalar>& mlp, In<Scalar> w,
                      const MlpStates<Scalar>& states, VectorOf<Scalar>& factors,
                      Out<Scalar> u) const;
  /// Adds the G of every layer, layer after layer, to `sums`: those of the batch's states.
  void output_factors(const MlpObjective<Scalar>& mlp, In<Scalar> w, Index step,
                      const MlpStates<Scalar>& states, std::vector<MatrixOf<Scalar>>& sums) const;
  void apply(In<Scalar> u, double learning_rate, OptimizerState<Scalar>& state,
             Out<Scalar> w) const;

  Mlp network_;
  KfacOptions options_;
  Index factors_size_ = 0;
};

}  // namespace symport
