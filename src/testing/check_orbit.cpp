// SPDX-License-Identifier: MIT
#include <cmath>

#include "testing/laws.hpp"
#include "testing/taylor_slope.hpp"

namespace symport::testing {

namespace {

Vector point_of(BasicOrbit<double>& orbit, Index size) {
  Vector w(size);
  orbit.commit(w);
  return w;
}

/// The laws at the orbit's current point.
class PointLaws {
 public:
  PointLaws(const Symmetry& symmetry, BasicOrbit<double>& orbit, In<double> w, Random& random,
            Laws& laws)
      : symmetry_(symmetry), orbit_(orbit), w_(w), laws_(laws), gradient_(w.size()) {
    loss_ = orbit.start_objective().gradient(w, gradient_);
    covector_ = random.normal_matrix(w.size(), 1);
    tangent_ = random.normal_matrix(w.size(), 1);
  }

  void check(const std::string& where) {
    const Vector there = point_of(orbit_, w_.size());
    Vector gradient(w_.size()), product(w_.size());
    const double loss = orbit_.objective().gradient(there, gradient);
    laws_.require(relative_error(loss, loss_), "invariance " + where);
    laws_.require(relative_error(orbit_.grad_sq(), gradient.squaredNorm()), "J " + where);
    orbit_.objective().hessian_vector(there, gradient, product);
    laws_.require(std::abs(orbit_.curvature() - gradient.dot(product)) /
                      std::max(gradient.norm() * product.norm(), 1e-300),
                  "Phi " + where);
    if (symmetry_.transports(StateKind::cotangent)) {
      laws_.require_equal(moved(gradient_, StateKind::cotangent), gradient,
                          "transport of the gradient " + where);
    }
    if (symmetry_.transports(StateKind::point)) {
      laws_.require_equal(moved(w_, StateKind::point), there, "transport of the point " + where);
    }
    if (symmetry_.transports(StateKind::tangent)) {
      const Vector c = moved(covector_, StateKind::cotangent);
      const Vector v = moved(tangent_, StateKind::tangent);
      laws_.require(std::abs(c.dot(v) - covector_.dot(tangent_)) / (c.norm() * v.norm()),
                    "transport of a tangent " + where);
    }
    if (symmetry_.transports(StateKind::squared_cotangent)) {
      const Vector c = moved(covector_, StateKind::cotangent);
      laws_.require_equal(moved(covector_.cwiseAbs2(), StateKind::squared_cotangent), c.cwiseAbs2(),
                          "transport of squares " + where);
    }
  }

 private:
  Vector moved(Vector values, StateKind kind) {
    if (!orbit_.transport(values, kind)) {
      laws_.fail(fmt::format("transport of a {} is promised by the symmetry, but its orbit refuses",
                             to_string(kind)));
    }
    return values;
  }

  const Symmetry& symmetry_;
  BasicOrbit<double>& orbit_;
  Vector w_;
  Laws& laws_;
  double loss_ = 0.0;
  Vector gradient_, covector_, tangent_;
};

/// Whether the quantity with this slope grows along `move` as `aim` says, from the current point.
template <class Quantity>
void check_aim(BasicOrbit<double>& orbit, const Slope& slope, const Quantity& quantity,
               const std::string& what, Laws& laws) {
  if (!laws.passed()) return;
  const double value = quantity();
  const double norm = orbit.aim(slope);
  if (norm == 0.0) return;
  double scale = std::abs(value);
  laws.take(judge_slope(
      laws.subject() + ": aim by " + what,
      [&](double e) {
        if (!orbit.move(e)) return std::nan("");
        const double there = quantity();
        scale = std::max(scale, std::abs(there));
        return std::abs(there - value - e * norm);
      },
      scale));
  orbit.back();
}

}  // namespace

void check_orbit(const Symmetry& symmetry, const Objective& objective, In<double> w, Random& random,
                 const CheckSymmetryOptions& options, Laws& laws) {
  const auto found = symmetry.orbit(objective, w);
  if (!found) {
    laws.fail("orbit: there is none: " + found.reason());
    return;
  }
  BasicOrbit<double>& orbit = *found;
  const Vector functional = random.normal_matrix(w.size(), 1);
  laws.require_equal(point_of(orbit, w.size()), w, "orbit: its start");
  PointLaws at_point(symmetry, orbit, w, random, laws);
  at_point.check("at the identity");
  for (int i = 0; laws.passed() && i < options.elements; ++i) {
    if (!orbit.randomize(random, options.spread)) break;
    at_point.check("at a random element");
  }
  for (const double length : {1e-8, 0.2}) {
    if (!laws.passed()) return;
    const Vector base = point_of(orbit, w.size());
    if (orbit.aim({.covector = functional}) == 0.0 || !orbit.move(length)) break;
    at_point.check(length < 1e-3 ? "at a tiny element" : "at an element along a direction");
    orbit.back();
    laws.require_equal(point_of(orbit, w.size()), base, "orbit: the way back");
    orbit.move(length);
  }
  const Vector base = point_of(orbit, w.size());
  const auto along = [&] { return functional.dot(point_of(orbit, w.size()) - base); };
  check_aim(orbit, {.covector = functional}, along, "a functional of w", laws);
  check_aim(
      orbit, {.grad_sq = 1.0}, [&] { return orbit.grad_sq(); }, "J", laws);
  check_aim(
      orbit, {.curvature = 1.0}, [&] { return orbit.curvature(); }, "Phi", laws);
  if (!laws.passed() || !orbit.has_candidates()) return;
  for (const Candidate& candidate :
       orbit.candidates([](double grad_sq, double) { return grad_sq; })) {
    if (candidate.go(1.5)) at_point.check("at the candidate '" + candidate.name + "'");
  }
}

}  // namespace symport::testing
