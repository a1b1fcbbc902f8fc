// SPDX-License-Identifier: MIT
#include "support/one_step.hpp"
#include "symport/optimizers/line_search_descent.hpp"

#include <gtest/gtest.h>

#include "support/objectives.hpp"
#include "support/regression.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/training/train.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

TEST(LineSearchDescent, IsExactOnQuadraticsInOneTrial) {
  const Quadratic quadratic = testing::dense_quadratic(6);
  const LineSearchDescent<double> descent;
  Random random(172);
  Vector w = testing::random_vector(6, random), g(6);
  OptimizerState<double> state = descent.init(6);
  for (int step = 0; step < 10; ++step) {
    const double loss = quadratic.gradient(w, g);
    // L = w'Aw along -g: t = g'g / (2 g'Ag).
    const Vector next = w - g.squaredNorm() / (2.0 * g.dot(quadratic.A() * g)) * g;
    const StepOutcome outcome = testing::one_step(descent, quadratic, loss, g, 1.0, state, w);
    ASSERT_LE(distance(w, next), tolerance::rounding);
    EXPECT_EQ(outcome.evaluations, 2.0) << "a curvature; the only trial is the next gradient";
  }
}

TEST(LineSearchDescent, EndsWhereTheLineIsFlatAndLower) {
  Random random(173);
  const LineSearchDescentOptions options;
  const LineSearchDescent<double> descent(options);
  for (const auto& row : testing::objective_table()) {
    if (row.name == "generic wavy") continue;  // unbounded below
    SCOPED_TRACE(row.name);
    for (Vector w : testing::random_points(row.objective->dimension(), random)) {
      Vector g(w.size()), after(w.size());
      OptimizerState<double> state = descent.init(w.size());
      const double start = row.objective->value(w);
      for (int step = 0; step < 20; ++step) {
        const double loss = row.objective->gradient(w, g);
        if (loss < 1e-12 * start) break;  // the slope of what is left is rounding
        if (!testing::one_step(descent, *row.objective, loss, g, 1e-3, state, w).moved) break;
        ASSERT_LT(row.objective->gradient(w, after), loss) << step;
        ASSERT_LE(std::abs(after.dot(g)), 10.0 * options.tolerance * g.squaredNorm()) << step;
      }
    }
  }
}

TEST(LineSearchDescent, FindsTheFirstMinimumOfRosenbrocksFunctionByBisection) {
  const Rosenbrock rosenbrock;
  const LineSearchDescent<double> descent({.tolerance = 1e-12});
  Vector w{{-1.2, 1.0}}, g(2), there(2);
  OptimizerState<double> state = descent.init(2);
  for (int step = 0; step < 30; ++step) {
    const double loss = rosenbrock.gradient(w, g);
    const auto slope = [&](double t) {
      rosenbrock.gradient(w - t * g, there);
      return -there.dot(g);
    };
    double low = 0.0, high = 1e-6 / g.norm();
    while (slope(high) < 0.0) high *= 1.1;
    for (int i = 0; i < 200; ++i) {
      const double middle = 0.5 * (low + high);
      (slope(middle) < 0.0 ? low : high) = middle;
    }
    const Vector next = w - low * g;
    ASSERT_TRUE(testing::one_step(descent, rosenbrock, loss, g, 1e-3, state, w).moved);
    ASSERT_LE(distance(w, next), tolerance::accumulated) << step;
  }
}

TEST(LineSearchDescent, CountsEveryEvaluation) {
  for (const auto& problem : testing::golden_regressions()) {
    const CountingObjective<double> counted(problem.objective);
    Vector w = problem.start;
    const RunSummary run =
        train<double>(counted, LineSearchDescent<double>(), w, {.max_steps = 20});
    EXPECT_EQ(run.evaluations, counted.count().gradient_equivalents());
  }
}

}  // namespace
}  // namespace symport
