// SPDX-License-Identifier: MIT
#include "symport/testing/check_symmetry.hpp"

#include <vector>

#include "core/dense.hpp"
#include "symport/symmetries/matrix_symmetry.hpp"
#include "symport/symmetries/slot_symmetry.hpp"
#include "testing/laws.hpp"
#include "testing/taylor_slope.hpp"

namespace symport::testing {

namespace {

/// What the laws of a group need, of a MatrixSymmetry.
struct MatrixGroup {
  const MatrixSymmetry& symmetry;
  using Element = Matrix;
  using Algebra = Matrix;

  Element identity() const { return Matrix::Identity(symmetry.order(), symmetry.order()); }
  Element random_element(Random& random, double spread) const {
    return symmetry.random_element(random, spread);
  }
  Algebra random_direction(Random& random) const {
    return symmetry.project(random.normal_matrix(symmetry.order(), symmetry.order())).normalized();
  }
  Element exponential(const Algebra& T, double length) const {
    return matrix_exponential(length * T);
  }
  Element inverse(const Element& g) const { return symport::inverse(g); }
  Element compose(const Element& a, const Element& b) const { return a * b; }
  void act(const Element& g, Out<double> w) const { symmetry.act(g, w); }
  void transport(const Element& g, In<double> w, Out<double> covector) const {
    symmetry.transport(g, w, covector);
  }
  double slope(In<double> w, In<double> covector, const Algebra& T) const {
    return symmetry.inner(symmetry.pull_back(w, covector), T);
  }
};

/// The same of a SlotSymmetry.
struct SlotsGroup {
  const SlotSymmetry<double>& symmetry;
  using Element = GroupElement;
  using Algebra = GroupMatrices;

  Element identity() const { return symmetry.identity(); }
  Element random_element(Random& random, double spread) const {
    return symmetry.random_element(random, spread);
  }
  Algebra random_direction(Random& random) const {
    // The pull-back of anything is in the algebra.
    const Vector w = random.normal_matrix(symmetry.parameters(), 1);
    const Vector covector = random.normal_matrix(symmetry.parameters(), 1);
    return scaled(symmetry.pull_back(w, covector), 0.1);
  }
  Element exponential(const Algebra& T, double length) const {
    return symmetry.exponential(scaled(T, length));
  }
  Element inverse(const Element& g) const { return symmetry.inverse(g); }
  Element compose(const Element& a, const Element& b) const { return symmetry.compose(a, b); }
  void act(const Element& g, Out<double> w) const { symmetry.act(g, w); }
  void transport(const Element& g, In<double>, Out<double> covector) const {
    symmetry.act_on_cotangent(g, covector);
  }
  double slope(In<double> w, In<double> covector, const Algebra& T) const {
    return symmetry.inner(symmetry.pull_back(w, covector), T);
  }

 private:
  static Algebra scaled(Algebra T, double length) {
    for (Matrix& t : T) t *= length;
    return T;
  }
};

template <class Group>
void check_group(const Group& group, const Objective& objective, In<double> w, Random& random,
                 const CheckSymmetryOptions& options, Laws& laws) {
  using Element = typename Group::Element;
  const auto moved = [&](const Element& g, Vector from) {
    group.act(g, from);
    return from;
  };
  const auto T = group.random_direction(random);
  std::vector<Element> elements{group.identity()};
  for (int i = 0; i < options.elements; ++i) {
    elements.push_back(group.random_element(random, options.spread));
  }
  elements.push_back(group.exponential(T, 1e-8));  // last: what is off here is off by little

  laws.require_equal(moved(elements[0], w), w, "identity");
  Vector gradient(w.size());
  const double loss = objective.gradient(w, gradient);
  for (const Element& g : elements) {
    if (!laws.passed()) return;
    const Vector there = moved(g, w);
    laws.require(relative_error(objective.value(there), loss), "invariance");
    laws.require_equal(moved(group.inverse(g), there), w, "inverse");
    Vector expected(w.size()), transported = gradient;
    objective.gradient(there, expected);
    group.transport(g, w, transported);
    laws.require_equal(transported, expected, "transport");
    for (const Element& a : elements) {
      laws.require_equal(moved(a, there), moved(group.compose(a, g), w), "composition");
    }
  }
  if (!laws.passed()) return;

  const Vector covector = random.normal_matrix(w.size(), 1);
  const double slope = group.slope(w, covector, T);
  const double value = covector.dot(w);
  laws.take(judge_slope(
      laws.subject() + ": pull_back",
      [&](double e) {
        return std::abs(covector.dot(moved(group.exponential(T, e), w)) - value - e * slope);
      },
      std::abs(value)));
}

}  // namespace

CheckResult check_symmetry(const Symmetry& symmetry, const Objective& objective, In<double> w,
                           Random& random, const CheckSymmetryOptions& options) {
  Laws laws(symmetry.name(), options.tolerance);
  Vector gradient(w.size());
  if (objective.gradient(w, gradient) == 0.0 || gradient.squaredNorm() == 0.0) {
    laws.fail(
        "the loss or its gradient is zero at w, and there is nothing to compare; choose "
        "another point");
    return laws.result();
  }
  if (const auto* matrix = dynamic_cast<const MatrixSymmetry*>(&symmetry)) {
    check_group(MatrixGroup{*matrix}, objective, w, random, options, laws);
  } else if (const auto* slots = dynamic_cast<const SlotSymmetry<double>*>(&symmetry)) {
    check_group(SlotsGroup{*slots}, objective, w, random, options, laws);
  }
  if (laws.passed()) check_orbit(symmetry, objective, w, random, options, laws);
  return laws.result();
}

}  // namespace symport::testing
