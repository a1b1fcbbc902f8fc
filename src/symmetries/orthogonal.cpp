// SPDX-License-Identifier: MIT
#include "symport/symmetries/orthogonal.hpp"

#include <fmt/format.h>

#include "core/dense.hpp"
#include "symmetries/matrix_orbit.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

class QuadraticOrbit final : public MatrixOrbit {
 public:
  QuadraticOrbit(const OrthogonalSymmetry& symmetry, const Objective& objective, In<double> start)
      : MatrixOrbit(symmetry, objective, start), symmetry_(symmetry) {}

  ClosedForm closed_form() const override { return ClosedForm::point; }

  void solve(ObjectiveKind objective, double eta, double) override {
    const Vector& l = symmetry_.eigenvalues();
    Index best = l.size() - 1;
    if (objective == ObjectiveKind::predicted_decrease) {
      (eta * l.array() * (1.0 - eta * l.array())).maxCoeff(&best);
    }
    Vector u(start().size());
    symmetry_.variables().to(start(), u);
    Vector target = u.norm() * symmetry_.eigenvectors().col(best);
    if (target.dot(u) < 0.0) target = -target;
    // The reflection that exchanges u and its target.
    const Vector v = u - target;
    Matrix g = Matrix::Identity(u.size(), u.size());
    if (v.squaredNorm() > 0.0) g -= (2.0 / v.squaredNorm()) * v * v.transpose();
    jump(g);
  }

 private:
  const OrthogonalSymmetry& symmetry_;
};

}  // namespace

OrthogonalSymmetry::OrthogonalSymmetry(const Quadratic& quadratic)
    : OrthogonalSymmetry(symmetric_eigen(quadratic.A())) {}

OrthogonalSymmetry::OrthogonalSymmetry(const SymmetricEigen& eigen)
    : RotationSymmetry(std::make_shared<AffineVariables>(
          eigen.vectors * eigen.values.cwiseSqrt().asDiagonal() * eigen.vectors.transpose(),
          Vector::Zero(eigen.values.size()))),
      eigenvalues_(eigen.values),
      eigenvectors_(eigen.vectors) {}

std::string OrthogonalSymmetry::name() const { return fmt::format("O({})", order()); }

Matrix OrthogonalSymmetry::random_element(Random& random, double) const {
  return random_orthogonal(order(), random, false);
}

std::unique_ptr<BasicOrbit<double>> OrthogonalSymmetry::orbit(const Objective& objective,
                                                              In<double> w) const {
  if (objective.dimension() != order() || w.size() != order()) {
    throw InvalidArgument("symmetry " + name(),
                          fmt::format("an objective of {} variables", objective.dimension()),
                          fmt::format("one of {}", order()));
  }
  return std::make_unique<QuadraticOrbit>(*this, objective, w);
}

}  // namespace symport
