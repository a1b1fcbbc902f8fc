// SPDX-License-Identifier: MIT
#pragma once

#include "symmetries/linear_orbit.hpp"

namespace symport {

/// The orbit of a finite group of orthogonal maps. J and Phi are the same at all of its points
/// (Corollary of Prop. 5.1), and there is no direction to follow: only `randomize` moves.
template <Real Scalar>
class IsometricOrbit : public LinearOrbit<Scalar> {
 public:
  double aim(const Slope&) override { return 0.0; }
  bool move(double length) override { return length == 0.0; }
  bool compact() const override { return true; }
  double condition() const override { return 1.0; }
  bool randomize(Random& random, double) override {
    draw(random);
    this->point_changed();  // J and Phi are kept
    return true;
  }

 protected:
  using LinearOrbit<Scalar>::LinearOrbit;

  /// A <- an element drawn uniformly.
  virtual void draw(Random& random) = 0;

 private:
  // A^-T = A and (A'A)^-1 = I.
  void act_on_covector(Out<Scalar> covector) const override { this->act(covector); }
  void pull_to_start(Out<Scalar>) const override {}
};

}  // namespace symport
