// SPDX-License-Identifier: MIT
#pragma once

#include "symport/symmetries/matrix_symmetry.hpp"

namespace symport {

/// The generic orbit of a MatrixSymmetry through a point, for any objective.
///
/// The current point is always act(g, start) with the accumulated element g, so that rounding does
/// not pile up. Per point: one gradient for J, one Hessian-vector product for Phi and dJ/dw, one
/// more and one third derivative for dPhi/dw.
class MatrixOrbit : public BasicOrbit<double> {
 public:
  /// `symmetry` and `objective` must outlive the orbit.
  MatrixOrbit(const MatrixSymmetry& symmetry, const Objective& objective, In<double> start);

  double grad_sq() override;
  double curvature() override;
  double aim(const Slope& slope) override;
  bool move(double length) override;
  void restart() override;
  bool randomize(Random& random, double spread) override;
  bool compact() const override { return symmetry_.compact(); }
  double condition() const override;
  void commit(Out<double> w) override { w = w_; }
  bool stated() const override { return true; }
  /// Tangents cost a transport of every unit vector.
  bool transport(Out<double> values, StateKind kind) const override;

 protected:
  /// Base <- current <- g . start
  bool jump(const Matrix& g);
  const Vector& start() const { return start_; }
  const Vector& point() const { return w_; }

 private:
  bool place(const Matrix& g);
  void need_gradient();
  void need_hessian_gradient();

  const MatrixSymmetry& symmetry_;
  Vector start_;
  Matrix base_element_, element_;
  Matrix direction_;
  Vector w_;
  Vector gradient_, hessian_gradient_;
  bool has_gradient_ = false, has_hessian_gradient_ = false;
};

}  // namespace symport
