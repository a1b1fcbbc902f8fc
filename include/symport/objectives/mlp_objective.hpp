// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "symport/core/workspaces.hpp"
#include "symport/objectives/batch_objective.hpp"
#include "symport/objectives/mlp.hpp"
#include "symport/objectives/mlp_states.hpp"

namespace symport {

/// The loss of a network on one batch, as a function of the flat parameter vector.
///
/// With delta_m = dL/dz_m, the gradient in [W_m b_m] is delta_m h_(m-1)'. Columns are samples. The
/// batch is copied. Every evaluation borrows a workspace that the object keeps, in which nothing is
/// allocated while the number of samples stays the same; each thread that evaluates at the same
/// time has its own.
///
/// Cost in products with W_m per layer (one fewer for W_1 in each backward pass): value 1, gradient
/// 3, Hessian-vector product 7, curvature along a direction 4.
template <Real Scalar>
class MlpObjective final : public BatchObjective<Scalar> {
 public:
  /// Without a batch: every evaluation throws std::logic_error until `bind`.
  MlpObjective(Mlp network, Loss loss);
  MlpObjective(Mlp network, Loss loss, MatrixIn<Scalar> X, const Targets<Scalar>& targets);

  /// Throws InvalidArgument when shapes do not fit the network or a number is not finite.
  void bind(MatrixIn<Scalar> X, const Targets<Scalar>& targets) override;
  Index samples() const override { return inputs_.cols(); }
  std::unique_ptr<BatchObjective<Scalar>> clone() const override;
  Loss::Reduction reduction() const override { return loss_.reduction(); }
  const ParameterLayout& layout() const override { return network_.layout(); }
  /// The same network and loss on some of the samples.
  MlpObjective subset(const std::vector<Index>& samples) const;

  const Mlp& network() const { return network_; }
  const Loss& loss() const { return loss_; }
  /// h_0: X, with its row of ones below if the network has biases.
  const MatrixOf<Scalar>& inputs() const { return inputs_; }
  const Targets<Scalar>& targets() const { return targets_; }

  Index dimension() const override { return network_.parameters(); }
  double value(In<Scalar> w) const override;
  double gradient(In<Scalar> w, Out<Scalar> gradient) const override;
  /// Exact (Pearlmutter's R-operator).
  void hessian_vector(In<Scalar> w, In<Scalar> v, Out<Scalar> result) const override;
  /// v' H(w) v, in a forward pass only.
  double curvature(In<Scalar> w, In<Scalar> v) const override;
  /// From the Hessian in factors, where the batch is small enough for this to be cheaper.
  std::unique_ptr<LocalCurvature<Scalar>> local_curvature(
      In<Scalar> w, KnownGradient<Scalar> known) const override;
  /// Those of every layer, without the row of ones.
  void weight_inputs(In<Scalar> w, const UseInputs<Scalar>& use) const override;
  const MlpObjective* mlp() const override { return this; }

  Score score(In<Scalar> w) const override;
  Score score(In<Scalar> w, Out<Scalar> gradient) const override;
  /// Rank-n updates in place, without a gradient in memory.
  double gradient_step(Out<Scalar> w, double learning_rate) const override;
  /// Pieces that stay in the cache, from all threads of the ThreadScope; the gradient is never in
  /// memory as a whole.
  double gradient_ranges(
      In<Scalar> w, const std::function<void(Index first, In<Scalar> range)>& use) const override;
  /// The same with others in place of the inputs: `inputs(m, h)` is told h_(m-1) and gives what
  /// delta_m is multiplied with in the pieces of layer m, which come from the last to the first.
  using MapInputs = std::function<const MatrixOf<Scalar>&(Index m, const MatrixOf<Scalar>& h)>;
  double gradient_ranges(In<Scalar> w, const MapInputs& inputs,
                         const std::function<void(Index first, In<Scalar> range)>& use) const;

  /// z_p, outputs x samples.
  MatrixOf<Scalar> outputs(In<Scalar> w) const;
  /// The fraction of the samples whose largest output is that of their class. Throws
  /// std::logic_error for targets that are not classes.
  double accuracy(In<Scalar> w) const;

  /// states <- h and z of the batch at w.
  void forward(In<Scalar> w, MlpStates<Scalar>& states) const;
  /// The same and delta: a gradient without its matrices. Returns L(w).
  double backpropagate(In<Scalar> w, MlpStates<Scalar>& states) const;
  /// The same, and gradient <- dL/dw.
  double gradient(In<Scalar> w, Out<Scalar> gradient, MlpStates<Scalar>& states) const;
  /// kernel <- h_0'h_0 or, where that is smaller, h_0 h_0'. It is kept for as long as the batch.
  void input_kernel(MatrixOf<Scalar>& kernel) const;
  /// h_m of the states, 0 <= m < p.
  const MatrixOf<Scalar>& h(Index m, const MlpStates<Scalar>& states) const {
    return m == 0 ? inputs_ : states.h[static_cast<std::size_t>(m)];
  }

 private:
  using Matrices = std::vector<MatrixOf<Scalar>>;

  /// What an evaluation writes to. Only the kernel of the inputs outlives a call.
  struct Workspace {
    MlpStates<Scalar> states;
    Matrices Rh, Rz, Rdelta;  ///< for second derivatives only
    MatrixOf<Scalar> bend;
    /// A product's bytes depend on the number of threads.
    MatrixOf<Scalar> input_kernel;
    Index kernel_batch = 0;  ///< the `batch_` that it belongs to
    int kernel_threads = 0;
  };
  using Loan = typename Workspaces<Workspace>::Loan;

  void require_batch() const;
  double value(In<Scalar> w, MlpStates<Scalar>& states) const;
  /// delta_p <- dL/dz_p; returns L.
  double loss_delta(MlpStates<Scalar>& states) const;
  /// delta_(m-1) <- sigma'(z_(m-1)) * W_m' delta_m.
  void backward(Index m, In<Scalar> w, MlpStates<Scalar>& states) const;
  /// The pieces of left right' (layer m) for `gradient_ranges`.
  void product_ranges(Index m, const MatrixOf<Scalar>& left, const MatrixOf<Scalar>& right,
                      const std::function<void(Index, In<Scalar>)>& use) const;
  /// own.states <- h and z at w; own.Rh, own.Rz <- their derivatives along v.
  void forward_along(In<Scalar> w, In<Scalar> v, Workspace& own) const;
  /// Of outputs; NaN without classes.
  double accuracy_of(const MatrixOf<Scalar>& Z) const;

  Mlp network_;
  Loss loss_;
  MatrixOf<Scalar> inputs_;
  Targets<Scalar> targets_;
  Index batch_ = 0;  ///< how often one was bound
  mutable Workspaces<Workspace> workspaces_;
};

}  // namespace symport
