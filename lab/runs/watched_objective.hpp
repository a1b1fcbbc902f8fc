// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <utility>

#include "symport/objectives/objective.hpp"

namespace symport::lab {

/// Another objective that calls `watch` before every evaluation, and after work on the network's
/// states. What `watch` throws ends the work: a search has no other place where it could be
/// stopped.
template <Real Scalar>
class WatchedObjective final : public BasicObjective<Scalar> {
 public:
  /// `inner` must outlive this object.
  WatchedObjective(const BasicObjective<Scalar>& inner, std::function<void()> watch)
      : inner_(inner), watch_(std::move(watch)) {}

  Index dimension() const override { return inner_.dimension(); }
  double value(In<Scalar> w) const override {
    watch_();
    return inner_.value(w);
  }
  double gradient(In<Scalar> w, Out<Scalar> gradient) const override {
    watch_();
    return inner_.gradient(w, gradient);
  }
  void hessian_vector(In<Scalar> w, In<Scalar> v, Out<Scalar> result) const override {
    watch_();
    inner_.hessian_vector(w, v, result);
  }
  void third_derivative(In<Scalar> w, In<Scalar> v, Out<Scalar> result) const override {
    watch_();
    inner_.third_derivative(w, v, result);
  }
  double curvature(In<Scalar> w, In<Scalar> v) const override {
    watch_();
    return inner_.curvature(w, v);
  }
  std::unique_ptr<LocalCurvature<Scalar>> local_curvature(
      In<Scalar> w, KnownGradient<Scalar> known) const override {
    watch_();
    return inner_.local_curvature(w, std::move(known));
  }
  void weight_inputs(In<Scalar> w, const UseInputs<Scalar>& use) const override {
    inner_.weight_inputs(w, use);
  }
  const MlpObjective<Scalar>* mlp() const override { return inner_.mlp(); }
  void note_work(double gradients) const override {
    watch_();
    inner_.note_work(gradients);
  }

 private:
  const BasicObjective<Scalar>& inner_;
  std::function<void()> watch_;
};

}  // namespace symport::lab
