// SPDX-License-Identifier: MIT
#include "symport/symmetries/factor_pair.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/dense.hpp"
#include "symmetries/matrix_orbit.hpp"
#include "symmetries/scale_model.hpp"
#include "symmetries/white_map.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

/// Of V V' and U'U relative to the largest: the condition of a white gauge is at most its inverse
/// root.
constexpr double smallest_eigenvalue = 1e-13;

class FactorPairOrbit final : public MatrixOrbit {
 public:
  FactorPairOrbit(const FactorPairSymmetry& symmetry, const Objective& objective, In<double> start)
      : MatrixOrbit(symmetry, objective, start), problem_(symmetry.problem()) {}

  bool has_candidates() const override { return true; }
  std::vector<Candidate> candidates(const Worth& worth) override {
    std::vector<Candidate> all;
    for (const bool right : {true, false}) {
      const Matrix g = white_side(right);
      if (g.size() == 0 || !jump(g)) continue;
      const std::optional<Vector> log_c = best_scales(side_model(), worth);
      if (!log_c) continue;
      const double c = std::exp((*log_c)[0]);
      all.push_back({right ? "white gauge, V V' = c^2 I" : "white gauge, U'U = c^2 I", false,
                     [this, g, c](double) { return jump(c * g); }});
    }
    all.push_back({"closed form", true,
                   [this](double kappa) {
                     if (projector_.size() == 0) projector_ = growing_directions();
                     const Index r = projector_.rows();
                     return jump(projector_ / kappa +
                                 kappa * (Matrix::Identity(r, r) - projector_));
                   },
                   true});
    return all;
  }

 private:
  /// The element that makes the rows of V orthonormal, or the columns of U, (W6); empty where the
  /// factor is 0.
  Matrix white_side(bool right) const {
    const Index r = problem_.rank();
    const Matrix side = right ? Matrix(problem_.V(In<double>(start())))
                              : Matrix(problem_.U(In<double>(start())).transpose());
    const LowRankElement<double> white = white_map<double>(side, {.floor = smallest_eigenvalue});
    if (white.identity() || !white.invertible()) return {};
    Matrix g = Matrix::Identity(r, r);
    if (right) {
      white.apply(g);
    } else {
      white.apply_inverse(g);  // U goes to U g^-1
    }
    return g;
  }

  /// J and Phi for g -> c g from the current point: U's block scales with c^2, V's with c^-2, (W3).
  ScaleModel side_model() {
    const Vector& w = point();
    Vector gradient(w.size()), Hv(w.size());
    objective().gradient(w, gradient);
    std::array<Vector, 2> parts{gradient, gradient};  // in U alone, in V alone
    Out<double> in_U(parts[0]), in_V(parts[1]);
    problem_.V(in_U).setZero();
    problem_.U(in_V).setZero();
    ScaleModel model{Vector(2), Matrix(2, 2), Matrix{{2.0}, {-2.0}}};
    for (Index a = 0; a < 2; ++a) {
      const Vector& part = parts[static_cast<std::size_t>(a)];
      model.J[a] = part.squaredNorm();
      objective().hessian_vector(w, part, Hv);
      for (Index b = 0; b < 2; ++b) model.M(b, a) = parts[static_cast<std::size_t>(b)].dot(Hv);
    }
    charge(5.0);
    return model;
  }

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

OrbitOrReason<double> FactorPairSymmetry::orbit(const Objective& objective, In<double> w) const {
  if (objective.dimension() != problem_.dimension() || w.size() != problem_.dimension()) {
    throw InvalidArgument("symmetry " + name(),
                          fmt::format("an objective of {} variables", objective.dimension()),
                          fmt::format("one of {}", problem_.dimension()));
  }
  return std::make_unique<FactorPairOrbit>(*this, objective, w);
}

}  // namespace symport
