// SPDX-License-Identifier: MIT
#include "support/symmetries.hpp"

namespace symport::testing {

namespace {

template <class S, class O>
SymmetryRow symmetry_row(std::string name, S symmetry, O objective) {
  return {std::move(name), std::make_shared<const S>(std::move(symmetry)),
          std::make_shared<const O>(std::move(objective))};
}

constexpr auto user_variables = [](const auto& x) {
  using std::sinh;
  auto u = x;
  u[0] = 2.0 * x[0] + pow(x[1], 3);
  u[1] = 0.5 * (exp(x[1]) - exp(-x[1]));
  return u;
};
constexpr auto user_variables_inverse = [](const auto& u) {
  using std::asinh;
  auto x = u;
  x[1] = asinh(u[1]);
  x[0] = 0.5 * (u[0] - pow(x[1], 3));
  return x;
};

constexpr auto positive_variables = [](const auto& x) {
  using std::exp;
  auto u = x;
  for (Index i = 0; i < x.size(); ++i) u[i] = exp(x[i]);
  return u;
};
constexpr auto positive_variables_inverse = [](const auto& u) {
  using std::log;
  auto x = u;
  for (Index i = 0; i < u.size(); ++i) x[i] = log(u[i]);
  return x;
};

}  // namespace

RotationSymmetry user_rotation() { return rotation(2, user_variables, user_variables_inverse); }
std::shared_ptr<const Objective> user_objective() {
  return generic(2, [](const auto& x) { return user_variables(x).squaredNorm(); });
}

RotationSymmetry positive_rotation(Index n) {
  return rotation(n, positive_variables, positive_variables_inverse);
}
std::shared_ptr<const Objective> positive_objective(Index n) {
  return generic(n, [](const auto& x) { return positive_variables(x).squaredNorm(); });
}

std::vector<SymmetryRow> symmetry_table() {
  const auto dense = dense_quadratic(5);
  const auto diagonal = Quadratic::diagonal(4, 100.0);
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
      symmetry_row("O of two variables", OrthogonalSymmetry(Quadratic::diagonal(2, 9.0)),
                   Quadratic::diagonal(2, 9.0)),
      symmetry_row("GL of a wide pair", FactorPairSymmetry(wide), wide),
      symmetry_row("GL of a tall pair", FactorPairSymmetry(tall), tall),
      symmetry_row("GL of vectors", FactorPairSymmetry(vector), vector),
  };
}

}  // namespace symport::testing
