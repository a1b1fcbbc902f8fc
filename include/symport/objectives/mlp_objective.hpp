// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <vector>

#include "symport/objectives/loss.hpp"
#include "symport/objectives/mlp.hpp"
#include "symport/objectives/objective.hpp"

namespace symport {

/// The loss of a network on one batch, as a function of the flat parameter vector.
///
/// With delta_m = dL/dz_m, the gradient in [W_m b_m] is delta_m h_(m-1)'. Columns are samples. The
/// batch is copied into the object's own workspace and replaced by `bind`; nothing is allocated
/// while the number of samples stays the same. Because of that workspace an object serves one
/// thread at a time.
///
/// Cost in products with W_m per layer (W_1 spared one in each backward pass): value 1, gradient 3,
/// Hessian-vector product 7, curvature along a direction 4.
template <Real Scalar>
class MlpObjective final : public BasicObjective<Scalar> {
 public:
  /// Without a batch: every evaluation throws std::logic_error until `bind`.
  MlpObjective(Mlp network, Loss loss);
  MlpObjective(Mlp network, Loss loss, MatrixIn<Scalar> X, const Targets<Scalar>& targets);

  /// Goes over to another batch: X is features x samples. Throws InvalidArgument when shapes do not
  /// fit the network or a number is not finite; the old batch is then still bound.
  void bind(MatrixIn<Scalar> X, const Targets<Scalar>& targets);
  /// The same network and loss on some of the samples.
  MlpObjective subset(const std::vector<Index>& samples) const;

  const Mlp& network() const { return network_; }
  const Loss& loss() const { return loss_; }
  Index samples() const { return samples_; }
  /// h_0: X, with its row of ones below if the network has biases.
  const MatrixOf<Scalar>& inputs() const { return h_[0]; }
  const Targets<Scalar>& targets() const { return targets_; }

  Index dimension() const override { return network_.parameters(); }
  double value(In<Scalar> w) const override;
  double gradient(In<Scalar> w, Out<Scalar> gradient) const override;
  /// Exact (Pearlmutter's R-operator).
  void hessian_vector(In<Scalar> w, In<Scalar> v, Out<Scalar> result) const override;

  /// v' H(w) v, forward only.
  double curvature(In<Scalar> w, In<Scalar> v) const override;
  /// From the Hessian in factors, where the batch is so small that this is the cheaper way.
  std::unique_ptr<LocalCurvature<Scalar>> local_curvature(
      In<Scalar> w, KnownGradient<Scalar> known) const override;
  const MlpObjective* mlp() const override { return this; }
  /// w <- w - learning_rate dL/dw as rank-n updates in place, without a gradient in memory. Returns
  /// the loss before the step.
  double sgd_step(Out<Scalar> w, double learning_rate) const;

  /// Calls use(first, range) for consecutive pieces of dL/dw, which never stands in memory as a
  /// whole; range[0] is the derivative in w[first]. Each entry comes once, and when it comes w is
  /// no longer needed there: `use` may change it. Calls come from all threads of the pool at once,
  /// for different ranges. Returns the loss at w.
  double gradient_ranges(In<Scalar> w,
                         const std::function<void(Index first, In<Scalar> range)>& use) const;

  /// z_p, outputs x samples. The reference is good until the next call.
  const MatrixOf<Scalar>& outputs(In<Scalar> w) const;
  /// The part of the samples whose largest output is that of their class. Throws std::logic_error
  /// for targets that are not classes.
  double accuracy(In<Scalar> w) const;
  /// The same of the outputs that are there from the last evaluation (any but `bind`).
  double last_accuracy() const;

  /// All states of the batch at w: `h(m)` (with its row of ones) for m < p and `z(m)` for m >= 1.
  /// Good until the next call.
  void forward(In<Scalar> w) const;
  const MatrixOf<Scalar>& h(Index m) const { return h_[static_cast<std::size_t>(m)]; }
  const MatrixOf<Scalar>& z(Index m) const { return z_[static_cast<std::size_t>(m)]; }
  /// As `forward`, and `delta(m)` for m >= 1: a gradient without its matrices. Returns L(w).
  double backpropagate(In<Scalar> w) const;
  /// dL/dz_m, m >= 1, of the last `gradient` or `backpropagate`. Good until the next call.
  const MatrixOf<Scalar>& delta(Index m) const { return delta_[static_cast<std::size_t>(m)]; }

 private:
  using Matrices = std::vector<MatrixOf<Scalar>>;

  void require_batch() const;
  void resize(Index samples);
  /// delta_(m-1) <- sigma'(z_(m-1)) * W_m' delta_m.
  void backward(Index m, In<Scalar> w) const;
  /// The part of `gradient_ranges` in layer m.
  void layer_ranges(Index m, const std::function<void(Index, In<Scalar>)>& use) const;
  /// Fills Rz_, Rh_: the derivatives of z and h along v.
  void forward_along(In<Scalar> w, In<Scalar> v) const;

  Mlp network_;
  Loss loss_;
  Index samples_ = 0;
  Targets<Scalar> targets_;
  // Index m holds the state of layer m. h_ with the row of ones.
  mutable Matrices h_, z_, delta_;
  // Only for second derivatives; made when first needed.
  mutable Matrices Rh_, Rz_, Rdelta_;
  mutable MatrixOf<Scalar> bend_;
};

}  // namespace symport
