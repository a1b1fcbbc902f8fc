// SPDX-License-Identifier: MIT
#include "symport/symmetries/linear_data.hpp"

#include <cmath>

#include "core/dense.hpp"

namespace symport {

namespace {

class LinearDataOrbit final : public DataOrbit {
 public:
  LinearDataOrbit(const LinearModel& model, In<double> w)
      : DataOrbit(model),
        start_(model),
        moved_(model),
        w_(w),
        element_(Matrix::Identity(model.X().rows(), model.X().rows())),
        base_element_(element_),
        direction_(Matrix::Zero(model.X().rows(), model.X().rows())) {
    const Matrix residual = model.W(w) * model.X() - model.Y();
    RtR_ = residual.transpose() * residual;
    charge(1.0);
  }

  const Objective& objective() const override { return moved_; }
  const Objective& start_objective() const override { return start_; }
  const Matrix& data_element() const override { return element_; }

  double grad_sq() override { return RtR_.cwiseProduct(gram()).sum(); }

  double curvature() override {
    const Matrix K = gram();
    return (K * RtR_ * K).trace();
  }

  double aim(double weight_grad_sq, double weight_curvature) override {
    base_element_ = element_;
    const Matrix K = gram();
    const Matrix& X = moved_.X();
    const Matrix inner =
        2.0 * weight_grad_sq * RtR_ + 2.0 * weight_curvature * (RtR_ * K + K * RtR_);
    direction_ = X * inner * X.transpose();
    charge(1.0);
    const double norm = direction_.norm();
    if (!(norm > 0.0 && std::isfinite(norm))) {
      direction_.setZero();
      return 0.0;
    }
    direction_ /= norm;
    return norm;
  }

  bool move(double length) override {
    const bool inside = place(
        length == 0.0 ? base_element_ : matrix_exponential(length * direction_) * base_element_);
    if (!inside) place(base_element_);
    return inside;
  }

  double condition() const override { return condition_number(element_); }

  void commit(Out<double> w) override {
    // W' g = W, solved as g'W'' = W'.
    const Matrix W = start_.W(w_);
    start_.W(w) = symport::solve(element_.transpose(), W.transpose()).transpose();
  }

 private:
  Matrix gram() const { return moved_.X().transpose() * moved_.X(); }

  bool place(const Matrix& g) {
    element_ = g;
    moved_.set_data(g * start_.X());
    point_changed();
    return g.allFinite() && moved_.X().allFinite();
  }

  const LinearModel& start_;
  LinearModel moved_;
  Vector w_;
  Matrix RtR_;
  Matrix element_, base_element_, direction_;
};

}  // namespace

std::unique_ptr<DataOrbit> LinearDataSymmetry::orbit(const LinearModel& model, In<double> w) const {
  return std::make_unique<LinearDataOrbit>(model, w);
}

}  // namespace symport
