// SPDX-License-Identifier: MIT
#pragma once

#include "optimizers/wolfe_search.hpp"
#include "symport/objectives/objective.hpp"
#include "symport/optimizers/measured_point.hpp"

namespace symport {

/// The points w + t d, with loss and gradient of the last one that was asked for.
template <Real Scalar>
class LineTrial {
 public:
  /// Everything must outlive this object.
  LineTrial(const BasicObjective<Scalar>& objective, In<Scalar> w, const VectorOf<Scalar>& d)
      : objective_(objective), start_(w), d_(d), w_(w.size()), gradient_(w.size()) {}

  LineSample operator()(double t) {
    t_ = t;
    w_ = start_ + static_cast<Scalar>(t) * d_;
    loss_ = objective_.gradient(w_, gradient_);
    return {t, loss_, gradient_.template cast<double>().dot(d_.template cast<double>())};
  }
  /// Returns what it costs, in gradients: nothing if it is there already.
  double go_to(double t) {
    if (t == t_) return 0.0;
    (*this)(t);
    return 1.0;
  }

  const VectorOf<Scalar>& w() const { return w_; }
  const VectorOf<Scalar>& gradient() const { return gradient_; }
  /// here <- what is known of the last point; this object knows it no longer.
  void give(MeasuredPoint<Scalar>& here) {
    here.loss = loss_;
    here.gradient.swap(gradient_);
  }

 private:
  const BasicObjective<Scalar>& objective_;
  const VectorOf<Scalar> start_;
  const VectorOf<Scalar>& d_;
  VectorOf<Scalar> w_, gradient_;
  double t_ = 0.0, loss_ = 0.0;
};

}  // namespace symport
