// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "symport/objectives/mlp_objective.hpp"

namespace symport {

/// The Hessian H of a network's loss at one point w, in factors as thin as the batch.
///
/// H maps every vector to one whose block in W_m is A_m h_(m-1)' + delta_m C_m', with A_m (d_m x n)
/// and C_m (d_(m-1) x n, C_1 = 0); the gradient is of that form too, with A_m = delta_m. So
/// Lanczos' method from the gradient never leaves these blocks V_m and works on their factors, (H1)
/// to (H4) of docs/mathematics/networks.md:
///
///   P_m = V_m h_(m-1) = A_m K_(m-1) + delta_m (C_m'h_(m-1)),    K_m = h_m'h_m
///   Q_m = V_m'delta_m = h_(m-1) (A_m'delta_m) + C_m Delta_m,    Delta_m = delta_m'delta_m
///   <V, V~> = sum_m <A_m, P~_m> + <C_m, Q~_m>
///   H V:  r_m = P_m + W_m C_m with C_(m+1) = sigma' r_m forwards,  A_p = L'' r_p,
///         A_(m-1) = sigma' (Q_m + W_m'A_m) + sigma'' r_(m-1) B_(m-1) backwards,  B_(m-1) =
///         W_m'delta_m
///
/// One product H V takes two products of n columns with each of W_2 ... W_p and none with W_1,
/// instead of the seven of `MlpObjective::hessian_vector`.
template <Real Scalar>
class MlpHessian {
 public:
  /// Evaluates the states at w. Objective and w must outlive this object.
  MlpHessian(const MlpObjective<Scalar>& objective, In<Scalar> w);

  /// (H6): the Hessian at s.w instead, where row i of [W_m b_m] is s_i times and column i of
  /// W_(m+1) 1/s_i times that of w, with s = scales[m-1] for hidden layer m: nothing is evaluated,
  /// as h_m and delta_m become s times and 1/s times themselves. The activation must be piecewise
  /// linear.
  MlpHessian(const MlpHessian& at_w, const std::vector<Vector>& scales);

  /// Whether the factors have fewer entries than w, so that this way is the cheaper one.
  static bool worthwhile(const MlpObjective<Scalar>& objective);

  /// The largest Ritz value of at most `iterations` Lanczos steps from the gradient: a lower bound
  /// of the largest eigenvalue. Ends earlier when the residual of its Ritz vector is below
  /// `tolerance` of the value (some eigenvalue is then that near; the error of the value is of
  /// second order in it). Nothing when the Krylov space ends before (the gradient has a part in few
  /// eigenspaces): the value then says too little.
  std::optional<double> largest_eigenvalue(Index iterations, double tolerance);
  /// J_a = |g_a|^2 and M_ab = <g_a, H g_b> of the parts g_a of the gradient in layers a = 1 ... p
  /// (weights and biases): one product each.
  struct Blocks {
    Vector J;
    Matrix M;
  };
  Blocks gradient_blocks();
  /// Products H V made so far.
  Index products() const { return products_; }

  /// L(w - learning_rate dL/dw), (H5), reading W_2 ... W_p once.
  double next_loss(double learning_rate) const;

 private:
  using Matrices = std::vector<MatrixOf<Scalar>>;
  using Map = Eigen::Map<MatrixOf<Scalar>>;
  using ConstMap = Eigen::Map<const MatrixOf<Scalar>>;

  Index layers() const { return network_.layers(); }
  /// Where A_m (or P_m) and C_m (or Q_m) stand in a flat vector of factors.
  Map first(Index m, Scalar* x) const;
  Map second(Index m, Scalar* x) const;
  ConstMap first(Index m, const Scalar* x) const;
  ConstMap second(Index m, const Scalar* x) const;

  /// Y <- W_m X + Y and W_m'X + Y at the scales
  void add_times(Index m, MatrixIn<Scalar> X, MatrixOut<Scalar> Y) const;
  void add_transposed_times(Index m, MatrixIn<Scalar> X, MatrixOut<Scalar> Y) const;
  /// image <- (P, Q) of the factors (A, C), (H2)
  void apply_metric(const Scalar* factors, Scalar* image);
  /// factors <- those of H V, for V with the image (P, Q), (H4)
  void apply_hessian(const Scalar* image, Scalar* factors);

  const Mlp& network_;
  const MlpObjective<Scalar>& objective_;
  const Scalar* w_;
  Index samples_;
  Index size_ = 0;  ///< of a flat vector of factors
  Index products_ = 0;
  std::vector<Index> first_, second_;
  // Index m is layer m; h_ with its row of ones, and h_[0] empty.
  Matrices h_, z_, delta_, slope_;
  Matrices bend_;  ///< sigma''(z_m) B_m; empty if piecewise linear
  Matrices K_, Delta_;
  std::vector<VectorOf<Scalar>> scales_;  ///< empty: 1
  Matrices r_;
  MatrixOf<Scalar> square_;
};

}  // namespace symport
