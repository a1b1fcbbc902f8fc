// SPDX-License-Identifier: MIT
#include "symport/training/train.hpp"

#include <gmock/gmock.h>

#include "support/golden.hpp"
#include "support/single_precision.hpp"
#include "support/symmetries.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/objectives/generic_objective.hpp"
#include "symport/optimizers/adagrad.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/optimizers/newton.hpp"
#include "symport/search/angle_scan.hpp"
#include "symport/search/auto_search.hpp"
#include "symport/search/fixed_ascent.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance, ::testing::HasSubstr;
using Options = TrainOptions<double>;

const GradientDescent<double> descent;

TEST(Train, FollowsTheGoldenTrajectories) {
  const auto golden = testing::read_golden("test_functions.json");
  const std::vector<std::pair<std::string, std::shared_ptr<const Objective>>> functions = {
      {"rosenbrock", std::make_shared<Rosenbrock>()},
      {"booth", std::make_shared<Booth>()},
      {"ellipse_a5", std::make_shared<Ellipse>(5.0)}};
  for (const auto& [name, objective] : functions) {
    const auto& reference = golden.at(name);
    Vector w = testing::golden_vector(reference.at("gd").front().at("x"));
    const Index steps = reference.at("gd").back().at("step");
    const RunSummary run =
        train<double>(*objective, descent, w,
                      {.max_steps = steps, .learning_rate = reference.at("lr").get<double>()});
    for (const auto& expected : reference.at("gd")) {
      const auto step = expected.at("step").get<std::size_t>();
      SCOPED_TRACE(name + " step " + std::to_string(step));
      const TraceRow& row = run.trace.rows.at(step);
      EXPECT_LE(distance(run.trace.points.at(step), testing::golden_vector(expected.at("x"))),
                tolerance::golden_trajectory);
      EXPECT_LE(distance(row.loss, expected.at("loss").get<double>()),
                tolerance::golden_trajectory);
      EXPECT_LE(distance(row.grad_sq, expected.at("grad_sq").get<double>()),
                tolerance::golden_trajectory);
    }
  }
}

// Algorithm 1 of the paper, written out.
TEST(Train, IsAlgorithmOne) {
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  const AngleScan scan;
  const Index steps = 500;
  const double rate = 1e-3;

  Vector expected = objective.start(), gradient(2);
  Random random(7);
  for (Index t = 0; t < steps; ++t) {
    if (t % 100 == 99) {
      const auto orbit = symmetry.orbit(objective, expected);
      teleport<double>(objective, *orbit, scan, {.learning_rate = rate}, random, expected);
    }
    objective.gradient(expected, gradient);
    expected -= rate * gradient;
  }

  Vector w = objective.start();
  const RunSummary run = train<double>(objective, descent, w,
                                       {.max_steps = steps,
                                        .learning_rate = rate,
                                        .teleport = {.symmetry = &symmetry,
                                                     .search = &scan,
                                                     .schedule = every(100, 99),
                                                     .rehearsal = 0},
                                        .seed = 7});
  EXPECT_TRUE(testing::identical(w, expected));
  EXPECT_EQ(run.status, RunStatus::step_limit);
  EXPECT_EQ(run.steps, steps);
  EXPECT_EQ(run.final_loss, objective.value(w));
  EXPECT_EQ(run.teleports.size(), 5u);
}

TEST(Train, TracesTheStateBeforeEveryUpdate) {
  const Booth objective;
  const auto symmetry = booth_rotation();
  Vector w = objective.start();
  const RunSummary run = train<double>(objective, descent, w,
                                       {.max_steps = 10,
                                        .learning_rate = 0.08,
                                        .teleport = {.symmetry = &symmetry, .schedule = at({4})}});
  ASSERT_EQ(run.trace.rows.size(), 11u);
  ASSERT_EQ(run.trace.points.size(), 11u);
  ASSERT_EQ(run.teleports.size(), 1u);
  EXPECT_EQ(run.teleports[0].step, 4);
  EXPECT_TRUE(run.teleports[0].accepted);
  EXPECT_EQ(run.accepted_teleports(), 1);
  Vector gradient(2);
  for (std::size_t t = 0; t <= 10; ++t) {
    const TraceRow& row = run.trace.rows[t];
    EXPECT_EQ(row.step, static_cast<Index>(t));
    EXPECT_EQ(row.loss, objective.gradient(run.trace.points[t], gradient));
    EXPECT_EQ(row.grad_sq, gradient.squaredNorm());
    EXPECT_EQ(row.learning_rate, 0.08);
    EXPECT_EQ(row.teleported, t == 4);
    if (t > 0) {
      EXPECT_GT(row.evaluations, run.trace.rows[t - 1].evaluations);
      EXPECT_GE(row.seconds, run.trace.rows[t - 1].seconds);
    }
    // The row of a teleport shows the point that it went to.
    if (t != 4 && t > 0) {
      objective.gradient(run.trace.points[t - 1], gradient);
      EXPECT_LE(distance(run.trace.points[t], run.trace.points[t - 1] - 0.08 * gradient),
                tolerance::rounding);
    }
  }
  EXPECT_EQ(run.trace.rows[4].grad_sq, run.teleports[0].grad_sq_after);
  EXPECT_TRUE(testing::identical(run.trace.points.back(), w));
}

TEST(Train, KeepsPointsOfSmallProblemsOnlyAndNoTraceWhenToldSo) {
  const auto large = Quadratic::diagonal(Trace::max_point_dimension + 1, 4.0);
  Vector w = large.start();
  RunSummary run = train<double>(large, descent, w, {.max_steps = 3, .learning_rate = 0.01});
  EXPECT_EQ(run.trace.rows.size(), 4u);
  EXPECT_TRUE(run.trace.points.empty());
  run = train<double>(large, descent, w, {.max_steps = 3, .learning_rate = 0.01, .trace = false});
  EXPECT_TRUE(run.trace.rows.empty());
  EXPECT_EQ(run.steps, 3);
}

TEST(Train, MakesNoStepWhenNoneIsAskedFor) {
  const Booth objective;
  Vector w = objective.start();
  const auto symmetry = booth_rotation();
  const RunSummary run =
      train<double>(objective, descent, w,
                    {.max_steps = 0, .teleport = {.symmetry = &symmetry, .schedule = every(1)}});
  EXPECT_TRUE(testing::identical(w, objective.start()));
  EXPECT_EQ(run.trace.rows.size(), 1u);
  EXPECT_TRUE(run.teleports.empty());
  EXPECT_EQ(run.final_loss, 144.0);
}

struct StopRow {
  std::string name;
  Stopping stop;
  std::function<bool(const std::vector<TraceRow>&, std::size_t)> met;
};

TEST(Train, StopsAsSoonAsACriterionIsMet) {
  const Ellipse objective;
  Vector whole = objective.start();
  const auto rows =
      train<double>(objective, descent, whole, {.max_steps = 200, .learning_rate = 0.02})
          .trace.rows;
  const std::vector<StopRow> table = {
      {"loss", {.loss_below = 0.5}, [](const auto& r, auto t) { return r[t].loss < 0.5; }},
      {"gradient",
       {.grad_sq_below = 0.1},
       [](const auto& r, auto t) { return r[t].grad_sq < 0.1; }},
      {"change",
       {.loss_change_below = 1e-3},
       [](const auto& r, auto t) { return t > 0 && std::abs(r[t].loss - r[t - 1].loss) < 1e-3; }},
      {"the first of two", {.loss_below = 0.5, .grad_sq_below = 60.0}, [](const auto& r, auto t) {
         return r[t].loss < 0.5 || r[t].grad_sq < 60.0;
       }}};
  for (const StopRow& row : table) {
    std::size_t expected = 0;
    while (!row.met(rows, expected)) ++expected;
    ASSERT_GT(expected, 0u);
    Vector w = objective.start();
    const RunSummary run = train<double>(
        objective, descent, w, {.max_steps = 200, .learning_rate = 0.02, .stop = row.stop});
    EXPECT_EQ(run.status, RunStatus::converged) << row.name;
    EXPECT_EQ(run.steps, static_cast<Index>(expected)) << row.name;
    EXPECT_EQ(run.final_loss, rows[expected].loss) << row.name;
    EXPECT_EQ(run.trace.rows.size(), expected + 1) << row.name;
  }
}

TEST(Train, ALossBelowZeroIsNoReasonToStop) {
  const auto below = [](double offset) {
    return GenericObjective(2,
                            [offset](const auto& w) { return w[0] * w[0] + w[1] * w[1] - offset; });
  };
  Vector w{{3.0, 1.0}}, v = w;
  const TrainOptions<double> options{.max_steps = 100, .learning_rate = 0.1};
  const RunSummary run = train<double>(below(100.0), descent, w, options);
  train<double>(below(0.0), descent, v, options);
  EXPECT_EQ(run.steps, 100);
  EXPECT_EQ(w, v);
  Vector u{{3.0, 1.0}};
  const RunSummary stopped =
      train<double>(below(100.0), descent, u,
                    {.max_steps = 100, .learning_rate = 0.1, .stop = {.loss_below = -95.0}});
  EXPECT_EQ(stopped.status, RunStatus::converged);
  EXPECT_LT(stopped.final_loss, -95.0);
  EXPECT_LT(stopped.steps, 10);
}

TEST(Train, SaysAtWhichStepItDivergedAndKeepsTheTrace) {
  const Rosenbrock objective;
  Vector w = objective.start();
  const RunSummary run =
      train<double>(objective, descent, w, {.max_steps = 100, .learning_rate = 0.1});
  EXPECT_EQ(run.status, RunStatus::diverged);
  EXPECT_GT(run.steps, 0);
  EXPECT_LT(run.steps, 100);
  ASSERT_EQ(run.trace.rows.size(), static_cast<std::size_t>(run.steps) + 1);
  for (std::size_t t = 0; t + 1 < run.trace.rows.size(); ++t) {
    EXPECT_TRUE(std::isfinite(run.trace.rows[t].loss));
  }
  EXPECT_FALSE(std::isfinite(run.trace.rows.back().loss) &&
               std::isfinite(run.trace.rows.back().grad_sq));
  EXPECT_THAT(run.brief_report(), HasSubstr("diverged at step " + std::to_string(run.steps)));
}

TEST(Train, FinishesTheStepAtWhichItsWatcherSaysStop) {
  const Ellipse objective;
  Vector w = objective.start();
  std::vector<Index> seen;
  const RunSummary run =
      train<double>(objective, descent, w,
                    {.max_steps = 100, .learning_rate = 0.02, .watcher = [&](const TraceRow& row) {
                       seen.push_back(row.step);
                       return row.step < 5;
                     }});
  EXPECT_EQ(run.status, RunStatus::interrupted);
  EXPECT_EQ(run.steps, 6);
  EXPECT_EQ(seen, (std::vector<Index>{0, 1, 2, 3, 4, 5}));
  Vector same = objective.start();
  train<double>(objective, descent, same, {.max_steps = 6, .learning_rate = 0.02});
  EXPECT_TRUE(testing::identical(w, same));
}

TEST(Train, EndsWhenAnAutomaticRateFindsNoStep) {
  const Booth objective;
  Vector w = objective.start();
  const RunSummary run =
      train<double>(objective, CurvatureDescent<double>(), w, {.max_steps = 10000});
  EXPECT_EQ(run.status, RunStatus::converged);
  EXPECT_LT(run.steps, 10000);
  EXPECT_LE(run.final_loss, 1e-25);
  EXPECT_GT(run.trace.rows.front().learning_rate, 0.01);  // J / Phi, not the guess 1e-3
}

TEST(Train, FollowsALearningRateSchedule) {
  const Ellipse objective;
  Vector w = objective.start(), expected = w, gradient(2);
  const auto rate = LearningRate::step(0.05, 0.5, 10);
  const RunSummary run =
      train<double>(objective, descent, w, {.max_steps = 30, .learning_rate = rate});
  for (Index t = 0; t < 30; ++t) {
    objective.gradient(expected, gradient);
    expected -= 0.05 * std::pow(0.5, t / 10) * gradient;
  }
  EXPECT_LE(distance(w, expected), tolerance::rounding);
  EXPECT_EQ(run.trace.rows[25].learning_rate, 0.0125);
}

TEST(Train, TeleportsNowhereAtALearningRateOfZero) {
  const Booth objective;
  const auto symmetry = booth_rotation();
  Vector w = objective.start();
  const RunSummary run =
      train<double>(objective, descent, w,
                    {.max_steps = 20,
                     .learning_rate = LearningRate::cosine(0.01, 10),
                     .teleport = {.symmetry = &symmetry, .schedule = at({5, 15})}});
  ASSERT_EQ(run.teleports.size(), 2u);
  EXPECT_TRUE(run.teleports[0].accepted);
  EXPECT_FALSE(run.teleports[1].accepted);
  EXPECT_EQ(run.status, RunStatus::step_limit);
}

TEST(Train, RepeatsARunFromItsSeedAndVariesWithIt) {
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  const FixedAscent search({.steps = 10, .rate = 0.1});
  const auto result = [&](std::uint64_t seed) {
    Vector w = objective.start();
    train<double>(objective, descent, w,
                  {.max_steps = 300,
                   .teleport = {.symmetry = &symmetry,
                                .search = &search,
                                .schedule = every(100, 99),
                                .objective = ObjectiveKind::gradient_norm},
                   .seed = seed});
    return w;
  };
  EXPECT_TRUE(testing::identical(result(3), result(3)));
  EXPECT_FALSE(testing::identical(result(3), result(4)));
}

TEST(Train, CountsEveryEvaluationOfTheObjective) {
  const Rosenbrock inner;
  const auto symmetry = rosenbrock_rotation();
  const AdaGrad<double> adagrad;
  const Momentum<double> momentum;
  const CurvatureDescent<double> curvature;
  const Newton<double> newton;
  const std::vector<std::pair<const Optimizer*, double>> table = {
      {&descent, 1e-3}, {&adagrad, 0.1}, {&momentum, 1e-4}, {&curvature, 1e-3}, {&newton, 0.5}};
  for (const auto& [optimizer, rate] : table) {
    for (const bool teleporting : {false, true}) {
      const CountingObjective<double> counting(inner);
      Vector w = inner.start();
      const RunSummary run = train<double>(
          counting, *optimizer, w,
          {.max_steps = 20,
           .learning_rate = rate,
           .teleport = {.symmetry = &symmetry, .schedule = teleporting ? every(7, 3) : never()}});
      // A refused candidate whose loss was not needed may be charged half a gradient.
      const double slack = 0.5 * static_cast<double>(run.teleports.size());
      EXPECT_NEAR(run.evaluations, counting.count().gradient_equivalents(), slack + 1e-9)
          << optimizer->name() << (teleporting ? " with teleports" : "");
    }
  }
}

TEST(Train, RunsInFloat) {
  const Ellipse inner;
  const testing::SinglePrecision objective(inner);
  VectorOf<float> w = inner.start().cast<float>();
  Vector exact = inner.start();
  const RunSummary run = train<float>(objective, GradientDescent<float>(), w,
                                      {.max_steps = 50, .learning_rate = 0.02});
  train<double>(inner, descent, exact, {.max_steps = 50, .learning_rate = 0.02});
  EXPECT_LE((w.cast<double>() - exact).norm(), tolerance::single_precision);
  EXPECT_EQ(run.trace.points.size(), 51u);
}

TEST(Train, RefusesBadOptionsByField) {
  const Booth objective;
  const auto symmetry = rosenbrock_rotation(2);
  const auto field = [&](Vector w, const Options& options) -> std::string {
    try {
      train<double>(objective, descent, w, options);
    } catch (const InvalidArgument& error) {
      return error.field();
    }
    return "accepted";
  };
  EXPECT_EQ(field(Vector::Zero(3), {}), "start");
  EXPECT_EQ(field(objective.start(), {.max_steps = -1}), "max_steps");
  EXPECT_EQ(field(objective.start(), {.teleport = {.schedule = every(10)}}), "teleport.symmetry");
  EXPECT_EQ(field(objective.start(), {.teleport = {.symmetry = &symmetry, .schedule = every(10)}}),
            "symmetry SO(4)");
}

TEST(RunSummary, ReportsInOneLine) {
  RunSummary run;
  run.steps = 1000;
  run.final_loss = 1.2e-29;
  run.final_grad_sq = 3.4e-27;
  run.seconds = 2e-4;
  run.teleports.resize(10);
  for (std::size_t i = 0; i < 9; ++i) run.teleports[i].accepted = true;
  EXPECT_EQ(run.brief_report(),
            "1000 steps, loss 1.2e-29, |gradient|^2 3.4e-27, 10 teleports (9 accepted), 0.2 ms");
}

}  // namespace
}  // namespace symport
