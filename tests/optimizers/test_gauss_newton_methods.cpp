// SPDX-License-Identifier: MIT
// Levenberg-Marquardt and the natural gradient.
#include <gtest/gtest.h>

#include <iostream>

#include "core/dense.hpp"
#include "support/networks.hpp"
#include "support/objectives.hpp"
#include "support/one_step.hpp"
#include "support/refusal.hpp"
#include "support/regression.hpp"
#include "symport/objectives/gauss_newton.hpp"
#include "symport/optimizers/levenberg_marquardt.hpp"
#include "symport/optimizers/natural_gradient.hpp"
#include "symport/training/train.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

/// (A'A + mu)^-1 dL/dw by a dense solution in the parameters, mu = `part` times the mean of the
/// eigenvalues that can be non-zero.
Vector dense_step(const Objective& objective, const Vector& w, double part) {
  const auto form = gauss_newton<double>(objective);
  Matrix G;
  form->matrix(w, G);
  Vector gradient(w.size());
  objective.gradient(w, gradient);
  const double mean = G.trace() / static_cast<double>(std::min(form->rows(), w.size()));
  G.diagonal().array() += part * mean;
  return solve(G, gradient);
}

TEST(LevenbergMarquardt, TakesTheDenseStepInParametersAndInRows) {
  Random random(177);
  const LevenbergMarquardt<double> lm({.damping = 0.5});
  for (const Index samples : {3, 40}) {  // fewer rows than parameters, and more
    const auto problem =
        testing::random_problem<double>({4, 5, 3}, "tanh", "mean_squares", true, samples, random);
    Vector w = problem.w, gradient(w.size());
    const double loss = problem.objective.gradient(w, gradient);
    auto state = lm.init(w.size());
    ASSERT_TRUE(testing::one_step(lm, problem.objective, loss, gradient, 1.0, state, w).moved);
    // A refused trial doubles the damping.
    const double refusals = std::log2(state["damping"][1] / 2.0);
    ASSERT_EQ(refusals, 0.0);
    const Vector expected = dense_step(problem.objective, problem.w, 0.5);
    EXPECT_LE(distance(Vector(problem.w - w), expected), tolerance::accumulated) << samples;
  }
}

TEST(LevenbergMarquardt, ConvergesQuadraticallyOnTheRegression) {
  for (const auto& problem : testing::golden_regressions()) {
    Vector w = problem.start;
    const RunSummary run = train<double>(problem.objective, LevenbergMarquardt<double>(), w,
                                         {.max_steps = 60, .stop = {.loss_below = 1e-22}});
    EXPECT_LE(run.final_loss, 1e-22);
    std::vector<double> digits;  // of the residuals, which are the root of the loss
    std::cout << "digits:";
    for (const TraceRow& row : run.trace.rows) {
      digits.push_back(-0.5 * std::log10(row.loss / run.trace.rows.front().loss));
      std::cout << ' ' << digits.back();
    }
    std::cout << ", " << run.evaluations << " evaluations\n";
    // |r'| <= 300 |r|^2, relative to the first, once there are two digits and until rounding.
    int doublings = 0;
    for (std::size_t i = 1; i < digits.size(); ++i) {
      if (digits[i - 1] < 2.0 || digits[i - 1] > 9.0) continue;
      EXPECT_GE(digits[i], 2.0 * digits[i - 1] - 2.5) << "step " << i;
      doublings += digits[i - 1] > 4.0 ? 1 : 0;
    }
    EXPECT_GE(doublings, 1);
  }
}

TEST(LevenbergMarquardt, ReachesTheMinimumOfTestFunctions) {
  for (const auto& row : testing::objective_table()) {
    if (!row.function) continue;
    Vector w = row.function->start();
    const RunSummary run =
        train<double>(*row.function, LevenbergMarquardt<double>(), w, {.max_steps = 200});
    EXPECT_LE(run.final_loss - row.function->minimum(), 1e-9 * (1.0 + row.function->minimum()))
        << row.name << ", " << run.steps << " steps";
  }
}

TEST(LevenbergMarquardt, NeverRaisesTheLossAndAgreesInFloat) {
  Random random(178);
  const auto problem =
      testing::random_problem<float>({4, 6, 3}, "leaky_relu", "mean_squares", true, 8, random);
  VectorOf<float> w = problem.w;
  const RunSummary run =
      train<float>(problem.objective, LevenbergMarquardt<float>(), w, {.max_steps = 30});
  for (std::size_t i = 1; i < run.trace.rows.size(); ++i) {
    EXPECT_LT(run.trace.rows[i].loss, run.trace.rows[i - 1].loss);
  }
  EXPECT_LE(run.final_loss, 1e-6 * run.trace.rows.front().loss);
}

TEST(LevenbergMarquardt, SaysWhatItCannotWorkOn) {
  Random random(179);
  const auto classes =
      testing::random_problem<double>({4, 5, 3}, "tanh", "cross_entropy", true, 5, random);
  const auto squares =
      testing::random_problem<double>({4, 5, 3}, "tanh", "mean_squares", true, 5, random);
  const auto refusal = [](const LevenbergMarquardt<double>& lm, const Objective& objective) {
    try {
      Vector w = Vector::Zero(objective.dimension());
      train<double>(objective, lm, w, {.max_steps = 1});
    } catch (const InvalidArgument& error) {
      return std::string(error.field() + ": " + error.what());
    }
    return std::string("accepted");
  };
  EXPECT_NE(refusal(LevenbergMarquardt<double>(), classes.objective).find("natural_gradient"),
            std::string::npos);
  EXPECT_NE(refusal(LevenbergMarquardt<double>(), *testing::generic(2, testing::booth_loss))
                .find("derivatives"),
            std::string::npos);
  EXPECT_NE(refusal(LevenbergMarquardt<double>({.max_size = 14}), squares.objective)
                .find("43 parameters and 15 rows"),
            std::string::npos);
  EXPECT_EQ(refusal(LevenbergMarquardt<double>({.max_size = 15}), squares.objective), "accepted");
}

TEST(NaturalGradient, WithAFixedDampingIsTheDenseStep) {
  Random random(180);
  const NaturalGradient<double> rule({.damping = 0.01, .adaptive = false});
  EXPECT_FALSE(rule.automatic_rate());
  for (const char* loss : {"cross_entropy", "half_sum_squares"}) {
    for (const Index samples : {3, 40}) {
      const auto problem =
          testing::random_problem<double>({4, 5, 3}, "tanh", loss, true, samples, random);
      Vector w = problem.w, gradient(w.size());
      const double value = problem.objective.gradient(w, gradient);
      auto state = rule.init(w.size());
      testing::one_step(rule, problem.objective, value, gradient, 0.3, state, w);
      const Vector expected = 0.3 * dense_step(problem.objective, problem.w, 0.01);
      EXPECT_LE(distance(Vector(problem.w - w), expected), tolerance::accumulated)
          << loss << ' ' << samples;
    }
  }
}

TEST(NaturalGradient, LowersTheLossOfClassesAtEveryStep) {
  Random random(181);
  for (const Index samples : {10, 60}) {
    const auto problem =
        testing::random_problem<double>({4, 8, 3}, "tanh", "cross_entropy", true, samples, random);
    Vector w = problem.w;
    const RunSummary run =
        train<double>(problem.objective, NaturalGradient<double>(), w, {.max_steps = 40});
    for (std::size_t i = 1; i < run.trace.rows.size(); ++i) {
      EXPECT_LT(run.trace.rows[i].loss, run.trace.rows[i - 1].loss);
    }
    std::cout << samples << " samples: loss " << run.trace.rows.front().loss << " to "
              << run.final_loss << " in " << run.steps << " steps\n";
    EXPECT_LE(run.final_loss, 0.1 * run.trace.rows.front().loss);
  }
}

}  // namespace
}  // namespace symport
