// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "core/dense.hpp"
#include "support/objectives.hpp"
#include "support/one_step.hpp"
#include "support/single_precision.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/optimizers/adagrad.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/adamw.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/lbfgs.hpp"
#include "symport/optimizers/line_search_descent.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/optimizers/nesterov.hpp"
#include "symport/optimizers/newton.hpp"
#include "symport/optimizers/prodigy.hpp"
#include "symport/optimizers/rmsprop.hpp"
#include "symport/optimizers/shampoo.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

/// All that a reference may look at: the gradients and the points so far, oldest first.
struct History {
  const Objective& objective;
  std::vector<Vector> gradients, points;
  Index n() const { return points.front().size(); }
  std::size_t steps() const { return gradients.size(); }
  const Vector& w() const { return points.back(); }
  const Vector& g() const { return gradients.back(); }
};

/// The next point by a formula that keeps no state of its own.
using Reference = std::function<Vector(const History&, double eta)>;

/// sum_i (1 - b) b^(t - i) g_i^power, entry k.
double decayed_mean(const History& past, double b, int power, Index k) {
  double sum = 0.0;
  for (std::size_t i = 0; i < past.steps(); ++i) {
    const double age = static_cast<double>(past.steps() - 1 - i);
    sum += (1.0 - b) * std::pow(b, age) * std::pow(past.gradients[i][k], power);
  }
  return sum;
}

Vector descent_reference(const History& past, double eta) {
  Vector next = past.w();
  for (Index k = 0; k < past.n(); ++k) next[k] -= eta * past.g()[k];
  return next;
}

// w_{t+1} = w_t - eta g_t + mu (w_t - w_{t-1})
Vector heavy_ball_reference(const History& past, double eta) {
  Vector next = descent_reference(past, eta);
  if (past.steps() > 1) next += 0.9 * (past.w() - past.points[past.points.size() - 2]);
  return next;
}

// Nesterov's two sequences: y_{t+1} = p_{t+1} + mu (p_{t+1} - p_t), p_{t+1} = y_t - eta g(y_t)
Vector nesterov_reference(const History& past, double eta) {
  const Vector now = past.w() - eta * past.g();
  const Vector before =
      past.steps() == 1
          ? past.points.front()
          : Vector(past.points[past.points.size() - 2] - eta * past.gradients[past.steps() - 2]);
  return now + 0.9 * (now - before);
}

Vector adagrad_reference(const History& past, double eta) {
  Vector next = past.w();
  for (Index k = 0; k < past.n(); ++k) {
    double squares = 0.0;
    for (const Vector& g : past.gradients) squares += g[k] * g[k];
    next[k] -= eta * past.g()[k] / (std::sqrt(squares) + 1e-10);
  }
  return next;
}

Vector rmsprop_reference(const History& past, double eta) {
  Vector next = past.w();
  for (Index k = 0; k < past.n(); ++k) {
    next[k] -= eta * past.g()[k] / (std::sqrt(decayed_mean(past, 0.99, 2, k)) + 1e-8);
  }
  return next;
}

Vector adam_reference(const History& past, double eta) {
  Vector next = past.w();
  const double t = static_cast<double>(past.steps());
  for (Index k = 0; k < past.n(); ++k) {
    const double m = decayed_mean(past, 0.9, 1, k) / (1.0 - std::pow(0.9, t));
    const double s = decayed_mean(past, 0.999, 2, k) / (1.0 - std::pow(0.999, t));
    next[k] -= eta * m / (std::sqrt(s) + 1e-8);
  }
  return next;
}

Vector adamw_reference(const History& past, double eta) {
  return adam_reference(past, eta) - eta * 0.01 * past.w();
}

// The whole run so far again, entry by entry.
Vector prodigy_reference(const History& past, double eta) {
  const double b1 = 0.9, b2 = 0.999, b3 = std::sqrt(b2), d_0 = 1e-6;
  std::vector<double> m(static_cast<std::size_t>(past.n())), v = m, s = m;
  double d = d_0, used = d_0, r = 0.0;
  for (std::size_t i = 0; i < past.steps(); ++i) {
    used = d;
    r *= b3;
    double size = 0.0;
    for (std::size_t k = 0; k < m.size(); ++k) {
      const auto at = static_cast<Index>(k);
      const double g = past.gradients[i][at];
      r += eta * d * d / d_0 * g * (past.points[0][at] - past.points[i][at]);
      m[k] = b1 * m[k] + (1.0 - b1) * d * g;
      v[k] = b2 * v[k] + (1.0 - b2) * d * d * g * g;
      s[k] = b3 * s[k] + eta * d * d / d_0 * g;
      size += std::abs(s[k]);
    }
    d = std::max(d, r / size);
  }
  Vector next = past.w();
  for (std::size_t k = 0; k < m.size(); ++k) {
    next[static_cast<Index>(k)] -= eta * used * m[k] / (std::sqrt(v[k]) + d * 1e-8);
  }
  return next;
}

// u = (H^2)^-1/2 g; the root of M = H^2 by Denman and Beavers' iteration.
Vector newton_reference(const History& past, double eta) {
  const Matrix H = hessian(past.objective, past.w());
  Matrix Y = H * H, Z = Matrix::Identity(past.n(), past.n());
  for (int i = 0; i < 60; ++i) {
    const Matrix next = 0.5 * (Y + inverse(Z));
    Z = 0.5 * (Z + inverse(Y));
    Y = next;
  }
  return past.w() - eta * inverse(Y) * past.g();
}

// eta = J / Phi with the dense Hessian, halved until Armijo's condition holds; where Phi <= 0 twice
// the last length.
Vector curvature_reference(const History& past, double eta) {
  const double J = past.g().squaredNorm();
  const double Phi = past.g().dot(hessian(past.objective, past.w()) * past.g());
  double rate = J / Phi;
  if (Phi <= 0.0) {
    rate = eta;
    if (past.steps() > 1) {
      const Vector last = past.points[past.points.size() - 2] - past.w();
      rate = 2.0 * last.norm() / past.gradients[past.steps() - 2].norm();
    }
  }
  const double loss = past.objective.value(past.w());
  while (past.objective.value(past.w() - rate * past.g()) > loss - 1e-4 * rate * J) rate *= 0.5;
  return past.w() - rate * past.g();
}

struct OptimizerRow {
  std::string name;
  std::shared_ptr<const BasicOptimizer<double>> in_double;
  std::shared_ptr<const BasicOptimizer<float>> in_float;
  Reference reference;
  double quadratic_rate, rosenbrock_rate;
};

template <template <class> class Rule>
OptimizerRow row(Reference reference, double quadratic_rate, double rosenbrock_rate) {
  auto made = std::make_shared<Rule<double>>();
  return {std::string(made->name()), made,           std::make_shared<Rule<float>>(),
          std::move(reference),      quadratic_rate, rosenbrock_rate};
}

/// Every optimizer with a reference in plain loops. A new one is a new row. Those that search along
/// a line have references in their own tests.
std::vector<OptimizerRow> optimizer_table() {
  return {row<GradientDescent>(descent_reference, 0.05, 1e-3),
          row<CurvatureDescent>(curvature_reference, 0.05, 1e-3),
          row<Momentum>(heavy_ball_reference, 0.02, 1e-4),
          row<Nesterov>(nesterov_reference, 0.02, 1e-4),
          row<AdaGrad>(adagrad_reference, 0.3, 0.1),
          row<RmsProp>(rmsprop_reference, 0.05, 0.01),
          row<Adam>(adam_reference, 0.1, 0.05),
          row<AdamW>(adamw_reference, 0.1, 0.05),
          row<Prodigy>(prodigy_reference, 1.0, 1.0),
          row<Newton>(newton_reference, 0.3, 0.5),
          row<LineSearchDescent>(nullptr, 0.05, 1e-3),
          row<Lbfgs>(nullptr, 0.05, 1e-3)};
}

struct Case {
  std::string name;
  std::shared_ptr<const Objective> objective;
  Vector start;
  double rate;
};

std::vector<Case> cases(const OptimizerRow& row) {
  return {{row.name + " on a quadratic", std::make_shared<Quadratic>(testing::dense_quadratic(4)),
           Vector{{1.0, -2.0, 0.5, 3.0}}, row.quadratic_rate},
          {row.name + " on rosenbrock", std::make_shared<Rosenbrock>(), Vector{{-1.2, 1.0}},
           row.rosenbrock_rate}};
}

/// The points of a run of 50 steps.
template <Real Scalar>
std::vector<Vector> run(const BasicOptimizer<Scalar>& optimizer,
                        const BasicObjective<Scalar>& objective, const Vector& start, double rate) {
  VectorOf<Scalar> w = start.cast<Scalar>(), gradient(w.size());
  OptimizerState<Scalar> state = optimizer.init(w.size());
  std::vector<Vector> points{start};
  for (int step = 0; step < 50; ++step) {
    const double loss = objective.gradient(w, gradient);
    testing::one_step(optimizer, objective, loss, gradient, rate, state, w);
    points.push_back(w.template cast<double>());
  }
  return points;
}

TEST(EveryOptimizer, FollowsItsReference) {
  for (const OptimizerRow& row : optimizer_table()) {
    if (!row.reference) continue;
    for (const Case& problem : cases(row)) {
      SCOPED_TRACE(problem.name);
      const auto points = run(*row.in_double, *problem.objective, problem.start, problem.rate);
      History past{*problem.objective, {}, {problem.start}};
      for (std::size_t step = 0; step < 50; ++step) {
        past.gradients.emplace_back(past.n());
        problem.objective->gradient(past.w(), past.gradients.back());
        if (past.g().norm() < 1e-10) break;  // arrived: differences of roundings are left
        const Vector next = row.reference(past, problem.rate);
        ASSERT_LE(distance(points[step + 1], next), tolerance::accumulated) << "step " << step;
        past.points.push_back(points[step + 1]);
      }
      EXPECT_LT(problem.objective->value(points.back()), problem.objective->value(problem.start));
    }
  }
}

TEST(EveryOptimizer, AgreesInFloat) {
  for (const OptimizerRow& row : optimizer_table()) {
    const Case problem = cases(row).front();
    const testing::SinglePrecision single(*problem.objective);
    const auto exact = run(*row.in_double, *problem.objective, problem.start, problem.rate);
    const auto rounded = run<float>(*row.in_float, single, problem.start, problem.rate);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      ASSERT_LE((exact[i] - rounded[i]).norm(), tolerance::single_precision * problem.start.norm())
          << problem.name << " step " << i;
    }
  }
}

bool same_state(const OptimizerState<double>& a, const OptimizerState<double>& b) {
  return a.count == b.count && std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(),
                                          b.buffers.end(), [](const auto& x, const auto& y) {
                                            return x.name == y.name &&
                                                   testing::identical(x.values, y.values);
                                          });
}

TEST(EveryOptimizer, PreviewsTheStepAndTouchesNoState) {
  for (const OptimizerRow& row : optimizer_table()) {
    for (const Case& problem : cases(row)) {
      SCOPED_TRACE(problem.name);
      const Objective& objective = *problem.objective;
      Vector w = problem.start, gradient(w.size()), u(w.size());
      auto state = row.in_double->init(w.size());
      for (int step = 0; step < 10; ++step) {
        const double loss = objective.gradient(w, gradient);
        const auto before = state;
        const Vector at = w;
        row.in_double->preview(objective, w, gradient, problem.rate, state, u);
        ASSERT_TRUE(same_state(state, before));
        ASSERT_TRUE(testing::identical(w, at));
        const StepOutcome outcome =
            testing::one_step(*row.in_double, objective, loss, gradient, problem.rate, state, w);
        ASSERT_TRUE(outcome.moved);
        ASSERT_LE((at - w - u).norm(), tolerance::rounding * (at.norm() + u.norm())) << step;
      }
    }
  }
}

TEST(EveryOptimizer, SaysWhichRateItUsed) {
  for (const OptimizerRow& row : optimizer_table()) {
    const Case problem = cases(row).front();
    Vector w = problem.start, gradient(w.size());
    auto state = row.in_double->init(w.size());
    const double loss = problem.objective->gradient(w, gradient);
    const StepOutcome outcome = testing::one_step(*row.in_double, *problem.objective, loss,
                                                  gradient, problem.rate, state, w);
    if (row.in_double->automatic_rate()) {
      EXPECT_LE(distance(outcome.rate, (problem.start - w).norm() / gradient.norm()),
                tolerance::rounding);
    } else {
      EXPECT_EQ(outcome.rate, problem.rate) << row.name;
    }
  }
}

TEST(EveryOptimizer, OnlyGradientDescentIsAPlainGradientStep) {
  for (const OptimizerRow& row : optimizer_table()) {
    const Case problem = cases(row).front();
    Vector w = problem.start, gradient(w.size()), u(w.size());
    auto state = row.in_double->init(w.size());
    // Two steps, so that state shows.
    for (int step = 0; step < 2; ++step) {
      const double loss = problem.objective->gradient(w, gradient);
      row.in_double->preview(*problem.objective, w, gradient, problem.rate, state, u);
      testing::one_step(*row.in_double, *problem.objective, loss, gradient, problem.rate, state, w);
    }
    const bool plain = distance(u, problem.rate * gradient) <= tolerance::rounding;
    EXPECT_EQ(row.in_double->plain_gradient_step(), plain) << row.name;
  }
}

TEST(CurvatureDescent, NeverRaisesTheLoss) {
  Random random(142);
  const CurvatureDescent<double> descent;
  for (const auto& row : testing::objective_table()) {
    if (row.name == "generic wavy") continue;  // unbounded below
    for (Vector w : testing::random_points(row.objective->dimension(), random)) {
      Vector gradient(w.size());
      auto state = descent.init(w.size());
      double loss = row.objective->gradient(w, gradient);
      for (int step = 0; step < 50; ++step) {
        if (!testing::one_step(descent, *row.objective, loss, gradient, 1e-3, state, w).moved)
          break;
        const double next = row.objective->gradient(w, gradient);
        ASSERT_LE(next, loss) << row.name << " step " << step;
        loss = next;
      }
    }
  }
}

TEST(CurvatureDescent, StopsAtAMinimum) {
  const Rosenbrock rosenbrock;
  const CurvatureDescent<double> descent;
  Vector w = rosenbrock.minimizer(), gradient(2);
  auto state = descent.init(2);
  const double loss = rosenbrock.gradient(w, gradient);
  EXPECT_FALSE(testing::one_step(descent, rosenbrock, loss, gradient, 1e-3, state, w).moved);
  EXPECT_TRUE(testing::identical(w, rosenbrock.minimizer()));
}

TEST(CurvatureDescent, StaysWhenNoStepIsAcceptable) {
  // A gradient that points the wrong way.
  const Booth booth;
  const CurvatureDescent<double> descent({.max_backtracks = 5});
  Vector w = booth.start(), gradient(2);
  auto state = descent.init(2);
  const double loss = booth.gradient(w, gradient);
  const StepOutcome outcome = testing::one_step(descent, booth, loss, -gradient, 1e-3, state, w);
  EXPECT_FALSE(outcome.moved);
  EXPECT_TRUE(testing::identical(w, booth.start()));
}

struct BadOption {
  std::string field;
  std::function<void()> make;
};

TEST(Optimizers, RefuseBadOptionsByField) {
  const double nan = std::nan("");
  const std::vector<BadOption> table = {
      {"momentum", [] { Momentum<double>({.momentum = 1.0}); }},
      {"momentum", [] { Momentum<double>({.momentum = -0.1}); }},
      {"momentum", [=] { Nesterov<double>({.momentum = nan}); }},
      {"epsilon", [] { AdaGrad<double>({.epsilon = 0.0}); }},
      {"decay", [] { RmsProp<double>({.decay = 1.0}); }},
      {"epsilon", [] { RmsProp<double>({.epsilon = -1.0}); }},
      {"beta1", [] { Adam<double>({.beta1 = 1.0}); }},
      {"beta2", [] { Adam<double>({.beta2 = -0.5}); }},
      {"epsilon", [=] { Adam<double>({.epsilon = nan}); }},
      {"beta1", [] { AdamW<double>({.beta1 = 2.0}); }},
      {"weight_decay", [] { AdamW<double>({.weight_decay = -0.1}); }},
      {"sufficient_decrease", [] { CurvatureDescent<double>({.sufficient_decrease = 0.0}); }},
      {"shrink", [] { CurvatureDescent<double>({.shrink = 1.0}); }},
      {"max_backtracks", [] { CurvatureDescent<double>({.max_backtracks = -1}); }},
      {"memory", [] { Lbfgs<double>({.memory = 0}); }},
      {"sufficient_decrease", [] { Lbfgs<double>({.sufficient_decrease = 0.6}); }},
      {"curvature", [] { Lbfgs<double>({.curvature = 1.0}); }},
      {"max_trials", [] { Lbfgs<double>({.max_trials = 0}); }},
      {"first_length", [=] { Lbfgs<double>({.first_length = nan}); }},
      {"tolerance", [] { LineSearchDescent<double>({.tolerance = 0.0}); }},
      {"max_trials", [] { LineSearchDescent<double>({.max_trials = 0}); }},
      {"max_dimension", [] { Newton<double>({.max_dimension = 0}); }},
      {"first_distance", [] { Prodigy<double>({.first_distance = 0.0}); }},
      {"distance_factor", [=] { Prodigy<double>({.distance_factor = nan}); }},
      {"weight_decay", [] { Prodigy<double>({.weight_decay = -1.0}); }},
      {"decay", [] { Shampoo<double>(ParameterLayout(), {.decay = 1.5}); }},
      {"epsilon", [] { Shampoo<double>(ParameterLayout(), {.epsilon = -1.0}); }},
      {"refresh", [] { Shampoo<double>(ParameterLayout(), {.refresh = 0}); }},
      {"largest_side", [] { Shampoo<double>(ParameterLayout(), {.largest_side = 0}); }},
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
