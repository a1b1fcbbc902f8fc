// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "symport/objectives/mlp_objective.hpp"

namespace symport {

/// Norms of the gradient and Phi of a network with rescaled hidden units, for many scales at one w,
/// from the states of the batch alone: (R2) to (R7) of docs/mathematics/networks.md.
///
/// The gradient at the scales is G'_m = D_m^-1 G_m D_(m-1) with G_m = delta_m h_(m-1)', D_m =
/// diag(s) of hidden layer m and 1 elsewhere, and Phi = v'H v at w with V_m = D_m^-2 G_m D_(m-1)^2
/// (see LinearOrbit). All of them have the rank of the batch: with K_m = h_m' D_m^2 h_m the squared
/// norms of rows of G_m D_(m-1) are the diagonal of delta_m K_(m-1) delta_m', and in
///   r_m = V_m h_(m-1) + W_m R_(m-1),    R_m = sigma' r_m
///   s_m = 2 V_m R_(m-1) + W_m S_(m-1),  S_m = sigma' s_m   (sigma'' = 0, so s_1 = 0)
///   Phi = <r_p, L'' r_p> + <delta_p, s_p>
/// the products with V_m go through samples x samples matrices. W_1 is not read at all, and W_m for
/// m > 2 twice. W_2 meets R_1 = D_1^-2 Q with Q = sigma' (delta_1 K_0), which no scale enters: for
/// scales of layer 1 that take one value on each of two parts of it, W_2 D_1^-2 Q is a combination
/// of the two parts' products, made once. Neither do scales enter h_1' D_1^2 R_1 = h_1' Q.
template <Real Scalar>
class ScaledCurvature {
 public:
  /// `states` are those of `backpropagate`; the activation must be piecewise linear. The objective
  /// must outlive this object.
  ScaledCurvature(const MlpObjective<Scalar>& objective, MlpStates<Scalar> states);

  /// Divides hidden layer 1 for scales that are constant on each part; all of it is one at first.
  /// Units in neither must have no gradient in W_1.
  void set_parts(std::array<std::vector<Index>, 2> parts);
  /// s of hidden layer m; 1 at first.
  void set_scales(Index m, const Vector& s);
  /// Squared norms of the rows of G_m D_(m-1).
  Vector row_energies(Index m);
  /// Squared norms of the columns of D_(m+1)^-1 G_(m+1), without that of the biases; at scales 1
  /// above when `plain`.
  Vector column_energies(Index m, bool plain) const;
  /// That of the biases of the last layer.
  double last_bias_energy() const;
  /// Phi at the scales, w being the parameters of the states.
  double curvature(In<Scalar> w);
  /// The work of the last curvature, in gradients.
  double cost() const { return cost_; }

 private:
  using Matrices = std::vector<MatrixOf<Scalar>>;

  /// delta_m K_(m-1)
  const MatrixOf<Scalar>& product(Index m);
  /// What no scale enters.
  void need_constants();
  /// D_1^2 on the two parts, if it is constant on each.
  std::optional<std::array<Scalar, 2>> levels() const;
  /// r_2 <- r_2 + W_2 D_1^-2 Q
  void add_second(MatrixIn<Scalar> W, MatrixOut<Scalar> r);
  /// Multiplications per sample of a product with W_m, and of one of h_m or delta_m with a samples
  /// x samples matrix.
  double weights(Index m) const;
  double states(Index m) const;

  const MlpObjective<Scalar>& objective_;
  // Index m is layer m. RS_ holds [R_m S_m] side by side for m > 1, weighted_ D_m^2 h_m.
  Matrices h_, slope_, delta_, weighted_, product_, RS_;
  std::vector<bool> has_product_;
  std::vector<VectorOf<Scalar>> squares_;  ///< s^2
  MatrixOf<Scalar> outputs_;
  MatrixOf<Scalar> gram_, rs_;
  MatrixOf<Scalar> Q_, cross_;  ///< cross_ is 2 delta_2 (h_1' Q)
  std::array<std::vector<Index>, 2> parts_;
  MatrixOf<Scalar> part_products_;  ///< W_2 Q summed over each part, side by side
  double gradient_work_ = 0.0, cost_ = 0.0;
};

}  // namespace symport
