// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <functional>

#include "core/dense.hpp"
#include "support/golden.hpp"
#include "support/objectives.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/optimizers/adagrad.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/training/train.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

TEST(TestFunction, MinimizerHasTheMinimumAndNoGradient) {
  Random random(41);
  for (const auto& row : testing::objective_table()) {
    if (!row.function) continue;
    SCOPED_TRACE(row.name);
    const Vector w = row.function->minimizer();
    ASSERT_EQ(w.size(), row.function->dimension());
    Vector gradient(w.size());
    const double loss = row.function->gradient(w, gradient);
    EXPECT_NEAR(loss, row.function->minimum(), tolerance::rounding);
    EXPECT_LE(gradient.norm(), tolerance::rounding * (1.0 + w.norm()));
    for (const Vector& elsewhere : testing::random_points(w.size(), random)) {
      EXPECT_GT(row.function->value(w + elsewhere), row.function->minimum() - tolerance::rounding);
    }
  }
}

TEST(TestFunction, UsualRunLowersTheLoss) {
  for (const auto& row : testing::objective_table()) {
    if (!row.function) continue;
    SCOPED_TRACE(row.name);
    const TestFunction& f = *row.function;
    EXPECT_FALSE(f.name().empty());
    EXPECT_FALSE(f.formula().empty());
    EXPECT_FALSE(f.citation().empty());
    Vector w = f.start(), gradient(f.dimension());
    const double before = f.gradient(w, gradient) - f.minimum();
    for (Index step = 0; step < f.usual_run().steps; ++step) {
      f.gradient(w, gradient);
      w -= f.usual_run().learning_rate * gradient;
    }
    EXPECT_LT(f.value(w) - f.minimum(), 0.5 * before);
  }
}

// Alternating least squares knows nothing of singular values.
TEST(MatrixFactorization, MinimumIsWhereAlternatingLeastSquaresEnds) {
  const auto problem = testing::full_rank_factorization(4, 3, 2);
  Random random(42);
  Matrix U = random.normal_matrix(4, 2), V;
  for (int i = 0; i < 2000; ++i) {
    V = solve(U.transpose() * U, U.transpose() * problem.Y());
    U = solve(V * V.transpose(), V * problem.Y().transpose()).transpose();
  }
  EXPECT_LE(distance((problem.Y() - U * V).squaredNorm(), problem.minimum()),
            tolerance::accumulated);
}

TEST(MatrixFactorization, RandomTargetHasTheRankItWasMadeWith) {
  const auto problem = MatrixFactorization::random(5, 6, 2, 7);
  EXPECT_EQ(problem.Y().rows(), 5);
  EXPECT_EQ(problem.Y().cols(), 6);
  const Vector singular = singular_values(problem.Y()).values;
  EXPECT_GT(singular[1], 0.1);
  EXPECT_LE(singular[2], tolerance::rounding);
  EXPECT_EQ(problem.Y(), MatrixFactorization::random(5, 6, 2, 7).Y());
  EXPECT_NE(problem.Y(), MatrixFactorization::random(5, 6, 2, 8).Y());
}

TEST(Quadratic, DiagonalHasEigenvaluesFromOneToItsCondition) {
  const Vector d = Quadratic::diagonal(5, 16.0).A().diagonal();
  EXPECT_LE(distance(d, Vector{{1.0, 2.0, 4.0, 8.0, 16.0}}), tolerance::rounding);
}

TEST(Quadratic, RotatedHasTheSameEigenvaluesAndOtherAxes) {
  const Quadratic diagonal = Quadratic::diagonal(12, 1000.0);
  const Quadratic rotated = Quadratic::rotated(12, 1000.0, 5);
  const SymmetricEigen eigen = symmetric_eigen(rotated.A());
  EXPECT_LE(distance(eigen.values, diagonal.A().diagonal()), tolerance::accumulated);
  // No eigenvector is an axis.
  EXPECT_LT(eigen.vectors.cwiseAbs().maxCoeff(), 0.95);
  EXPECT_EQ(rotated.A(), Quadratic::rotated(12, 1000.0, 5).A());
  EXPECT_NE(rotated.A(), Quadratic::rotated(12, 1000.0, 6).A());
}

/// Steps along the gradient do not see a rotation; scaled coordinates do.
TEST(Quadratic, ARotationIsNothingToGradientDescentAndALotToAdaGrad) {
  const auto last_loss = [](const Quadratic& quadratic, const Vector& start,
                            const Optimizer& optimizer, double rate) {
    Vector w = start;
    return train(quadratic, optimizer, w, {.max_steps = 30, .learning_rate = rate}).final_loss;
  };
  const Quadratic diagonal = Quadratic::diagonal(8, 1000.0);
  const Quadratic rotated = Quadratic::rotated(8, 1000.0, 5);
  const Matrix Q = symmetric_eigen(rotated.A()).vectors;  // ascending, as on the diagonal
  const Vector start = Vector::Ones(8), turned = Q * start;
  const double plain = last_loss(diagonal, start, GradientDescent{}, 5e-4);
  EXPECT_NEAR(last_loss(rotated, turned, GradientDescent{}, 5e-4), plain, 1e-9 * plain);
  EXPECT_GT(last_loss(rotated, turned, AdaGrad{}, 1.0),
            1e3 * last_loss(diagonal, start, AdaGrad{}, 1.0));
}

TEST(Rosenbrock, SeveralPairsAreASumOfSinglePairs) {
  Random random(43);
  const Vector x = testing::random_vector(6, random);
  const Rosenbrock one(1), three(3);
  EXPECT_LE(distance(three.value(x), one.value(x.segment(0, 2)) + one.value(x.segment(2, 2)) +
                                         one.value(x.segment(4, 2))),
            tolerance::rounding);
}

TEST(LinearModel, PredictsForAnyData) {
  auto model = testing::random_linear_model(2, 3, 5);
  Random random(44);
  const Vector w = testing::random_vector(6, random);
  const Matrix X = random.normal_matrix(3, 7);
  const Matrix W{{w[0], w[2], w[4]}, {w[1], w[3], w[5]}};
  EXPECT_LE(distance(model.predict(w, X), W * X), tolerance::rounding);
  const Matrix other = random.normal_matrix(3, 5);
  model.set_data(other);
  EXPECT_LE(distance(model.value(w), 0.5 * (W * other - model.Y()).squaredNorm()),
            tolerance::rounding);
  EXPECT_THROW(model.set_data(X), std::logic_error);
}

struct GoldenRow {
  std::string name;
  std::shared_ptr<const Objective> objective;
};

TEST(GoldenNumbers, GradientDescentFollowsTheTrajectories) {
  const auto golden = testing::read_golden("test_functions.json");
  const std::vector<GoldenRow> rows = {{"rosenbrock", std::make_shared<Rosenbrock>()},
                                       {"booth", std::make_shared<Booth>()},
                                       {"ellipse_a5", std::make_shared<Ellipse>(5.0)}};
  for (const auto& row : rows) {
    const auto& reference = golden.at(row.name);
    const double rate = reference.at("lr");
    Vector x = testing::golden_vector(reference.at("gd").at(0).at("x")), gradient(x.size());
    Index step = 0;
    for (const auto& expected : reference.at("gd")) {
      SCOPED_TRACE(row.name + " step " + std::to_string(expected.at("step").get<Index>()));
      for (; step < expected.at("step").get<Index>(); ++step) {
        row.objective->gradient(x, gradient);
        x -= rate * gradient;
      }
      const double loss = row.objective->gradient(x, gradient);
      EXPECT_LE(distance(x, testing::golden_vector(expected.at("x"))),
                tolerance::golden_trajectory);
      EXPECT_LE(distance(loss, expected.at("loss").get<double>()), tolerance::golden_trajectory);
      EXPECT_LE(distance(gradient.squaredNorm(), expected.at("grad_sq").get<double>()),
                tolerance::golden_trajectory);
    }
    EXPECT_GE(step, 10);
  }
}

struct BadInput {
  std::string field;
  std::function<void()> make;
};

TEST(Objectives, RefuseBadInputByField) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const std::vector<BadInput> table = {
      {"a", [] { Ellipse(0.0); }},
      {"a", [] { Ellipse(-1.0); }},
      {"a", [=] { Ellipse{nan}; }},
      {"a", [=] { Ellipse{infinity}; }},
      {"pairs", [] { Rosenbrock(0); }},
      {"A", [] { Quadratic(Matrix::Ones(2, 3)); }},
      {"A", [] { Quadratic(Matrix(0, 0)); }},
      {"A",
       [] {
         Quadratic(Matrix{{1.0, 0.5}, {0.0, 1.0}});
       }},
      {"A",
       [] {
         Quadratic(Matrix{{1.0, 2.0}, {2.0, 1.0}});
       }},
      {"A",
       [=] {
         Quadratic(Matrix{{nan, 0.0}, {0.0, 1.0}});
       }},
      {"dimension", [] { Quadratic::diagonal(0, 2.0); }},
      {"condition", [] { Quadratic::diagonal(3, 0.5); }},
      {"dimension", [] { Quadratic::rotated(0, 2.0, 1); }},
      {"condition", [] { Quadratic::rotated(3, 0.5, 1); }},
      {"condition", [=] { Quadratic::diagonal(3, infinity); }},
      {"Y", [] { MatrixFactorization(Matrix(0, 3), 1); }},
      {"Y", [=] { MatrixFactorization(Matrix::Constant(2, 2, nan), 1); }},
      {"rank", [] { MatrixFactorization(Matrix::Ones(2, 2), 0); }},
      {"size", [] { MatrixFactorization::random(0, 2, 1, 1); }},
      {"X, Y", [] { LinearModel(Matrix::Ones(2, 3), Matrix::Ones(2, 4)); }},
      {"X", [=] { LinearModel(Matrix::Constant(2, 3, nan), Matrix::Ones(2, 3)); }},
      {"Y", [=] { LinearModel(Matrix::Ones(2, 3), Matrix::Constant(1, 3, infinity)); }},
  };
  for (std::size_t i = 0; i < table.size(); ++i) {
    try {
      table[i].make();
      ADD_FAILURE() << "row " << i << " (" << table[i].field << ") was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.field(), table[i].field) << "row " << i << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace symport
