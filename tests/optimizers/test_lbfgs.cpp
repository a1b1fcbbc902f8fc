// SPDX-License-Identifier: MIT
#include "support/one_step.hpp"
#include "symport/optimizers/lbfgs.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "support/golden.hpp"
#include "support/objectives.hpp"
#include "support/regression.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/symmetries/factor_pair.hpp"
#include "symport/symmetries/rotation.hpp"
#include "symport/training/train.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

struct Pair {
  Vector s, y;
};

/// The direction by the dense formula, from all pairs that are remembered.
Vector dense_direction(const std::vector<Pair>& pairs, const Vector& g) {
  const Index n = g.size();
  const Matrix I = Matrix::Identity(n, n);
  Matrix H = I;
  if (!pairs.empty()) {
    const Pair& last = pairs.back();
    H = last.s.dot(last.y) / last.y.squaredNorm() * I;
  }
  for (const Pair& p : pairs) {
    const double rho = 1.0 / p.s.dot(p.y);
    H = (I - rho * p.s * p.y.transpose()) * H * (I - rho * p.y * p.s.transpose()) +
        rho * p.s * p.s.transpose();
  }
  return -H * g;
}

TEST(Lbfgs, StepsAlongTheDenseFormulaToAPointWithBothWolfeConditions) {
  const LbfgsOptions options{.memory = 4};
  const Lbfgs<double> lbfgs(options);
  Random random(171);
  for (const auto& row : testing::objective_table()) {
    if (row.name == "generic wavy") continue;  // unbounded below
    SCOPED_TRACE(row.name);
    Vector w = testing::random_points(row.objective->dimension(), random).back();
    const Index n = w.size();
    OptimizerState<double> state = lbfgs.init(n);
    std::vector<Pair> pairs;
    Vector g(n);
    double loss = row.objective->gradient(w, g);
    const double first = g.norm();
    for (int step = 0; step < 20 && g.norm() > 1e-4 * first; ++step) {
      const Vector at = w, before = g, d = dense_direction(pairs, g);
      const double loss_before = loss;
      if (!testing::one_step(lbfgs, *row.objective, loss, before, 1.0, state, w).moved) break;
      loss = row.objective->gradient(w, g);
      const double t = (w - at).norm() / d.norm();
      ASSERT_LE(distance(Vector(w - at), Vector(t * d)), tolerance::accumulated) << step;
      EXPECT_LE(loss, loss_before + options.sufficient_decrease * t * before.dot(d)) << step;
      EXPECT_LE(std::abs(g.dot(d)), -options.curvature * before.dot(d)) << step;
      pairs.push_back({w - at, g - before});
      if (pairs.size() > 4) pairs.erase(pairs.begin());
    }
  }
}

/// Evaluations until the loss is below a part of the first.
std::vector<double> evaluations_to(const std::vector<double>& levels, const Objective& objective,
                                   const Vector& start) {
  Vector w = start;
  const RunSummary run = train<double>(objective, Lbfgs<double>(), w, {.max_steps = 1000});
  std::vector<double> counts;
  for (const double level : levels) {
    for (const TraceRow& row : run.trace.rows) {
      if (row.loss > level * run.trace.rows.front().loss) continue;
      counts.push_back(row.evaluations);
      break;
    }
  }
  return counts;
}

TEST(Lbfgs, NeedsTheEvaluationsOfSciPyWithinAFifth) {
  const auto golden = testing::read_golden("baselines.json");
  const auto levels = golden.at("levels").get<std::vector<double>>();
  const auto regressions = testing::golden_regressions();
  const Rosenbrock rosenbrock;
  std::size_t network = 0;
  for (const auto& row : golden.at("lbfgs")) {
    const std::string name = row.at("name");
    SCOPED_TRACE(name);
    const Objective& objective = name == "rosenbrock" ? static_cast<const Objective&>(rosenbrock)
                                                      : regressions[network++].objective;
    const Vector start = testing::golden_vector(row.at("start"));
    EXPECT_LE(distance(objective.value(start), row.at("loss").get<double>()), tolerance::rounding);
    const auto expected = row.at("evaluations").get<std::vector<double>>();
    const auto counts = evaluations_to(levels, objective, start);
    ASSERT_EQ(counts.size(), levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) {
      std::cout << name << " to " << levels[i] << ": " << counts[i] << " evaluations, SciPy "
                << expected[i] << '\n';
      EXPECT_LE(counts[i], 1.2 * expected[i]) << levels[i];
    }
  }
  EXPECT_EQ(network, regressions.size());
}

TEST(Lbfgs, CountsEveryEvaluation) {
  for (const auto& problem : testing::golden_regressions()) {
    const CountingObjective<double> counted(problem.objective);
    Vector w = problem.start;
    const RunSummary run = train<double>(counted, Lbfgs<double>(), w, {.max_steps = 40});
    EXPECT_EQ(run.evaluations, counted.count().gradient_equivalents());
  }
}

TEST(Lbfgs, TransportsItsPairsToThoseOfTheTeleportedSteps) {
  const MatrixFactorization pair = MatrixFactorization::random(6, 5, 2, 3);
  const FactorPairSymmetry symmetry(pair);
  const Lbfgs<double> lbfgs;
  Vector w = pair.start(), g(w.size());
  OptimizerState<double> state = lbfgs.init(w.size());
  std::vector<Vector> points{w};
  for (int step = 0; step < 5; ++step) {
    const double loss = pair.gradient(w, g);
    ASSERT_TRUE(testing::one_step(lbfgs, pair, loss, g, 1.0, state, w).moved);
    points.push_back(w);
  }
  Random random(4);
  const Matrix element = symmetry.random_element(random, 0.5);
  const auto orbit = symmetry.orbit(pair, w);
  Random again(4);
  ASSERT_TRUE(orbit->randomize(again, 0.5));
  Vector there(w.size());
  orbit->commit(there);
  const Index n = w.size();
  for (StateBuffer<double>& buffer : state.buffers) {
    if (buffer.kind == StateKind::scalar) continue;
    for (Index first = 0; first < buffer.values.size(); first += n) {
      ASSERT_TRUE(orbit->transport(buffer.values.segment(first, n), buffer.kind));
    }
  }
  EXPECT_LE(distance(state["point"], there), tolerance::rounding);
  std::vector<Vector> teleported, gradients;
  for (const Vector& point : points) {
    // The action is linear: the same element moves every point.
    Vector moved = point, gradient(n);
    ASSERT_TRUE(orbit->transport(moved, StateKind::tangent));
    pair.gradient(moved, gradient);
    teleported.push_back(moved);
    gradients.push_back(gradient);
  }
  const auto newest = static_cast<Index>(state["pairs"][1]);
  const Index places = state["steps"].size() / n;
  for (Index i = 0; i < 5; ++i) {
    const auto k = static_cast<std::size_t>(4 - i);
    const Index first = (newest + places - i) % places * n;
    EXPECT_LE(distance(Vector(state["steps"].segment(first, n)),
                       Vector(teleported[k + 1] - teleported[k])),
              tolerance::accumulated);
    EXPECT_LE(distance(Vector(state["differences"].segment(first, n)),
                       Vector(gradients[k + 1] - gradients[k])),
              tolerance::accumulated);
  }
}

TEST(Lbfgs, DropsItsPairsWhereOnlyTheParametersHaveMoved) {
  const Rosenbrock rosenbrock;
  const Lbfgs<double> lbfgs;
  Vector w = rosenbrock.start(), g(2);
  OptimizerState<double> state = lbfgs.init(2);
  for (int step = 0; step < 5; ++step) {
    const double loss = rosenbrock.gradient(w, g);
    ASSERT_TRUE(testing::one_step(lbfgs, rosenbrock, loss, g, 1.0, state, w).moved);
  }
  w = Vector{{0.3, -0.4}};
  const Vector at = w;
  const double loss = rosenbrock.gradient(w, g);
  ASSERT_TRUE(testing::one_step(lbfgs, rosenbrock, loss, g, 1.0, state, w).moved);
  EXPECT_LE(distance(Vector((at - w).normalized()), Vector(g.normalized())), tolerance::rounding);
  EXPECT_EQ(state["pairs"][0], 1.0);
}

TEST(Lbfgs, ReachesTheMinimumOfTestFunctions) {
  for (const auto& row : testing::objective_table()) {
    if (!row.function) continue;
    Vector w = row.function->start();
    const RunSummary run = train<double>(*row.function, Lbfgs<double>(), w, {.max_steps = 500});
    EXPECT_LE(run.final_loss - row.function->minimum(), 1e-10 * (1.0 + row.function->minimum()))
        << row.name << ", " << run.evaluations << " evaluations";
  }
}

}  // namespace
}  // namespace symport
