// SPDX-License-Identifier: MIT
#pragma once

#include "symport/objectives/objective.hpp"

namespace symport::testing {

/// Another objective as a float program sees it.
class SinglePrecision final : public BasicObjective<float> {
 public:
  /// `inner` must outlive this object.
  explicit SinglePrecision(const Objective& inner) : inner_(inner) {}

  Index dimension() const override { return inner_.dimension(); }
  double value(In<float> w) const override { return inner_.value(w.cast<double>()); }
  double gradient(In<float> w, Out<float> gradient) const override {
    Vector exact(w.size());
    const double loss = inner_.gradient(w.cast<double>(), exact);
    gradient = exact.cast<float>();
    return loss;
  }
  void hessian_vector(In<float> w, In<float> v, Out<float> result) const override {
    Vector exact(w.size());
    inner_.hessian_vector(w.cast<double>(), v.cast<double>(), exact);
    result = exact.cast<float>();
  }

 private:
  const Objective& inner_;
};

}  // namespace symport::testing
