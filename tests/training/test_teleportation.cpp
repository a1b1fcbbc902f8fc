// SPDX-License-Identifier: MIT
#include "symport/training/teleportation.hpp"

#include <gtest/gtest.h>

#include "core/dense.hpp"
#include "support/symmetries.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/optimizers/adagrad.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/search/angle_scan.hpp"
#include "symport/symmetries/refusal.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

/// One teleport of Rosenbrock's function by a rotation, with a state that is easily recognised.
struct Teleported {
  Vector before, after;
  OptimizerState<double> state_before, state_after;
  Certificate certificate;
};

Teleported teleported(const Optimizer& optimizer, StatePolicy policy) {
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  const AngleScan scan;
  Teleported t;
  t.before = Vector{{-0.5, 0.6}};
  t.state_before = optimizer.init(2);
  t.state_before.count = 17;
  if (t.state_before.first.size()) t.state_before.first = Vector{{0.3, -0.8}};
  if (t.state_before.second.size()) t.state_before.second = Vector{{4.0, 9.0}};
  t.after = t.before;
  t.state_after = t.state_before;
  Random random(151);
  t.certificate = teleport_in_training<double>(
      objective, optimizer, 1e-4, {.symmetry = &symmetry, .search = &scan, .state = policy}, random,
      t.state_after, t.after);
  EXPECT_TRUE(t.certificate.accepted) << t.certificate.reason;
  return t;
}

TEST(StatePolicy, KeepTouchesNothing) {
  for (const Optimizer* optimizer : {static_cast<const Optimizer*>(new Momentum<double>()),
                                     static_cast<const Optimizer*>(new Adam<double>())}) {
    const std::unique_ptr<const Optimizer> owned(optimizer);
    const Teleported t = teleported(*optimizer, StatePolicy::keep);
    EXPECT_TRUE(testing::identical(t.state_after.first, t.state_before.first));
    EXPECT_TRUE(testing::identical(t.state_after.second, t.state_before.second));
    EXPECT_EQ(t.state_after.count, 17);
  }
}

TEST(StatePolicy, ResetStartsAnew) {
  const Teleported t = teleported(Adam<double>(), StatePolicy::reset);
  EXPECT_TRUE(t.state_after.first.isZero(0.0));
  EXPECT_TRUE(t.state_after.second.isZero(0.0));
  EXPECT_EQ(t.state_after.count, 0);
}

// The rotation is read off the two points; the Jacobian of the action with it comes from difference
// quotients.
TEST(StatePolicy, TransportMovesGradientsByTheInverseTransposedJacobian) {
  const Teleported t = teleported(Momentum<double>(), StatePolicy::transport);
  const auto h = [](const Vector& x) { return Vector{{10 * (x[0] * x[0] - x[1]), x[0] - 1}}; };
  const auto h_inverse = [](const Vector& u) {
    return Vector{{u[1] + 1, (u[1] + 1) * (u[1] + 1) - 0.1 * u[0]}};
  };
  const Vector from = h(t.before), to = h(t.after);
  const double angle = std::atan2(to[1], to[0]) - std::atan2(from[1], from[0]);
  const Matrix R{{std::cos(angle), -std::sin(angle)}, {std::sin(angle), std::cos(angle)}};
  ASSERT_GT(std::abs(std::sin(angle)), 0.1);
  ASSERT_LE(distance(h_inverse(R * from), t.after), tolerance::accumulated);
  Matrix J(2, 2);
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 2; ++j) {
      J(i, j) = testing::central_difference(
          [&](double e) { return h_inverse(R * h(t.before + e * Vector::Unit(2, j)))[i]; }, 1e-3);
    }
  }
  const Vector expected = inverse(J).transpose() * t.state_before.first;
  EXPECT_LE(distance(t.state_after.first, expected), tolerance::difference);
  EXPECT_GT(distance(t.state_after.first, t.state_before.first), 0.1);
  EXPECT_EQ(t.state_after.count, 17);
}

TEST(StatePolicy, TransportKeepsSquares) {
  const Teleported t = teleported(Adam<double>(), StatePolicy::transport);
  EXPECT_TRUE(testing::identical(t.state_after.second, t.state_before.second));
  EXPECT_FALSE(testing::identical(t.state_after.first, t.state_before.first));
}

TEST(StatePolicy, HasAName) {
  EXPECT_EQ(to_string(StatePolicy::keep), "keep");
  EXPECT_EQ(to_string(StatePolicy::reset), "reset");
  EXPECT_EQ(to_string(StatePolicy::transport), "transport");
}

/// A symmetry that hides that it could transport.
class Rigid final : public Symmetry {
 public:
  std::string name() const override { return "rigid"; }
  std::unique_ptr<BasicOrbit<double>> orbit(const Objective& objective,
                                            In<double> w) const override {
    return inner_.orbit(objective, w);
  }

 private:
  RotationSymmetry inner_ = rosenbrock_rotation();
};

TEST(StatePolicy, TransportIsRefusedWhereTheSymmetryCannot) {
  const Rosenbrock objective;
  const Rigid symmetry;
  Random random(152);
  const Teleportation<double> plan{.symmetry = &symmetry, .state = StatePolicy::transport};
  Vector w = objective.start();
  const Momentum<double> momentum;
  auto state = momentum.init(2);
  try {
    teleport_in_training<double>(objective, momentum, 1e-4, plan, random, state, w);
    FAIL() << "transported";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.field(), "state");
  }
  EXPECT_TRUE(testing::identical(w, objective.start()));
  // Gradient descent has nothing to transport.
  const GradientDescent<double> descent;
  auto none = descent.init(2);
  EXPECT_NO_THROW(teleport_in_training<double>(objective, descent, 1e-4, plan, random, none, w));
}

/// A symmetry that has no orbit here.
class Unable final : public Symmetry {
 public:
  std::string name() const override { return "unable"; }
  std::unique_ptr<BasicOrbit<double>> orbit(const Objective&, In<double>) const override {
    throw Refusal("a batch of 9 does not fit into a width of 4");
  }
};

TEST(TeleportInTraining, TurnsARefusalIntoARefusedCertificate) {
  const Rosenbrock objective;
  const Unable symmetry;
  const GradientDescent<double> descent;
  Random random(155);
  Vector w = objective.start();
  auto state = descent.init(2);
  const Certificate c = teleport_in_training<double>(objective, descent, 1e-3,
                                                     {.symmetry = &symmetry}, random, state, w);
  EXPECT_FALSE(c.accepted);
  EXPECT_EQ(c.reason, "a batch of 9 does not fit into a width of 4");
  EXPECT_EQ(c.loss_before, objective.value(w));
  EXPECT_TRUE(testing::identical(w, objective.start()));
}

// With another optimizer the criterion is the decrease of the step that it would really take.
TEST(TeleportInTraining, MaximisesThePredictedDecreaseOfTheRealNextStep) {
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  const AdaGrad<double> adagrad;
  constexpr double rate = 0.05;
  const Vector start{{-0.5, 0.6}};
  auto state = adagrad.init(2);
  state.second = Vector{{400.0, 100.0}};
  const auto decrease = [&](const Vector& w) {
    Vector g(2), u(2), Hu(2);
    objective.gradient(w, g);
    for (Index k = 0; k < 2; ++k) u[k] = rate * g[k] / std::sqrt(state.second[k] + g[k] * g[k]);
    objective.hessian_vector(w, u, Hu);
    return g.dot(u) - 0.5 * u.dot(Hu);
  };
  double best = decrease(start);
  for (int i = 0; i < 20000; ++i) {
    const double angle = i * 2e-4 * std::acos(-1.0) / 2.0;
    Vector w = start;
    symmetry.act(Matrix{{std::cos(angle), -std::sin(angle)}, {std::sin(angle), std::cos(angle)}},
                 w);
    best = std::max(best, decrease(w));
  }
  Random random(153);
  Vector w = start;
  const AngleScan scan;
  const Certificate c = teleport_in_training<double>(
      objective, adagrad, rate,
      {.symmetry = &symmetry, .search = &scan, .cap = std::numeric_limits<double>::infinity()},
      random, state, w);
  ASSERT_TRUE(c.accepted) << c.reason;
  EXPECT_GE(decrease(w), best * (1.0 - tolerance::difference));
}

TEST(TeleportInTraining, UsesTheDecrementWithAnAutomaticRate) {
  const auto objective = Quadratic::diagonal(3, 10.0);
  const OrthogonalSymmetry symmetry(objective);
  Vector w = objective.start(), g(3), Hg(3);
  Random random(154);
  const CurvatureDescent<double> optimizer;
  auto state = optimizer.init(3);
  const double loss = objective.value(w);
  const Certificate c = teleport_in_training<double>(objective, optimizer, 1e-3,
                                                     {.symmetry = &symmetry}, random, state, w);
  ASSERT_TRUE(c.accepted) << c.reason;
  objective.gradient(w, g);
  objective.hessian_vector(w, g, Hg);
  // J^2 / (2 Phi) = L: the next step ends at the minimum.
  EXPECT_LE(distance(g.squaredNorm() * g.squaredNorm() / (2.0 * g.dot(Hg)), loss),
            tolerance::rounding);
}

}  // namespace
}  // namespace symport
