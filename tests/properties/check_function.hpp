// SPDX-License-Identifier: MIT
#pragma once

#include "properties/check_network.hpp"
#include "support/numbers.hpp"
#include "symport/objectives/booth.hpp"
#include "symport/objectives/ellipse.hpp"
#include "symport/objectives/rosenbrock.hpp"
#include "symport/search/angle_scan.hpp"
#include "symport/search/teleport.hpp"
#include "symport/symmetries/factor_pair.hpp"
#include "symport/symmetries/orthogonal.hpp"

namespace symport::testing {

/// A test function, a point and a teleport, all random.
struct FunctionCase {
  std::string symmetry, function, search, point;
  Index rows = 2, cols = 2, rank = 1;
  double scale = 1.0, contrast = 1.0, learning_rate = 1e-3;
  double bound = std::numeric_limits<double>::infinity(), search_rate = 0.1, kappa = 0.0;
  std::optional<double> cap;
  ObjectiveKind objective = ObjectiveKind::predicted_decrease;
  std::uint64_t seed = 0;

  std::string text() const {
    return fmt::format(
        "{} {} {}x{} rank {} point {} scale {} contrast {} rate {} objective {} bound {} cap {} "
        "search {} rate {} kappa {} seed {}",
        symmetry, function, rows, cols, rank, point, scale, contrast, learning_rate,
        to_string(objective), bound, cap.value_or(-1), search, search_rate, kappa, seed);
  }
};

inline FunctionCase draw_function_case(const std::string& symmetry) {
  FunctionCase c;
  c.symmetry = symmetry;
  c.seed = static_cast<std::uint64_t>(
      *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40)));
  using Names = std::vector<std::string>;
  c.function = symmetry == "rotation"     ? drawn_from(Names{"ellipse", "rosenbrock", "booth"})
               : symmetry == "orthogonal" ? "quadratic"
                                          : "factorization";
  c.rows = drawn(1, 6);
  c.cols = drawn(1, 6);
  c.rank = drawn(1, 4);
  c.point = drawn_from(Names{"normal", "normal", "normal", "minimum", "near the minimum", "zero"});
  if (drawn(0, 1) == 1) c.scale = drawn_scale(-6, 6);
  if (drawn(0, 1) == 1) c.contrast = drawn_scale(-6, 6);
  c.learning_rate = drawn_scale(-6, 1);
  c.objective = drawn_from<ObjectiveKind>(
      {ObjectiveKind::predicted_decrease, ObjectiveKind::gradient_norm, ObjectiveKind::decrement});
  const int cap = drawn(0, 2);
  if (cap == 1) c.cap = std::numeric_limits<double>::infinity();
  if (cap == 2) c.cap = drawn_from<double>({1.0, 0.1, 10.0});
  if (drawn(0, 3) == 3) c.bound = drawn_from<double>({1.0, 0.1, 1.9});
  c.search = drawn_from(symmetry == "factor_pair"
                            ? Names{"auto", "closed", "ascent", "random", "any element", "fixed"}
                            : Names{"auto", "ascent", "random", "any element", "fixed"});
  c.search_rate = drawn_scale(-9, 1);
  if (c.search == "closed" && drawn(0, 1) == 1) c.kappa = 1.0 + drawn_scale(-3, 6);
  return c;
}

/// The function, its symmetry, and its formula in long double.
struct FunctionProblem {
  std::unique_ptr<TestFunction> objective;
  std::unique_ptr<Symmetry> symmetry;
  ExactLoss loss;
};

inline FunctionProblem make_function(const FunctionCase& c, Random& random) {
  if (c.function == "ellipse") {
    const Long a = c.contrast;
    return {std::make_unique<Ellipse>(c.contrast),
            std::make_unique<RotationSymmetry>(ellipse_rotation(c.contrast)),
            [a](const auto& x) { return x[0] * x[0] + a * x[1] * x[1]; }};
  }
  if (c.function == "rosenbrock") {
    return {std::make_unique<Rosenbrock>(c.rank),
            std::make_unique<RotationSymmetry>(rosenbrock_rotation(c.rank)), [](const auto& x) {
              Long sum = 0;
              for (std::size_t i = 0; i < x.size(); i += 2) {
                sum += 100 * std::pow(x[i] * x[i] - x[i + 1], 2) + std::pow(x[i] - 1, 2);
              }
              return sum;
            }};
  }
  if (c.function == "booth") {
    return {std::make_unique<Booth>(), std::make_unique<RotationSymmetry>(booth_rotation()),
            [](const auto& x) {
              return std::pow(x[0] + 2 * x[1] - 7, 2) + std::pow(2 * x[0] + x[1] - 5, 2);
            }};
  }
  if (c.function == "quadratic") {
    const Index n = std::max<Index>(2, c.rows);
    Matrix A = random_positive_definite(n, random);
    // Condition numbers up to 10^12.
    const Vector stretch =
        Vector::LinSpaced(n, 0.0, 1.0).unaryExpr([&](double t) { return std::pow(c.contrast, t); });
    A = (stretch.asDiagonal() * A * stretch.asDiagonal()).eval();
    A = (0.5 * (A + A.transpose())).eval();
    auto quadratic = std::make_unique<Quadratic>(A);
    auto symmetry = std::make_unique<OrthogonalSymmetry>(*quadratic);
    return {std::move(quadratic), std::move(symmetry), [A](const auto& x) {
              Long sum = 0;
              for (Index i = 0; i < A.rows(); ++i) {
                for (Index j = 0; j < A.cols(); ++j) {
                  sum += static_cast<Long>(A(i, j)) * x[static_cast<std::size_t>(i)] *
                         x[static_cast<std::size_t>(j)];
                }
              }
              return sum;
            }};
  }
  const Matrix Y = c.contrast * random.normal_matrix(c.rows, c.cols);
  auto pair = std::make_unique<MatrixFactorization>(Y, c.rank);
  auto symmetry = std::make_unique<FactorPairSymmetry>(*pair);
  const Index rank = c.rank;
  return {std::move(pair), std::move(symmetry), [Y, rank](const auto& x) {
            const Index m = Y.rows();
            Long sum = 0;
            for (Index i = 0; i < m; ++i) {
              for (Index j = 0; j < Y.cols(); ++j) {
                Long miss = Y(i, j);
                for (Index k = 0; k < rank; ++k) {
                  miss -= x[static_cast<std::size_t>(i + k * m)] *
                          x[static_cast<std::size_t>(m * rank + k + j * rank)];
                }
                sum += miss * miss;
              }
            }
            return sum;
          }};
}

/// As `check_network_case`.
inline std::string check_function_case(const FunctionCase& c, Tally& tally) {
  Random random(c.seed);
  std::optional<FunctionProblem> made;
  try {
    made = make_function(c, random);
  } catch (const InvalidArgument&) {  // A is not positive definite to rounding
    return {};
  }
  const FunctionProblem& problem = *made;
  const std::string name = c.symmetry + ", double";
  Vector w = c.scale * random.normal_matrix(problem.objective->dimension(), 1);
  if (c.point == "zero") w.setZero();
  if (c.point == "minimum") w = problem.objective->minimizer();
  if (c.point == "near the minimum") w = problem.objective->minimizer() + 1e-9 * w;
  const Vector start = w;
  NetworkCase searches;
  searches.search = c.search;
  searches.search_rate = c.search_rate;
  searches.kappa = c.kappa;
  const auto search = make_search(searches);
  Certificate certificate;
  const auto orbit = problem.symmetry->orbit(*problem.objective, w);
  const CriterionOptions criterion{
      .objective = c.objective, .learning_rate = c.learning_rate, .bound = c.bound, .cap = c.cap};
  certificate = teleport<double>(*problem.objective, *orbit, *search, criterion, random, w);
  if (!certificate.accepted) {
    tally.refused(name);
    return same_bits<double>(w, start) ? "" : "refused, and the parameters changed";
  }
  if (!w.allFinite()) return "accepted parameters that are not finite";
  const LossChange change =
      loss_change<double>(problem.loss, start, w, default_drift_tolerance<double>());
  tally.accepted(name, change);
  if (!change.kept()) return complaint(change, certificate);
  return wrong_numbers<double>(*problem.objective, certificate, w,
                               searches.prefers() ? &criterion : nullptr);
}

}  // namespace symport::testing
