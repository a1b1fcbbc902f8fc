// SPDX-License-Identifier: MIT
// Everything that uses more than one thread; ./check --tsan runs it under ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "core/pool.hpp"
#include "support/networks.hpp"
#include "symport/core/gemm.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/training/train_minibatch.hpp"

namespace symport {
namespace {

/// So many threads while it lives.
struct WithThreads {
  int before = threads();
  explicit WithThreads(int count) { set_threads(count); }
  ~WithThreads() { set_threads(before); }
};

TEST(Pool, EveryPartIsDoneOnceAndSeenByTheCaller) {
  for (const int count : {1, 2, 3, 7}) {
    const WithThreads some(count);
    for (int round = 0; round < 200; ++round) {
      std::vector<int> done(static_cast<std::size_t>(count), 0);  // not atomic: one writer each
      run_parts(count, [&](int part) { ++done[static_cast<std::size_t>(part)]; });
      ASSERT_EQ(std::accumulate(done.begin(), done.end(), 0), count);
      ASSERT_EQ(*std::min_element(done.begin(), done.end()), 1);
    }
  }
}

TEST(Pool, SleepingThreadsWakeUp) {
  const WithThreads some(3);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // longer than they look out for
    std::vector<int> done(3, 0);
    run_parts(3, [&](int part) { done[static_cast<std::size_t>(part)] = round; });
    ASSERT_EQ(done, std::vector<int>(3, round));
  }
}

TEST(Pool, CallersThatComeTogetherAllGetTheirPartsDone) {
  const WithThreads some(3);
  std::vector<std::vector<int>> done(4, std::vector<int>(3, 0));
  {
    std::vector<std::jthread> callers;
    for (std::vector<int>& mine : done) {
      callers.emplace_back([&mine] {
        for (int round = 0; round < 200; ++round) {
          run_parts(3, [&mine](int part) { ++mine[static_cast<std::size_t>(part)]; });
        }
      });
    }
  }
  for (const std::vector<int>& mine : done) EXPECT_EQ(mine, std::vector<int>(3, 200));
}

TEST(Pool, MayChangeItsSizeWhileOthersUseIt) {
  const WithThreads some(2);
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  {
    std::jthread user([&] {
      while (!stop) {
        std::vector<int> done(2, 0);
        run_parts(2, [&](int part) { done[static_cast<std::size_t>(part)] = 1; });
        if (done != std::vector<int>{1, 1}) ++wrong;
      }
    });
    for (int round = 0; round < 30; ++round) set_threads(1 + round % 4);
    stop = true;
  }
  EXPECT_EQ(wrong, 0);
}

/// A network whose products are large enough to be divided.
template <class Scalar>
VectorOf<Scalar> trained(const BasicSymmetry<Scalar>& symmetry) {
  const SampleSet<> data = classification_data(
      {.features = 120, .classes = 4, .samples = 128, .spread = 0.8, .seed = 5});
  const DenseSource<Scalar> source(
      data.X.cast<Scalar>(),
      Targets<Scalar>(std::vector<int>(data.classes.begin(), data.classes.end())));
  const Mlp network({120, 160, 140, 4}, Activation::parse("leaky_relu"), true);
  const MlpObjective<Scalar> objective(network, Loss(Loss::Kind::cross_entropy));
  MinibatchOptions<Scalar> options{
      .epochs = 2, .batch_size = 64, .learning_rate = 0.01, .teleport_batches = 1, .seed = 11};
  options.teleport.symmetry = &symmetry;
  options.teleport.schedule = Schedule::parse("1");
  Random random(3);
  VectorOf<Scalar> w = initialize<Scalar>(network, Initialization::fan_in, random);
  const RunSummary run = train_minibatch<Scalar>(objective, source, split(128, 0, 1),
                                                 GradientDescent<Scalar>(), w, options);
  EXPECT_FALSE(run.teleports.empty());
  for (const Certificate& teleport : run.teleports) {
    EXPECT_TRUE(teleport.accepted) << teleport.reason;
  }
  return w;
}

TEST(ThreadedTraining, GivesTheSameBytesEveryTime) {
  const GeneralLinear<double> general;
  const PositiveScalingSymmetry<float> rescaling;
  const WithThreads some(3);
  EXPECT_EQ(trained<double>(general), trained<double>(general));
  EXPECT_EQ(trained<float>(rescaling), trained<float>(rescaling));
}

TEST(ThreadedTraining, TwoRunsAtOnceAreAsEachAlone) {
  const GeneralLinear<double> general;
  const WithThreads some(2);
  const Vector alone = trained<double>(general);
  Vector first, second;
  {
    std::jthread one([&] { first = trained<double>(general); });
    std::jthread other([&] { second = trained<double>(general); });
  }
  EXPECT_EQ(first, alone);
  EXPECT_EQ(second, alone);
}

}  // namespace
}  // namespace symport
