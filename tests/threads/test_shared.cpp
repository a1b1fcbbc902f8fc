// SPDX-License-Identifier: MIT
// One objective, several threads: const functions have no state that a second caller could spoil.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "support/networks.hpp"
#include "symport/core/workspaces.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/metric_round_trip.hpp"
#include "symport/optimizers/round_trip.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/training/train.hpp"
#include "symport/training/train_minibatch.hpp"

namespace symport {
namespace {

/// Runs `work(0)` and `work(1)` on two threads that begin together.
template <class Work>
void at_once(const Work& work) {
  std::atomic<int> ready{0};
  std::array<std::jthread, 2> threads;
  for (int k = 0; k < 2; ++k) {
    threads[static_cast<std::size_t>(k)] = std::jthread([&, k] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
      work(k);
    });
  }
}

template <class Scalar>
struct Task {
  Mlp network{{12, 16, 10, 3}, Activation::parse("relu"), true};
  DenseSource<Scalar> source = make_source();
  MlpObjective<Scalar> shared{network, Loss(Loss::Kind::cross_entropy)};

  static DenseSource<Scalar> make_source() {
    const SampleSet<> data = classification_data(
        {.features = 12, .classes = 3, .samples = 48, .spread = 0.8, .seed = 5});
    return {data.X.cast<Scalar>(),
            Targets<Scalar>(std::vector<int>(data.classes.begin(), data.classes.end()))};
  }
  VectorOf<Scalar> start(int k) const {
    Random random(static_cast<std::uint64_t>(k) + 1);
    return initialize<Scalar>(network, Initialization::fan_in, random);
  }
  void bind_all() {
    const SampleSet<> data = classification_data(
        {.features = 12, .classes = 3, .samples = 48, .spread = 0.8, .seed = 5});
    shared.bind(data.X.cast<Scalar>(),
                Targets<Scalar>(std::vector<int>(data.classes.begin(), data.classes.end())));
  }
};

template <class Scalar>
VectorOf<Scalar> minibatches(const Task<Scalar>& task, int k) {
  const PositiveScalingSymmetry<Scalar> rescaling;
  MinibatchOptions<Scalar> options{.epochs = 2, .batch_size = 8, .learning_rate = 0.05};
  options.teleport.symmetry = &rescaling;
  options.teleport.schedule = Schedule::parse("1");
  VectorOf<Scalar> w = task.start(k);
  train_minibatch<Scalar>(task.shared, task.source, split(48, 0, 1), GradientDescent<Scalar>(), w,
                          options);
  return w;
}

TEST(SharedNetwork, TwoRunsInMiniBatchesGiveTheBytesOfTwoSeparateOnes) {
  const Task<float> task;
  const std::array<VectorOf<float>, 2> alone{minibatches(task, 0), minibatches(task, 1)};
  for (int repetition = 0; repetition < 100; ++repetition) {
    std::array<VectorOf<float>, 2> found;
    at_once([&](int k) { found[static_cast<std::size_t>(k)] = minibatches(task, k); });
    ASSERT_EQ(found, alone) << "repetition " << repetition;
  }
}

TEST(SharedNetwork, TwoRunsInFullBatchesGiveTheBytesOfTwoSeparateOnes) {
  Task<double> task;
  task.bind_all();
  const auto run = [&](int k) {
    Vector w = task.start(k);
    const CountingObjective<double> counted(task.shared);
    const MetricRoundTrip<double> metric(std::make_shared<GradientDescent<double>>());
    const RoundTrip<double> kept(std::make_shared<Adam<double>>());
    train(counted, Adam<double>(), w, {.max_steps = 20, .learning_rate = 0.01});
    train(counted, metric, w, {.max_steps = 5, .learning_rate = 0.3});
    train(counted, kept, w, {.max_steps = 5, .learning_rate = 0.01});
    Vector result(w.size());
    counted.hessian_vector(w, w, result);
    return Vector(result + w * counted.curvature(w, w));
  };
  const std::array<Vector, 2> alone{run(0), run(1)};
  for (int repetition = 0; repetition < 100; ++repetition) {
    std::array<Vector, 2> found;
    at_once([&](int k) { found[static_cast<std::size_t>(k)] = run(k); });
    ASSERT_EQ(found, alone) << "repetition " << repetition;
  }
}

TEST(CountingObjective, CountsTheCallsOfAllThreads) {
  Task<double> task;
  task.bind_all();
  const CountingObjective<double> counted(task.shared);
  const Vector w = task.start(0);
  at_once([&](int) {
    for (int i = 0; i < 200; ++i) counted.value(w);
    counted.note_work(0.5);
  });
  EXPECT_EQ(counted.count().values, 400);
  EXPECT_EQ(counted.count().other, 1.0);
}

TEST(Workspaces, AreAsManyAsTheCallsAtOnce) {
  struct Buffer {
    int used = 0;
  };
  Workspaces<Buffer> buffers;
  for (int i = 0; i < 3; ++i) ++Workspaces<Buffer>::Loan(buffers)->used;
  Workspaces<Buffer>::Loan first(buffers), second(buffers);
  EXPECT_EQ(first->used, 3);
  EXPECT_EQ(second->used, 0);
}

}  // namespace
}  // namespace symport
