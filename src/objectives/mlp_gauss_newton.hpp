// SPDX-License-Identifier: MIT
#pragma once

#include "symport/objectives/gauss_newton.hpp"
#include "symport/objectives/mlp_objective.hpp"

namespace symport {

/// The Gauss-Newton form of a network's loss on its batch.
///
/// With z, y the outputs and the target of a sample, L'' = S S' its Hessian in z, and z' = dz/dw,
/// the rows of A for that sample are S'z', and c solves S c = dL/dz:
///
///   squares         L = s |z - y|^2 / 2    S = s^1/2 I             c = s^1/2 (z - y)
///   cross-entropy   p = softmax(z)         S = s^1/2 (D - p q')    c = s^1/2 (p - y) / q
///
/// where s is the factor of the loss, q = p^1/2 and D = diag(q), so that S S' = s (diag(p) - p p').
/// Row k n + j of A belongs to column k of S and sample j of n. The kernel is a sum over layers of
/// products of Gram matrices, <delta, delta'> <h, h'>: no row of A is formed for it.
template <Real Scalar>
class MlpGaussNewton final : public GaussNewton<Scalar> {
 public:
  /// `objective` must outlive this object and keep its batch.
  explicit MlpGaussNewton(const MlpObjective<Scalar>& objective) : objective_(objective) {}

  Index rows() const override { return outputs() * objective_.samples(); }
  bool least_squares() const override { return !objective_.loss().categorical(); }
  /// A backward pass for every output.
  double cost() const override { return static_cast<double>(outputs()); }
  void kernel(In<Scalar> w, Vector& c, Matrix& K) const override;
  void matrix(In<Scalar> w, Matrix& G) const override;
  void pull(In<Scalar> w, const Vector& x, Vector& result) const override;

 private:
  const Mlp& network() const { return objective_.network(); }
  Index outputs() const { return network().width(network().layers()); }
  /// Deltas of layer m - 1 from those of layer m, for any number of batches side by side.
  MatrixOf<Scalar> backward(Index m, In<Scalar> w, const MlpStates<Scalar>& states,
                            const MatrixOf<Scalar>& delta) const;

  const MlpObjective<Scalar>& objective_;
};

}  // namespace symport
