// SPDX-License-Identifier: MIT
#include "symport/symmetries/factor_pair.hpp"

#include <fmt/format.h>

#include "core/dense.hpp"
#include "symmetries/matrix_orbit.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

class FactorPairOrbit final : public MatrixOrbit {
 public:
  FactorPairOrbit(const FactorPairSymmetry& symmetry, const Objective& objective, In<double> start)
      : MatrixOrbit(symmetry, objective, start), problem_(symmetry.problem()) {}

  ClosedForm closed_form() const override { return ClosedForm::bounded; }

  void solve(ObjectiveKind, double, double kappa) override {
    if (projector_.size() == 0) projector_ = growing_directions();
    const Index r = projector_.rows();
    jump(projector_ / kappa + kappa * (Matrix::Identity(r, r) - projector_));
  }

 private:
  /// P of the header, from one gradient at the start.
  Matrix growing_directions() {
    Vector gradient(start().size());
    objective().gradient(start(), gradient);
    charge(1.0);
    const auto GU = problem_.U(In<double>(gradient));
    const auto GV = problem_.V(In<double>(gradient));
    const SymmetricEigen eigen = symmetric_eigen(GV * GV.transpose() - GU.transpose() * GU);
    const Vector positive = (eigen.values.array() > 0.0).cast<double>();
    return eigen.vectors * positive.asDiagonal() * eigen.vectors.transpose();
  }

  const MatrixFactorization& problem_;
  Matrix projector_;
};

}  // namespace

std::string FactorPairSymmetry::name() const { return fmt::format("GL({})", order()); }

void FactorPairSymmetry::act(const Matrix& g, Out<double> w) const {
  // X g = U, solved as g'X' = U'.
  const Matrix U = problem_.U(In<double>(w));
  problem_.U(w) = solve(g.transpose(), U.transpose()).transpose();
  problem_.V(w) = g * problem_.V(In<double>(w)).eval();
}

Matrix FactorPairSymmetry::pull_back(In<double> w, In<double> covector) const {
  return problem_.V(covector) * problem_.V(w).transpose() -
         problem_.U(w).transpose() * problem_.U(covector);
}

void FactorPairSymmetry::transport(const Matrix& g, In<double>, Out<double> covector) const {
  const Matrix GU = problem_.U(In<double>(covector));
  const Matrix GV = problem_.V(In<double>(covector));
  problem_.U(covector) = GU * g.transpose();
  problem_.V(covector) = solve(g.transpose(), GV);
}

std::unique_ptr<BasicOrbit<double>> FactorPairSymmetry::orbit(const Objective& objective,
                                                              In<double> w) const {
  if (objective.dimension() != problem_.dimension() || w.size() != problem_.dimension()) {
    throw InvalidArgument("symmetry " + name(),
                          fmt::format("an objective of {} variables", objective.dimension()),
                          fmt::format("one of {}", problem_.dimension()));
  }
  return std::make_unique<FactorPairOrbit>(*this, objective, w);
}

}  // namespace symport
