// SPDX-License-Identifier: MIT
#include "symport/symmetries/orthogonal.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/dense.hpp"
#include "symmetries/matrix_orbit.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

class QuadraticOrbit final : public MatrixOrbit {
 public:
  QuadraticOrbit(const OrthogonalSymmetry& symmetry, const Objective& objective, In<double> start)
      : MatrixOrbit(symmetry, objective, start), symmetry_(symmetry) {}

  bool has_candidates() const override { return true; }
  std::vector<Candidate> candidates(const Worth& worth) override {
    const Index best = best_eigenvector(worth);
    return {{"closed form", false, [this, best](double) { return go_to_eigenvector(best); }}};
  }

 private:
  /// h(start)
  Vector image() const {
    Vector u(start().size());
    symmetry_.variables().to(start(), u);
    return u;
  }

  /// At an eigenvector of eigenvalue l the gradient is one of the Hessian: J = 4 l L and Phi = 8
  /// l^2 L. Where several are worth the same (or it is not known what they are), the steepest.
  Index best_eigenvector(const Worth& worth) const {
    const Vector& l = symmetry_.eigenvalues();
    const double L = image().squaredNorm();
    const auto worth_of = [&](Index i) { return worth(4.0 * l[i] * L, 8.0 * l[i] * l[i] * L); };
    Index best = l.size() - 1;
    double most = worth_of(best);
    for (Index i = best - 1; i >= 0; --i) {
      const double other = worth_of(i);
      if (!(other > most + 1e-12 * std::abs(most))) continue;
      best = i;
      most = other;
    }
    return best;
  }

  bool go_to_eigenvector(Index best) {
    const Vector u = image();
    Vector target = u.norm() * symmetry_.eigenvectors().col(best);
    if (target.dot(u) < 0.0) target = -target;
    // The reflection that exchanges u and its target.
    const Vector v = u - target;
    Matrix g = Matrix::Identity(u.size(), u.size());
    if (v.squaredNorm() > 0.0) g -= (2.0 / v.squaredNorm()) * v * v.transpose();
    return jump(g);
  }

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

OrbitOrReason<double> OrthogonalSymmetry::orbit(const Objective& objective, In<double> w) const {
  if (objective.dimension() != order() || w.size() != order()) {
    throw InvalidArgument("symmetry " + name(),
                          fmt::format("an objective of {} variables", objective.dimension()),
                          fmt::format("one of {}", order()));
  }
  return std::make_unique<QuadraticOrbit>(*this, objective, w);
}

}  // namespace symport
