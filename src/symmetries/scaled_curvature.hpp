// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/objectives/mlp_objective.hpp"

namespace symport {

/// Phi of a network with rescaled hidden units, for many scales at one w.
///
/// Phi = v'H v at w with V_m = D_m^-2 G_m D_(m-1)^2, D_m = diag(s) of hidden layer m and 1
/// elsewhere (see LinearOrbit), and G_m = delta_m h_(m-1)' has the rank of the batch. So in
///   r_m = V_m h_(m-1) + W_m R_(m-1),    R_m = sigma' r_m
///   s_m = 2 V_m R_(m-1) + W_m S_(m-1),  S_m = sigma' s_m   (sigma'' = 0, so s_1 = 0)
///   Phi = <r_p, L'' r_p> + <delta_p, s_p>
/// the products with V_m go through samples x samples matrices: W_1 is not read at all, W_2 once,
/// every other W_m twice.
template <Real Scalar>
class ScaledCurvature {
 public:
  /// Keeps a copy of the states; the objective's last call must have been `gradient`, and its
  /// activation piecewise linear. The objective must outlive this object.
  explicit ScaledCurvature(const MlpObjective<Scalar>& objective);

  /// Phi at the scales of w, the parameters of that gradient.
  double operator()(In<Scalar> w, const std::vector<Vector>& scales);
  /// The work of one call, in gradients.
  double cost() const { return cost_; }

 private:
  using Matrices = std::vector<MatrixOf<Scalar>>;

  const MlpObjective<Scalar>& objective_;
  // Index m is layer m. RS_ holds [R_m S_m] side by side.
  Matrices h_, slope_, delta_, RS_;
  MatrixOf<Scalar> outputs_;
  double cost_ = 0.0;
};

}  // namespace symport
