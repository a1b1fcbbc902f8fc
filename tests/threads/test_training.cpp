// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <thread>

#include "support/networks.hpp"
#include "symport/core/thread_scope.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/training/train_minibatch.hpp"

namespace symport {
namespace {

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
  const ThreadScope some(3, 3);
  EXPECT_EQ(trained<double>(general), trained<double>(general));
  EXPECT_EQ(trained<float>(rescaling), trained<float>(rescaling));
}

TEST(ThreadedTraining, DependsOnTheThreadsAskedForNotOnThoseThatRun) {
  const PositiveScalingSymmetry<float> rescaling;
  const auto on = [&](int running) {
    const ThreadScope some(3, running);
    return trained<float>(rescaling);
  };
  const VectorOf<float> reference = on(3);
  EXPECT_EQ(on(2), reference);
  EXPECT_EQ(on(1), reference);
}

TEST(ThreadedTraining, RunsAtOnceHaveTheirOwnThreads) {
  const GeneralLinear<double> general;
  const auto on = [&](int count) {
    const ThreadScope some(count, count);
    return trained<double>(general);
  };
  const Vector alone_2 = on(2), alone_3 = on(3);
  Vector first, second;
  {
    std::jthread one([&] { first = on(2); });
    std::jthread other([&] { second = on(3); });
  }
  EXPECT_EQ(first, alone_2);
  EXPECT_EQ(second, alone_3);
}

}  // namespace
}  // namespace symport
