// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
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
#include "symport/optimizers/muon.hpp"
#include "symport/optimizers/nesterov.hpp"
#include "symport/optimizers/newton.hpp"
#include "symport/optimizers/prodigy.hpp"
#include "symport/optimizers/rmsprop.hpp"
#include "symport/optimizers/shampoo.hpp"
#include "symport/optimizers/soap.hpp"
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

/// Four parameters are a 2 x 2 matrix, column by column; others are a vector.
ParameterLayout square_layout(Index n) {
  return n == 4 ? ParameterLayout().add("W", 2, 2) : ParameterLayout().add("w", n);
}
using Square = std::array<std::array<double, 2>, 2>;
Square square_of(const Vector& w) { return {{{w[0], w[2]}, {w[1], w[3]}}}; }
/// A B, or one of them transposed.
Square times(const Square& A, const Square& B, bool turn_a = false, bool turn_b = false) {
  Square C{};
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      for (std::size_t k = 0; k < 2; ++k) {
        C[i][j] += (turn_a ? A[k][i] : A[i][k]) * (turn_b ? B[j][k] : B[k][j]);
      }
    }
  }
  return C;
}

Vector muon_reference(const History& past, double eta) {
  if (past.n() != 4) return adamw_reference(past, 0.05 * eta);
  Vector N(4);
  for (Index k = 0; k < 4; ++k) {
    N[k] = 0.95 * decayed_mean(past, 0.95, 1, k) + 0.05 * past.g()[k];
  }
  Square X = square_of(N / N.norm());
  for (int step = 0; step < 5; ++step) {
    const Square once = times(times(X, X, false, true), X);
    const Square twice = times(times(X, X, false, true), once);
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        X[i][j] = 3.4445 * X[i][j] - 4.7750 * once[i][j] + 2.0315 * twice[i][j];
      }
    }
  }
  const Vector u{{X[0][0], X[1][0], X[0][1], X[1][1]}};
  return past.w() - eta * (0.1 * past.w() + u);
}

/// The columns of A made orthonormal, the first one first.
Square gram_schmidt(Square A) {
  for (std::size_t j = 0; j < 2; ++j) {
    double inner = j == 0 ? 0.0 : A[0][0] * A[0][1] + A[1][0] * A[1][1];
    for (auto& row : A) row[j] -= inner * row[0];
    const double norm = std::hypot(A[0][j], A[1][j]);
    for (auto& row : A) row[j] /= norm;
  }
  return A;
}

/// One power iteration from Q, whose columns then stand in descending order; whether they changed
/// places.
bool turn_basis(const Square& S, Square& Q) {
  Square P = times(S, Q);
  const bool swapped =
      Q[0][0] * P[0][0] + Q[1][0] * P[1][0] < Q[0][1] * P[0][1] + Q[1][1] * P[1][1];
  for (auto& row : P) {
    if (swapped) std::swap(row[0], row[1]);
  }
  Q = gram_schmidt(P);
  return swapped;
}

/// For SOAP: the second gradient is the first one again, as the first step only gathers, and the
/// bases make it diagonal. With less, the first step would be made of roundings in the other
/// entries.
constexpr double soap_epsilon = 0.01;

// The whole run so far again, with angles for the first eigenvectors.
Vector soap_reference(const History& past, double eta) {
  const auto n = static_cast<std::size_t>(past.n());
  const bool matrix = n == 4;
  std::vector<double> m(n), v(n), u(n);
  Square L{}, R{}, Q{}, P{};
  const auto gather = [&](const Square& G) {
    const Square left = times(G, G, false, true), right = times(G, G, true, false);
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        L[i][j] = 0.95 * L[i][j] + 0.05 * left[i][j];
        R[i][j] = 0.95 * R[i][j] + 0.05 * right[i][j];
      }
    }
  };
  const auto eigenvectors = [](const Square& S) {
    const double angle = 0.5 * std::atan2(2.0 * S[0][1], S[0][0] - S[1][1]);
    return Square{{{std::cos(angle), -std::sin(angle)}, {std::sin(angle), std::cos(angle)}}};
  };
  const auto rotated = [&](std::vector<double> x) {
    if (!matrix) return x;
    const Square A = times(times(Q, {{{x[0], x[2]}, {x[1], x[3]}}}, true, false), P);
    return std::vector<double>{A[0][0], A[1][0], A[0][1], A[1][1]};
  };
  for (std::size_t t = 0; t < past.steps(); ++t) {
    const Vector& g = past.gradients[t];
    if (t > 0) {
      const std::vector<double> G = rotated({g.data(), g.data() + n});
      for (std::size_t k = 0; k < n; ++k) {
        m[k] = 0.95 * m[k] + 0.05 * g[static_cast<Index>(k)];
        v[k] = 0.95 * v[k] + 0.05 * G[k] * G[k];
      }
      const std::vector<double> M = rotated(m);
      const double bias = 1.0 - std::pow(0.95, static_cast<double>(t));
      for (std::size_t k = 0; k < n; ++k) {
        u[k] = eta / std::sqrt(bias) * M[k] / (std::sqrt(v[k]) + soap_epsilon);
      }
      if (matrix) {
        const Square A = times(times(Q, {{{u[0], u[2]}, {u[1], u[3]}}}), P, false, true);
        u = {A[0][0], A[1][0], A[0][1], A[1][1]};
      }
    }
    if (!matrix) continue;
    gather(square_of(g));
    if (t == 0) {
      Q = eigenvectors(L);
      P = eigenvectors(R);
    } else if (t % 10 == 0) {
      if (turn_basis(L, Q)) v = {v[1], v[0], v[3], v[2]};
      if (turn_basis(R, P)) v = {v[2], v[3], v[0], v[1]};
    }
  }
  if (past.steps() == 1) return past.w();
  Vector next = past.w();
  for (std::size_t k = 0; k < n; ++k) {
    double& at = next[static_cast<Index>(k)];
    at = (1.0 - 0.01 * eta) * (at - u[k]);
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

/// The rule for so many parameters.
template <Real Scalar>
using MadeFor = std::function<std::shared_ptr<const BasicOptimizer<Scalar>>(Index)>;

struct OptimizerRow {
  std::string name;
  MadeFor<double> in_double;
  MadeFor<float> in_float;
  Reference reference;
  double quadratic_rate, rosenbrock_rate;
};

template <template <class> class Rule>
OptimizerRow row(Reference reference, double quadratic_rate, double rosenbrock_rate) {
  return {std::string(Rule<double>().name()),
          [](Index) { return std::make_shared<Rule<double>>(); },
          [](Index) { return std::make_shared<Rule<float>>(); },
          std::move(reference),
          quadratic_rate,
          rosenbrock_rate};
}

/// Of a rule that asks for the blocks of the parameters.
template <template <class> class Rule, class Options>
OptimizerRow block_row(const Options& options, Reference reference, double quadratic_rate,
                       double rosenbrock_rate) {
  return {std::string(Rule<double>(ParameterLayout(), options).name()),
          [=](Index n) { return std::make_shared<Rule<double>>(square_layout(n), options); },
          [=](Index n) { return std::make_shared<Rule<float>>(square_layout(n), options); },
          std::move(reference),
          quadratic_rate,
          rosenbrock_rate};
}

using Names = std::vector<std::string>;

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
          block_row<Muon>(MuonOptions{.others = Names{}}, muon_reference, 0.05, 1.0),
          block_row<Soap>(SoapOptions{.epsilon = soap_epsilon}, soap_reference, 0.1, 0.05),
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
      const auto points = run(*row.in_double(problem.start.size()), *problem.objective,
                              problem.start, problem.rate);
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
    const auto exact =
        run(*row.in_double(problem.start.size()), *problem.objective, problem.start, problem.rate);
    const auto rounded =
        run<float>(*row.in_float(problem.start.size()), single, problem.start, problem.rate);
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
      const auto optimizer = row.in_double(w.size());
      auto state = optimizer->init(w.size());
      for (int step = 0; step < 10; ++step) {
        const double loss = objective.gradient(w, gradient);
        const auto before = state;
        const Vector at = w;
        optimizer->preview(objective, w, gradient, problem.rate, state, u);
        ASSERT_TRUE(same_state(state, before));
        ASSERT_TRUE(testing::identical(w, at));
        const StepOutcome outcome =
            testing::one_step(*optimizer, objective, loss, gradient, problem.rate, state, w);
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
    const auto optimizer = row.in_double(w.size());
    auto state = optimizer->init(w.size());
    const double loss = problem.objective->gradient(w, gradient);
    const StepOutcome outcome =
        testing::one_step(*optimizer, *problem.objective, loss, gradient, problem.rate, state, w);
    if (optimizer->automatic_rate()) {
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
    const auto optimizer = row.in_double(w.size());
    auto state = optimizer->init(w.size());
    // Two steps, so that state shows.
    for (int step = 0; step < 2; ++step) {
      const double loss = problem.objective->gradient(w, gradient);
      optimizer->preview(*problem.objective, w, gradient, problem.rate, state, u);
      testing::one_step(*optimizer, *problem.objective, loss, gradient, problem.rate, state, w);
    }
    const bool plain = distance(u, problem.rate * gradient) <= tolerance::rounding;
    EXPECT_EQ(optimizer->plain_gradient_step(), plain) << row.name;
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
      {"momentum", [] { Muon<double>(ParameterLayout(), {.momentum = 1.0}); }},
      {"weight_decay", [] { Muon<double>(ParameterLayout(), {.weight_decay = -0.1}); }},
      {"rest_rate", [=] { Muon<double>(ParameterLayout(), {.rest_rate = nan}); }},
      {"others", [] { Muon<double>(square_layout(4), {.others = Names{"V"}}); }},
      {"rest",
       [] {
         Muon<double>(square_layout(4), {}, std::make_shared<Muon<double>>(square_layout(4)));
       }},
      {"beta1", [] { Soap<double>(ParameterLayout(), {.beta1 = 1.0}); }},
      {"beta2", [] { Soap<double>(ParameterLayout(), {.beta2 = -0.1}); }},
      {"epsilon", [] { Soap<double>(ParameterLayout(), {.epsilon = 0.0}); }},
      {"weight_decay", [=] { Soap<double>(ParameterLayout(), {.weight_decay = nan}); }},
      {"refresh", [] { Soap<double>(ParameterLayout(), {.refresh = 0}); }},
      {"largest_side", [] { Soap<double>(ParameterLayout(), {.largest_side = 0}); }},
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
