// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "symport/objectives/mlp_objective.hpp"
#include "symport/symmetries/orbit.hpp"

namespace symport {

/// The points that eq. (8) reaches (see `PaperAction`). One ascent step goes from weights W to W'
/// by T_1 ... T_(p-1); with A_1 = W_1, h_0 = X, for q = 1 ... p-1:
///
///   y_q = A_q h_(q-1)     h_q = (I + T_q) sigma(y_q)     z_q = sigma^-1(h_q)          (P1)
///   W'_q = z_q h_(q-1)+   A_(q+1) = W_(q+1) (I - T_q)     and W'_p = A_p
///
/// `aim` differentiates at T = 0, that is at W'(0), which is not W when there are fewer samples
/// than units (a slope's covector is taken as that at W'(0)); `move` has T = length E/|E|. The next
/// step starts from the weights that this one made.
template <Real Scalar>
class PaperOrbit final : public BasicOrbit<Scalar> {
 public:
  /// `mlp` is that of the objective, with a bijective activation. Both must outlive the orbit.
  PaperOrbit(const BasicObjective<Scalar>& objective, const MlpObjective<Scalar>& mlp,
             In<Scalar> w);

  double grad_sq() override;
  double curvature() override;
  double aim(const Slope& slope) override;
  bool move(double length) override;
  /// The largest condition number among the products of I + T_q over the steps, q = 1 ... p-1.
  double condition() const override;
  void commit(Out<Scalar> w) override { w = current().w; }
  Scope scope() const override { return {Scope::Data::none, 0, mlp_.samples()}; }
  std::string note() const override;

  /// The gradient of the last `aim` in T_q.
  const MatrixOf<Scalar>& direction(Index q) const { return E_[static_cast<std::size_t>(q)]; }

 private:
  using Matrices = std::vector<MatrixOf<Scalar>>;

  struct Point {
    VectorOf<Scalar> w;
    Matrices g;  ///< the product of the I + T_q so far; index q is hidden layer q
    std::optional<double> grad_sq, curvature;
    VectorOf<Scalar> gradient, hessian_gradient;
  };

  Index layers() const { return network_.layers(); }
  Point& base() { return points_[base_]; }
  Point& current() { return points_[current_]; }
  const Point& current() const { return points_[current_]; }

  /// w' of the base's weights and T = scale E, keeping all states for `pull_back`.
  VectorOf<Scalar> transform(Scalar scale);
  /// E <- the derivative of <covector, w'> in T at T = 0, right after `transform(0)`.
  void pull_back(In<Scalar> covector);
  void compute_gradient(Point& x);
  void compute_curvature(Point& x);

  const MlpObjective<Scalar>& mlp_;
  const Mlp& network_;
  Matrices E_;
  // States of the last `transform`; k = sigma(y), h with rows of ones, P = h+.
  Matrices A_, y_, k_, h_, z_, P_;  // index m is layer m
  Point points_[2];
  std::size_t base_ = 0, current_ = 0;
  double norm_ = 0.0;
};

}  // namespace symport
