// SPDX-License-Identifier: MIT
#include "support/one_step.hpp"
#include "symport/optimizers/kfac.hpp"

#include <gtest/gtest.h>

#include "core/dense.hpp"
#include "support/networks.hpp"
#include "support/numbers.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/objectives/rosenbrock.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::random_problem;

/// Without what only matters over many steps.
KfacOptions pure(Fisher fisher = Fisher::exact) {
  return {.damping = 0.0, .momentum = 0.0, .fisher = fisher};
}

Vector after_step(const Kfac<double>& rule, const MlpObjective<double>& objective, Vector w,
                  double rate) {
  OptimizerState<double> state = rule.init(w.size());
  rule.minibatch_step(objective, rate, state, w);
  return w;
}

// F of a Gaussian model is the Gauss-Newton matrix, and of one layer the Hessian.
TEST(Kfac, IsTheNaturalGradientOfOneLayer) {
  for (const char* loss : {"half_sum_squares:mean", "half_sum_squares:sum", "mean_squares:mean"}) {
    Random random(71);
    const auto problem = random_problem<double>({4, 3}, "linear", loss, true, 20, random);
    const Kfac<double> rule(problem.objective.network(), pure());
    Vector gradient(problem.w.size());
    problem.objective.gradient(problem.w, gradient);
    const Matrix F = hessian(problem.objective, problem.w);
    const Vector expected = problem.w - 0.7 * Vector(solve(F, gradient));
    const Vector w = after_step(rule, problem.objective, problem.w, 0.7);
    EXPECT_LE((w - expected).norm(), 1e-10 * expected.norm()) << loss;
  }
}

// Martens and Grosse, section 10: affine maps of the inputs, and of every hidden layer where its
// units are linear, change the weights and not what is learned.
TEST(Kfac, TakesTheSameStepInLinearCoordinatesOfALayer) {
  Random random(72);
  const Index n = 40;
  const Matrix X = random.normal_matrix(3, n), Y = random.normal_matrix(4, n);
  const Loss loss = Loss::parse("half_sum_squares:mean");
  {
    const Mlp network({3, 4, 4}, Activation::parse("tanh"), true);
    const Vector w = testing::random_vector(network.parameters(), random);
    const Matrix M = Matrix::Identity(3, 3) + 0.5 * random.normal_matrix(3, 3);
    const Vector shift = testing::random_vector(3, random);
    const MlpObjective<double> objective(network, loss, X, Targets<double>(Y));
    const MlpObjective<double> mapped(network, loss, (M * X).colwise() + shift, Targets<double>(Y));
    // W x + b = (W M^-1)(M x + shift) + b - W M^-1 shift
    Vector v = w;
    const Matrix W = network.weights(1, w.data()) * inverse(M);
    network.weights(1, v.data()) = W;
    network.augmented(1, v.data()).col(3) -= W * shift;
    ASSERT_LE((objective.outputs(w) - mapped.outputs(v)).norm(), 1e-12 * Y.norm());
    const Kfac<double> rule(network, pure());
    const Matrix plain = objective.outputs(after_step(rule, objective, w, 0.1));
    const Matrix there = mapped.outputs(after_step(rule, mapped, v, 0.1));
    EXPECT_LE((plain - there).norm(), 1e-9 * plain.norm());
    EXPECT_GT((plain - objective.outputs(w)).norm(), 1e-2 * plain.norm());
  }
  {
    const Mlp network({3, 3, 4}, Activation::parse("linear"), true);
    const Vector w = testing::random_vector(network.parameters(), random);
    const Matrix g = Matrix::Identity(3, 3) + 0.5 * random.normal_matrix(3, 3);
    Vector v = w;
    network.augmented(1, v.data()) = g * network.augmented(1, w.data());
    network.weights(2, v.data()) = network.weights(2, w.data()) * inverse(g);
    const MlpObjective<double> objective(network, loss, X, Targets<double>(Y));
    const Kfac<double> rule(network, pure());
    const Matrix plain = objective.outputs(after_step(rule, objective, w, 0.1));
    const Matrix there = objective.outputs(after_step(rule, objective, v, 0.1));
    EXPECT_LE((plain - there).norm(), 1e-9 * plain.norm());
    EXPECT_GT((plain - objective.outputs(w)).norm(), 1e-2 * plain.norm());
  }
}

// The average of many samples; and a sample of one seed is always the same.
TEST(Kfac, SamplesTheFisherMatrix) {
  for (const char* loss : {"cross_entropy:mean", "mean_squares:sum"}) {
    Random random(73);
    const auto problem = random_problem<double>({3, 4, 3}, "tanh", loss, true, 50, random);
    const Mlp& network = problem.objective.network();
    const auto factors = [&](Fisher fisher, std::uint64_t seed) {
      KfacOptions options = pure(fisher);
      options.seed = seed;
      const Kfac<double> rule(network, options);
      Vector w = problem.w;
      OptimizerState<double> state = rule.init(w.size());
      rule.minibatch_step(problem.objective, 0.1, state, w);
      // A and G of both layers: 6 numbers first, two inverses after each pair.
      const Vector& all = state["factors"];
      Vector found(16 + 16 + 25 + 9);
      found << all.segment(6, 32), all.segment(6 + 64, 34);
      return found;
    };
    const Vector exact = factors(Fisher::exact, 0);
    Vector mean = Vector::Zero(exact.size());
    constexpr int seeds = 400;
    for (int seed = 0; seed < seeds; ++seed) {
      mean += factors(Fisher::sampled, static_cast<std::uint64_t>(seed)) / seeds;
    }
    EXPECT_LE((mean - exact).norm(), 0.02 * exact.norm()) << loss;
    EXPECT_TRUE(testing::identical(factors(Fisher::sampled, 5), factors(Fisher::sampled, 5)));
    EXPECT_FALSE(testing::identical(factors(Fisher::sampled, 5), factors(Fisher::sampled, 6)));
  }
}

TEST(Kfac, DrawsOtherTargetsAtEveryStep) {
  Random random(74);
  const auto problem = random_problem<double>({3, 4, 3}, "tanh", "cross_entropy", true, 20, random);
  const Kfac<double> rule(problem.objective.network(), pure(Fisher::sampled));
  OptimizerState<double> state = rule.init(problem.w.size());
  Vector w = problem.w;
  rule.minibatch_step(problem.objective, 1e-300, state, w);
  const Vector first = state["factors"];
  rule.minibatch_step(problem.objective, 1e-300, state, w);
  const Index G = 6 + 16;
  EXPECT_FALSE(
      testing::identical(Vector(first.segment(G, 16)), Vector(state["factors"].segment(G, 16))));
}

// As after a teleport: the next step is that of a new run, except for the velocity.
TEST(Kfac, StartsAnewWhereSomebodyMovedTheParameters) {
  Random random(76);
  const auto problem = random_problem<double>({3, 4, 3}, "relu", "cross_entropy", true, 20, random);
  const Kfac<double> rule(problem.objective.network(), {.momentum = 0.0, .fisher = Fisher::exact});
  const auto run = [&](OptimizerState<double> state, Vector w) {
    rule.minibatch_step(problem.objective, 0.1, state, w);
    return w;
  };
  OptimizerState<double> state = rule.init(problem.w.size());
  Vector w = problem.w;
  for (int i = 0; i < 5; ++i) rule.minibatch_step(problem.objective, 0.1, state, w);
  const OptimizerState<double> fresh = rule.init(w.size());
  EXPECT_FALSE(testing::identical(run(state, w), run(fresh, w)));
  Vector swapped = w;
  std::swap(swapped[0], swapped[1]);
  EXPECT_TRUE(testing::identical(run(state, swapped), run(fresh, swapped)));
  Vector scaled = w;
  scaled[3] *= 2.0;
  EXPECT_TRUE(testing::identical(run(state, scaled), run(fresh, scaled)));
}

// Where inverses cost no more than the batch they are new at every step, elsewhere every tenth.
TEST(Kfac, RefreshesInversesAtEveryStepWhereTheyAreCheap) {
  for (const Index samples : {3, 30}) {
    Random random(77);
    const auto problem =
        random_problem<double>({5, 12, 4}, "tanh", "mean_squares:mean", false, samples, random);
    const auto end = [&](Index refresh) {
      const Kfac<double> rule(problem.objective.network(), {.refresh = refresh});
      OptimizerState<double> state = rule.init(problem.w.size());
      Vector w = problem.w;
      for (int i = 0; i < 20; ++i) rule.minibatch_step(problem.objective, 1e-3, state, w);
      return w;
    };
    EXPECT_TRUE(testing::identical(end(0), end(samples == 30 ? 1 : 10))) << samples;
    EXPECT_FALSE(testing::identical(end(1), end(10)));
  }
}

// The weights are large and change fast: with inverses that are several steps old, three of these
// four runs diverge.
TEST(Kfac, LearnsThePapersRegressionAtItsUsualRate) {
  const Mlp network({5, 6, 7, 8}, Activation::parse("leaky_relu"), false);
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const SampleSet<> data = regression_data({.seed = seed});
    const MlpObjective<double> objective(network, Loss::parse("half_sum_squares"), data.X,
                                         Targets<double>(data.Y));
    Random random(seed + 10);
    Vector w = initialize<double>(network, Initialization::unit, random);
    const double start = objective.value(w);
    const Kfac<double> rule(network, {.seed = seed});
    OptimizerState<double> state = rule.init(w.size());
    for (int i = 0; i < 100; ++i) rule.minibatch_step(objective, 0.01, state, w);
    EXPECT_LE(objective.value(w), 1e-2 * start) << "seed " << seed;
  }
}

TEST(Kfac, RefusesWhatItIsNotFor) {
  Random random(75);
  const auto problem = random_problem<double>({3, 4, 2}, "tanh", "cross_entropy", false, 5, random);
  const Kfac<double> rule(problem.objective.network());
  EXPECT_THROW(rule.init(3), InvalidArgument);
  Vector w = Vector::Zero(2), gradient = w;
  OptimizerState<double> state = rule.init(problem.w.size());
  EXPECT_THROW(testing::one_step(rule, Rosenbrock(), 0.0, gradient, 0.1, state, w),
               InvalidArgument);
  const auto refused = [&](KfacOptions options) {
    EXPECT_THROW(Kfac<double>(problem.objective.network(), options), InvalidArgument);
  };
  refused({.damping = -1.0});
  refused({.decay = 1.0});
  refused({.refresh = -1});
  refused({.momentum = 1.0});
  refused({.kl_clip = -1.0});
}

}  // namespace
}  // namespace symport
