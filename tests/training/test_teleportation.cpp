// SPDX-License-Identifier: MIT
#include "support/one_step.hpp"
#include "symport/training/teleportation.hpp"

#include <gtest/gtest.h>

#include "core/dense.hpp"
#include "support/networks.hpp"
#include "support/symmetries.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/optimizers/adagrad.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/search/angle_scan.hpp"
#include "symport/symmetries/linear_network.hpp"
#include "symport/symmetries/permutation.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/symmetries/sign_flip.hpp"
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
  for (auto& buffer : t.state_before.buffers) {
    if (buffer.kind == StateKind::cotangent) buffer.values = Vector{{0.3, -0.8}};
    if (buffer.kind == StateKind::squared_cotangent) buffer.values = Vector{{4.0, 9.0}};
  }
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
    ASSERT_EQ(t.state_after.buffers.size(), t.state_before.buffers.size());
    for (const auto& buffer : t.state_before.buffers) {
      EXPECT_FALSE(buffer.values.isZero(0.0));
      EXPECT_TRUE(testing::identical(t.state_after[buffer.name], buffer.values)) << buffer.name;
    }
    EXPECT_EQ(t.state_after.count, 17);
  }
}

TEST(StatePolicy, ResetStartsAnew) {
  const Teleported t = teleported(Adam<double>(), StatePolicy::reset);
  EXPECT_TRUE(t.state_after["mean"].isZero(0.0));
  EXPECT_TRUE(t.state_after["squares"].isZero(0.0));
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
  const Vector expected = inverse(J).transpose() * t.state_before["velocity"];
  EXPECT_LE(distance(t.state_after["velocity"], expected), tolerance::difference);
  EXPECT_GT(distance(t.state_after["velocity"], t.state_before["velocity"]), 0.1);
  EXPECT_EQ(t.state_after.count, 17);
}

TEST(StatePolicy, TransportKeepsSquares) {
  const Teleported t = teleported(Adam<double>(), StatePolicy::transport);
  EXPECT_TRUE(testing::identical(t.state_after["squares"], t.state_before["squares"]));
  EXPECT_FALSE(testing::identical(t.state_after["mean"], t.state_before["mean"]));
}

/// An optimizer with state of one more kind, which a quasi-Newton method or averaging would have.
class Remembering final : public Optimizer {
 public:
  explicit Remembering(StateKind kind) : kind_(kind) {}
  std::string_view name() const override { return "remembering"; }
  OptimizerState<double> init(Index dimension) const override {
    OptimizerState<double> state = Momentum<double>().init(2 * dimension);  // of two vectors
    state.add("more", kind_, dimension);
    return state;
  }
  StepOutcome step(const Objective&, MeasuredPoint<double>&, double, OptimizerState<double>&,
                   Out<double>) const override {
    return {false, 0.0, 0.0};
  }
  void preview(const Objective&, In<double>, In<double> gradient, double learning_rate,
               const OptimizerState<double>&, Out<double> u) const override {
    u = learning_rate * gradient;
  }

 private:
  StateKind kind_;
};

TEST(StatePolicy, TransportMovesEveryVectorOfABufferAsItsKindSays) {
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  const AngleScan scan;
  const Vector start{{-0.5, 0.6}};
  Vector here(2), there(2);
  objective.gradient(start, here);
  for (const StateKind kind : {StateKind::scalar, StateKind::squared_cotangent}) {
    const Remembering optimizer(kind);
    auto state = optimizer.init(2);
    state["velocity"] << -2.0 * here, here;
    state["more"] << 5.0, 7.0;
    Random random(151);
    Vector w = start;
    const Certificate c = teleport_in_training<double>(
        objective, optimizer, 1e-4,
        {.symmetry = &symmetry, .search = &scan, .state = StatePolicy::transport}, random, state,
        w);
    ASSERT_TRUE(c.accepted) << c.reason;
    objective.gradient(w, there);  // (Prop. 5.1): what the gradient of the start becomes
    EXPECT_LE(distance(state["velocity"].head(2), -2.0 * there), tolerance::rounding);
    EXPECT_LE(distance(state["velocity"].tail(2), there), tolerance::rounding);
    EXPECT_EQ(state["more"], (Vector{{5.0, 7.0}}));
  }
}

// A tangent at the start is where a nearby point ends up, less where the start does; the action is
// read off points that are teleported by the same angle.
TEST(StatePolicy, TransportMovesTangentsAndPoints) {
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  const AngleScan scan;
  const Vector start{{-0.5, 0.6}}, near{{-0.3, 0.7}}, direction{{0.6, -0.8}};
  const auto after = [&](StateKind kind, const Vector& more, Vector& w) {
    const Remembering optimizer(kind);
    auto state = optimizer.init(2);
    state["more"] = more;
    Random random(151);
    w = start;
    const Certificate c = teleport_in_training<double>(
        objective, optimizer, 1e-4,
        {.symmetry = &symmetry, .search = &scan, .state = StatePolicy::transport}, random, state,
        w);
    EXPECT_TRUE(c.accepted) << c.reason;
    return Vector(state["more"]);
  };
  Vector w;
  EXPECT_LE(distance(after(StateKind::point, start, w), w), tolerance::rounding);
  EXPECT_GT(distance(w, start), 0.1);
  EXPECT_LE(distance(objective.value(after(StateKind::point, near, w)), objective.value(near)),
            tolerance::rounding);
  Vector slope(2);
  for (Index i = 0; i < 2; ++i) {
    slope[i] = testing::central_difference(
        [&](double e) { return after(StateKind::point, start + e * direction, w)[i]; }, 1e-3);
  }
  EXPECT_LE(distance(after(StateKind::tangent, direction, w), slope), tolerance::difference);
}

// Of each buffer the gradient of the start, or its square, or the start itself: they become those
// of the destination.
TEST(StatePolicy, TransportMovesEveryKindUnderRescaling) {
  Random random(153);
  const auto problem =
      testing::random_problem<double>({4, 6, 5, 3}, "leaky_relu", "cross_entropy", true, 9, random);
  const PositiveScalingSymmetry<double> symmetry;
  const Adam<double> adam;
  Vector w = problem.w, gradient(w.size()), there(w.size());
  problem.objective.gradient(w, gradient);
  auto state = adam.init(w.size());
  state.add("average", StateKind::point, w.size());
  state.count = 3;
  state["mean"] = 2.0 * gradient;
  state["squares"] = gradient.cwiseAbs2();
  state["average"] = w;
  const Certificate c = teleport_in_training<double>(
      problem.objective, adam, 1e-3, {.symmetry = &symmetry, .state = StatePolicy::transport},
      random, state, w);
  ASSERT_TRUE(c.accepted) << c.reason;
  problem.objective.gradient(w, there);
  EXPECT_GT(distance(there, gradient), 0.01);
  EXPECT_LE(distance(state["mean"], 2.0 * there), tolerance::rounding);
  EXPECT_LE(distance(state["squares"], there.cwiseAbs2()), tolerance::rounding);
  EXPECT_LE(distance(state["average"], w), tolerance::rounding);
  EXPECT_EQ(state.count, 3);
}

// GL mixes the entries of a gradient: their squares are kept, what is linear in it moves.
TEST(StatePolicy, TransportKeepsSquaresWhereNothingIsExact) {
  Random random(154);
  const auto problem =
      testing::random_problem<double>({4, 6, 3}, "linear", "half_sum_squares", true, 9, random);
  const LinearNetworkSymmetry<double> symmetry;
  const Adam<double> adam;
  Vector w = problem.w, gradient(w.size()), there(w.size());
  problem.objective.gradient(w, gradient);
  auto state = adam.init(w.size());
  state["mean"] = gradient;
  state["squares"] = gradient.cwiseAbs2();
  const Certificate c = teleport_in_training<double>(
      problem.objective, adam, 1e-3, {.symmetry = &symmetry, .state = StatePolicy::transport},
      random, state, w);
  ASSERT_TRUE(c.accepted) << c.reason;
  problem.objective.gradient(w, there);
  EXPECT_LE(distance(state["mean"], there), tolerance::accumulated);
  EXPECT_TRUE(testing::identical(state["squares"], gradient.cwiseAbs2()));
}

// What Adam does next does not know of a permutation or of signs when its whole state went along.
TEST(StatePolicy, AdamStepsCommuteWithPermutationsAndSigns) {
  Random random(156);
  const auto problem =
      testing::random_problem<double>({4, 6, 5, 3}, "tanh", "cross_entropy", true, 9, random);
  const PermutationSymmetry<double> permutations;
  const SignFlipSymmetry<double> signs;
  const Adam<double> adam;
  for (const Symmetry* symmetry :
       {static_cast<const Symmetry*>(&permutations), static_cast<const Symmetry*>(&signs)}) {
    const auto orbit = symmetry->orbit(problem.objective, problem.w);
    ASSERT_TRUE(orbit->randomize(random, 0.0));
    Vector here = problem.w, there(here.size()), gradient(here.size());
    orbit->commit(there);
    EXPECT_GT(distance(there, here), 0.1);
    auto state = adam.init(here.size());
    state["mean"] = testing::random_vector(here.size(), random);
    state["squares"] = testing::random_vector(here.size(), random).cwiseAbs2();
    auto moved = state;
    for (auto& buffer : moved.buffers) ASSERT_TRUE(orbit->transport(buffer.values, buffer.kind));
    for (int i = 0; i < 5; ++i) {
      double loss = problem.objective.gradient(here, gradient);
      testing::one_step(adam, problem.objective, loss, gradient, 0.01, state, here);
      loss = problem.objective.gradient(there, gradient);
      testing::one_step(adam, problem.objective, loss, gradient, 0.01, moved, there);
    }
    ASSERT_TRUE(orbit->transport(here, StateKind::point));
    EXPECT_LE(distance(here, there), tolerance::rounding) << symmetry->name();
  }
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
  OrbitOrReason<double> orbit(const Objective& objective, In<double> w) const override {
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
  for (const StateKind kind : {StateKind::cotangent, StateKind::tangent, StateKind::point}) {
    const Remembering optimizer(kind);
    auto state = optimizer.init(2);
    state.buffers.erase(state.buffers.begin());
    try {
      teleport_in_training<double>(objective, optimizer, 1e-4, plan, random, state, w);
      FAIL() << "transported";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.what(),
                "state: found transport, allowed is keep or reset: the symmetry rigid cannot "
                "transport an optimizer's " +
                    std::string(to_string(kind)) + " 'more'");
    }
    EXPECT_TRUE(testing::identical(w, objective.start()));
  }
  // Gradient descent has nothing to transport.
  const GradientDescent<double> descent;
  auto none = descent.init(2);
  EXPECT_NO_THROW(teleport_in_training<double>(objective, descent, 1e-4, plan, random, none, w));
}

/// A symmetry that has no orbit here.
class Unable final : public Symmetry {
 public:
  std::string name() const override { return "unable"; }
  OrbitOrReason<double> orbit(const Objective&, In<double>) const override {
    return OrbitOrReason<double>::none("a batch of 9 does not fit into a width of 4");
  }
};

TEST(TeleportInTraining, CertifiesThatThereIsNoOrbit) {
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
  const Vector squares{{400.0, 100.0}};
  state["squares"] = squares;
  const auto decrease = [&](const Vector& w) {
    Vector g(2), u(2), Hu(2);
    objective.gradient(w, g);
    for (Index k = 0; k < 2; ++k) u[k] = rate * g[k] / std::sqrt(squares[k] + g[k] * g[k]);
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
