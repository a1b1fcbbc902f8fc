// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>

#include "support/networks.hpp"
#include "support/one_step.hpp"
#include "symport/core/thread_scope.hpp"
#include "symport/optimizers/adagrad.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/adamw.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/optimizers/nesterov.hpp"
#include "symport/optimizers/newton.hpp"
#include "symport/optimizers/rmsprop.hpp"
#include "symport/training/train_minibatch.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::random_problem;

template <class Scalar>
class MinibatchStep : public ::testing::Test {
 protected:
  static constexpr double allowed =
      std::is_same_v<Scalar, double> ? tolerance::rounding : tolerance::single_precision;

  /// Calls check on wide and narrow layers, with biases and without, few samples and many.
  static void for_all_batches(
      const std::function<void(const MlpObjective<Scalar>&, const VectorOf<Scalar>&)>& check) {
    Random random(7);
    for (const bool biases : {false, true}) {
      for (const Index samples : {1, 20, 63, 100}) {
        const auto problem = random_problem<Scalar>({40, 150, 33, 5}, "leaky_relu:0.1",
                                                    "cross_entropy:mean", biases, samples, random);
        SCOPED_TRACE(::testing::Message() << samples << " samples, biases " << biases);
        check(problem.objective, problem.w);
      }
    }
  }
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MinibatchStep, Precisions);

TYPED_TEST(MinibatchStep, RangesAreTheGradientAndCoverItOnce) {
  using Scalar = TypeParam;
  this->for_all_batches([&](const MlpObjective<Scalar>& objective, const VectorOf<Scalar>& w) {
    VectorOf<Scalar> gradient(w.size());
    const double loss = objective.gradient(w, gradient);
    for (const int count : {1, 2, 3}) {
      const ThreadScope scope(count, count);
      VectorOf<Scalar> pieces = VectorOf<Scalar>::Zero(w.size());
      Index entries = 0;
      std::mutex mutex;
      const double again = objective.gradient_ranges(w, [&](Index first, In<Scalar> range) {
        const std::scoped_lock lock(mutex);
        pieces.segment(first, range.size()) += range;
        entries += range.size();
      });
      EXPECT_NEAR(again, loss, this->allowed * std::abs(loss));
      EXPECT_EQ(entries, w.size());
      EXPECT_LE((pieces - gradient).norm(), this->allowed * gradient.norm());
    }
  });
}

TYPED_TEST(MinibatchStep, EqualsGradientAndStepForEveryOptimizer) {
  using Scalar = TypeParam;
  std::vector<std::unique_ptr<BasicOptimizer<Scalar>>> optimizers;
  optimizers.push_back(std::make_unique<GradientDescent<Scalar>>());
  optimizers.push_back(std::make_unique<Momentum<Scalar>>());
  optimizers.push_back(std::make_unique<Nesterov<Scalar>>());
  optimizers.push_back(std::make_unique<AdaGrad<Scalar>>(AdaGradOptions{.epsilon = 1e-3}));
  optimizers.push_back(std::make_unique<RmsProp<Scalar>>(RmsPropOptions{.epsilon = 1e-3}));
  optimizers.push_back(std::make_unique<Adam<Scalar>>(AdamOptions{.epsilon = 1e-3}));
  optimizers.push_back(std::make_unique<AdamW<Scalar>>(AdamWOptions{.epsilon = 1e-3}));
  constexpr double rate = 0.01;
  this->for_all_batches([&](const MlpObjective<Scalar>& objective, const VectorOf<Scalar>& start) {
    for (const auto& optimizer : optimizers) {
      for (const int count : {1, 2}) {
        const ThreadScope scope(count, count);
        VectorOf<Scalar> whole = start, ranges = start, gradient(start.size());
        OptimizerState<Scalar> whole_state = optimizer->init(start.size());
        OptimizerState<Scalar> ranges_state = whole_state;
        for (int step = 0; step < 3; ++step) {
          const double loss = objective.gradient(whole, gradient);
          testing::one_step(*optimizer, objective, loss, gradient, rate, whole_state, whole);
          const double again = optimizer->minibatch_step(objective, rate, ranges_state, ranges);
          EXPECT_NEAR(again, loss, 10 * this->allowed * std::abs(loss)) << optimizer->name();
        }
        EXPECT_LE((ranges - whole).norm(), this->allowed * whole.norm()) << optimizer->name();
        EXPECT_GT((whole - start).norm(), 1e-4 * start.norm()) << optimizer->name();
        EXPECT_EQ(ranges_state.count, whole_state.count) << optimizer->name();
      }
    }
  });
}

TEST(MinibatchStepOfNewton, TakesAnOptimizerThatNeedsTheWholeGradient) {
  Random random(8);
  const auto problem =
      random_problem<double>({3, 4, 2}, "tanh", "mean_squares:mean", true, 6, random);
  const Newton<double> newton;
  Vector whole = problem.w, again = problem.w, gradient(whole.size());
  OptimizerState<double> state = newton.init(whole.size()), other = state;
  const double loss = problem.objective.gradient(whole, gradient);
  testing::one_step(newton, problem.objective, loss, gradient, 0.5, state, whole);
  EXPECT_EQ(newton.minibatch_step(problem.objective, 0.5, other, again), loss);
  EXPECT_EQ(again, whole);
}

}  // namespace
}  // namespace symport
