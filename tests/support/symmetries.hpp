// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/objectives.hpp"
#include "symport/symmetries/factor_pair.hpp"
#include "symport/symmetries/orthogonal.hpp"
#include "symport/symmetries/rotation.hpp"

namespace symport::testing {

struct SymmetryRow {
  std::string name;
  std::shared_ptr<const MatrixSymmetry> symmetry;
  std::shared_ptr<const Objective> objective;
};

template <class S, class O>
SymmetryRow symmetry_row(std::string name, S symmetry, O objective) {
  return {std::move(name), std::make_shared<const S>(std::move(symmetry)),
          std::make_shared<const O>(std::move(objective))};
}

/// u = h(x) of a user: a shear by a cube and a stretch by sinh.
inline constexpr auto user_variables = [](const auto& x) {
  using std::sinh;
  auto u = x;
  u[0] = 2.0 * x[0] + pow(x[1], 3);
  u[1] = 0.5 * (exp(x[1]) - exp(-x[1]));
  return u;
};
inline constexpr auto user_variables_inverse = [](const auto& u) {
  using std::asinh;
  auto x = u;
  x[1] = asinh(u[1]);
  x[0] = 0.5 * (u[0] - pow(x[1], 3));
  return x;
};
inline RotationSymmetry user_rotation() {
  return rotation(2, user_variables, user_variables_inverse);
}
inline std::shared_ptr<const Objective> user_objective() {
  return generic(2, [](const auto& x) { return user_variables(x).squaredNorm(); });
}

/// u = exp(x) of a user who forgot that it is not onto: most rotations leave its positive numbers.
inline constexpr auto positive_variables = [](const auto& x) {
  using std::exp;
  auto u = x;
  for (Index i = 0; i < x.size(); ++i) u[i] = exp(x[i]);
  return u;
};
inline constexpr auto positive_variables_inverse = [](const auto& u) {
  using std::log;
  auto x = u;
  for (Index i = 0; i < u.size(); ++i) x[i] = log(u[i]);
  return x;
};
inline RotationSymmetry positive_rotation(Index n) {
  return rotation(n, positive_variables, positive_variables_inverse);
}
inline std::shared_ptr<const Objective> positive_objective(Index n) {
  return generic(n, [](const auto& x) { return positive_variables(x).squaredNorm(); });
}

/// Every MatrixSymmetry of the foundation with an objective that it keeps. A new one is a new row.
inline std::vector<SymmetryRow> symmetry_table() {
  const auto dense = dense_quadratic(5);
  const auto diagonal = Quadratic::diagonal(4, 100.0);
  const auto rotated = Quadratic::rotated(4, 100.0, 3);
  const auto wide = full_rank_factorization(3, 4, 2);
  const auto tall = full_rank_factorization(5, 2, 3);
  const auto vector = full_rank_factorization(3, 3, 1);
  return {
      symmetry_row("ellipse a=5", ellipse_rotation(5.0), Ellipse(5.0)),
      symmetry_row("ellipse a=0.3", ellipse_rotation(0.3), Ellipse(0.3)),
      symmetry_row("rosenbrock", rosenbrock_rotation(), Rosenbrock()),
      symmetry_row("rosenbrock 2 pairs", rosenbrock_rotation(2), Rosenbrock(2)),
      symmetry_row("rosenbrock 3 pairs", rosenbrock_rotation(3), Rosenbrock(3)),
      symmetry_row("booth", booth_rotation(), Booth()),
      {"user", std::make_shared<const RotationSymmetry>(user_rotation()), user_objective()},
      symmetry_row("O of a dense quadratic", OrthogonalSymmetry(dense), dense),
      symmetry_row("O of a diagonal quadratic", OrthogonalSymmetry(diagonal), diagonal),
      symmetry_row("O of a rotated quadratic", OrthogonalSymmetry(rotated), rotated),
      symmetry_row("O of two variables", OrthogonalSymmetry(Quadratic::diagonal(2, 9.0)),
                   Quadratic::diagonal(2, 9.0)),
      symmetry_row("GL of a wide pair", FactorPairSymmetry(wide), wide),
      symmetry_row("GL of a tall pair", FactorPairSymmetry(tall), tall),
      symmetry_row("GL of vectors", FactorPairSymmetry(vector), vector),
  };
}

/// Points of moderate size, at which no loss vanishes.
inline std::vector<Vector> symmetry_points(const Objective& objective, Random& random) {
  std::vector<Vector> points;
  for (const double size : {0.3, 1.0, 1.5}) {
    points.push_back(random_vector(objective.dimension(), random, size));
  }
  return points;
}

}  // namespace symport::testing
