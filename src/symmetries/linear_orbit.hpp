// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "symmetries/scale_model.hpp"
#include "symport/objectives/mlp.hpp"
#include "symport/symmetries/orbit.hpp"

namespace symport {

/// The orbit of a linear action w -> A w, A independent of w and of data, under any objective that
/// the action leaves unchanged.
///
/// With g and H the gradient and Hessian at the start, those at A w are A^-T g and A^-T H A^-1
/// (Prop. 5.1), (F5). So with v = (A'A)^-1 g
///   J = g'v,   Phi = v'H v:          (F6)
/// one gradient gives J on the whole orbit, and Phi at a point costs one curvature along a
/// direction at the *start*. A derived orbit holds the group element and says how A acts.
template <Real Scalar>
class LinearOrbit : public BasicOrbit<Scalar> {
 public:
  double grad_sq() override;
  double curvature() override;
  /// w <- A start
  void commit(Out<Scalar> w) override;
  /// covector <- A^-T covector
  bool transport(Out<Scalar> covector) const final;
  void current_gradient(In<Scalar> w, Out<Scalar> gradient) override;
  std::unique_ptr<LocalCurvature<Scalar>> local_curvature() override;

 protected:
  /// `objective` must outlive the orbit.
  LinearOrbit(const BasicObjective<Scalar>& objective, In<Scalar> start)
      : BasicOrbit<Scalar>(objective), start_(start) {}

  /// w <- A w
  virtual void act(Out<Scalar> w) const = 0;
  /// covector <- A^-T covector
  virtual void act_on_covector(Out<Scalar> covector) const = 0;
  /// covector <- (A'A)^-1 covector
  virtual void pull_to_start(Out<Scalar> covector) const = 0;

  /// To be called whenever A changes.
  void element_changed();
  const VectorOf<Scalar>& start() const { return start_; }
  /// g
  const VectorOf<Scalar>& start_gradient();
  /// v = (A'A)^-1 g
  VectorOf<Scalar> pulled_gradient();
  /// H v; gives Phi on the way.
  VectorOf<Scalar> pulled_hessian_gradient();
  /// How J and Phi depend on scales of the network's hidden layers, counted from the current point,
  /// (W3): one Hessian-vector product for every block.
  ScaleModel layer_model(const Mlp& network);

 private:
  VectorOf<Scalar> start_, start_gradient_;
  std::optional<double> grad_sq_, curvature_;
};

}  // namespace symport
