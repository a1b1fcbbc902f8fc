// SPDX-License-Identifier: MIT
#include "symport/symmetries/rotation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/dense.hpp"
#include "symmetries/circle_orbit.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/ellipse.hpp"

namespace symport {

RotationSymmetry::RotationSymmetry(std::shared_ptr<const ChangeOfVariables> variables)
    : variables_(std::move(variables)) {
  if (variables_->dimension() < 2) {
    throw InvalidArgument("variables", fmt::format("dimension {}", variables_->dimension()),
                          "a change of at least 2 variables");
  }
}

std::string RotationSymmetry::name() const { return fmt::format("SO({})", order()); }

void RotationSymmetry::act(const Matrix& g, Out<double> w) const {
  Vector u(w.size());
  variables_->to(w, u);
  variables_->from(g * u, w);
}

Matrix RotationSymmetry::pull_back(In<double> w, In<double> covector) const {
  Vector u(w.size()), p(w.size());
  variables_->to(w, u);
  variables_->pull_inverse(u, covector, p);
  // (F3): <p, T u> = tr(S'T)/2 with S = p u' - u p'
  const Matrix outer = p * u.transpose();
  return outer - outer.transpose();
}

void RotationSymmetry::transport(const Matrix& g, In<double> w, Out<double> covector) const {
  // (F2): J = Dh^-1(g u) g Dh(w), so J^-T = Dh(w')' g Dh^-1(u)' for orthogonal g.
  Vector u(w.size()), p(w.size()), moved(w.size());
  variables_->to(w, u);
  variables_->pull_inverse(u, covector, p);
  variables_->from(g * u, moved);
  variables_->pull(moved, g * p, covector);
}

double RotationSymmetry::inner(const Matrix& S, const Matrix& T) const {
  return 0.5 * S.cwiseProduct(T).sum();
}

Matrix RotationSymmetry::random_element(Random& random, double) const {
  return random_orthogonal(order(), random, true);
}

std::unique_ptr<BasicOrbit<double>> RotationSymmetry::orbit(const Objective& objective,
                                                            In<double> w) const {
  if (objective.dimension() != order() || w.size() != order()) {
    throw InvalidArgument("symmetry " + name(),
                          fmt::format("an objective of {} variables", objective.dimension()),
                          fmt::format("one of {}", order()));
  }
  if (order() == 2) return std::make_unique<CircleOrbit>(*variables_, objective, w);
  return MatrixSymmetry::orbit(objective, w);
}

RotationSymmetry ellipse_rotation(double a) {
  const Ellipse checked(a);
  return RotationSymmetry(std::make_shared<AffineVariables>(
      Matrix{{1.0, 0.0}, {0.0, std::sqrt(checked.a())}}, Vector::Zero(2)));
}

RotationSymmetry rosenbrock_rotation(Index pairs) {
  return RotationSymmetry(std::make_shared<RosenbrockVariables>(pairs));
}

RotationSymmetry booth_rotation() {
  return RotationSymmetry(
      std::make_shared<AffineVariables>(Matrix{{1.0, 2.0}, {2.0, 1.0}}, Vector{{-7.0, -5.0}}));
}

Matrix random_orthogonal(Index n, Random& random, bool special) {
  // Uniform: the orthogonal factor of a normal matrix (Mezzadri, 2007).
  Matrix Q = orthogonal_factor(random.normal_matrix(n, n));
  if (special && determinant(Q) < 0) Q.col(0) *= -1.0;
  return Q;
}

}  // namespace symport
