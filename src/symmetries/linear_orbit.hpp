// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "symmetries/scale_model.hpp"
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
  /// Covectors by A^-T, tangents and points by A, squares of covectors by `act_on_squares`.
  bool transport(Out<Scalar> values, StateKind kind) const final;
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
  /// squares <- those of A^-T covector, from those of the covector. False where they do not
  /// determine them: unless every row of A has a single entry.
  virtual bool act_on_squares(Out<Scalar>) const { return false; }
  /// covector <- (A'A)^-1 covector
  virtual void pull_to_start(Out<Scalar> covector) const = 0;

  /// To be called whenever A changes.
  void element_changed();
  const VectorOf<Scalar>& start() const { return start_; }
  /// g
  const VectorOf<Scalar>& start_gradient();
  /// g is known: it cost one gradient elsewhere, which is charged here.
  void set_start_gradient(VectorOf<Scalar> gradient);
  /// v = (A'A)^-1 g
  VectorOf<Scalar> pulled_gradient();
  /// H v; gives Phi on the way.
  VectorOf<Scalar> pulled_hessian_gradient();
  /// How J and Phi depend on scales of blocks of the parameters which the action keeps apart,
  /// counted from the current point, (W3): one Hessian-vector product for every block. Entry i
  /// belongs to block[i].
  ScaleModel scale_model(const std::vector<Index>& block, Matrix exponents);

 private:
  VectorOf<Scalar> start_, start_gradient_;
  std::optional<double> grad_sq_, curvature_;
};

}  // namespace symport
