// SPDX-License-Identifier: MIT
#pragma once

#include "symport/symmetries/change_of_variables.hpp"
#include "symport/symmetries/orbit.hpp"

namespace symport {

/// The orbit of SO(2) through a change of variables: w(angle) = h^-1(R(angle) h(start)).
class CircleOrbit final : public BasicOrbit<double> {
 public:
  CircleOrbit(const ChangeOfVariables& variables, const Objective& objective, In<double> start);

  double grad_sq() override;
  double curvature() override;
  double aim(const Slope& slope) override;
  bool move(double length) override;
  double period() const override;
  bool randomize(Random& random, double spread) override;
  bool compact() const override { return true; }
  double condition() const override { return 1.0; }
  void commit(Out<double> w) override { w = w_; }
  bool stated() const override { return true; }
  bool transport(Out<double> values, StateKind kind) const override;

 private:
  bool place(double angle);
  void move_covector(Out<double> covector) const;
  void need_gradient();
  void need_hessian_gradient();

  const ChangeOfVariables& variables_;
  Vector start_;
  Eigen::Vector2d start_image_;  ///< h(start)
  Eigen::Vector2d image_;        ///< h(w)
  Eigen::Vector2d w_;
  Eigen::Vector2d gradient_, hessian_gradient_;
  double angle_ = 0.0, base_angle_ = 0.0, direction_ = 1.0;
  bool has_gradient_ = false, has_hessian_gradient_ = false;
};

}  // namespace symport
