// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <string>
#include <utility>

namespace symport {

/// What a search tells an orbit that has to choose among many destinations by J = |dL/dw|^2 and
/// Phi = (dL/dw)' H (dL/dw) alone.
class Worth {
 public:
  using Function = std::function<double(double grad_sq, double curvature)>;

  Worth() = default;
  /// `value` is what a point with these J and Phi is worth; NaN when more must be known. `rate` is
  /// the learning rate of the plain step that would follow (empty: not known), and
  /// `largest_curvature` bounds lambda_max(H).
  template <std::invocable<double, double> Value>
  Worth(Value value, Function rate = {},
        double largest_curvature = std::numeric_limits<double>::infinity())
      : value_(std::move(value)), rate_(std::move(rate)), largest_curvature_(largest_curvature) {}

  double operator()(double grad_sq, double curvature) const { return value_(grad_sq, curvature); }
  /// NaN: not known.
  double rate(double grad_sq, double curvature) const {
    return rate_ ? rate_(grad_sq, curvature) : std::numeric_limits<double>::quiet_NaN();
  }
  double largest_curvature() const { return largest_curvature_; }

 private:
  Function value_, rate_;
  double largest_curvature_ = std::numeric_limits<double>::infinity();
};

/// A destination that an orbit knows without iterating (`Orbit::candidates`), or a family of them.
/// The orbit offers, a search scores and chooses. Valid as long as the orbit lives.
struct Candidate {
  std::string name;  ///< for the certificate: "closed form"
  /// One destination for every kappa > 1, a bound on the group element; the family grows from the
  /// start at kappa = 1. Otherwise kappa is ignored.
  bool family = false;
  /// Base <- current <- the destination. False when it leaves the action's domain; the current
  /// point is then the base.
  std::function<bool(double kappa)> go;
  /// Only tried where no earlier candidate was better and allowed; a family: only for a given
  /// kappa.
  bool fallback = false;
};

}  // namespace symport
