// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <memory>

#include "support/networks.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/optimizers/g_sgd.hpp"
#include "symport/optimizers/kfac.hpp"
#include "symport/optimizers/muon.hpp"
#include "symport/optimizers/path_sgd.hpp"
#include "symport/optimizers/prodigy.hpp"
#include "symport/optimizers/shampoo.hpp"
#include "symport/optimizers/soap.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/training/checkpoint.hpp"
#include "symport/training/evaluate.hpp"
#include "symport/training/train.hpp"
#include "symport/training/train_minibatch.hpp"

// Optimizers that look at a network's layers or at the gradient as a whole: their runs resume to
// the same bytes, with teleports that take their state along.
namespace symport {
namespace {

template <class Scalar>
std::vector<std::unique_ptr<BasicOptimizer<Scalar>>> baselines(const Mlp& network) {
  std::vector<std::unique_ptr<BasicOptimizer<Scalar>>> list;
  list.push_back(std::make_unique<Prodigy<Scalar>>(ProdigyOptions{.first_distance = 1e-2}));
  list.push_back(std::make_unique<Shampoo<Scalar>>(
      network.layout(), ShampooOptions{.grafting = Grafting::adagrad, .refresh = 3}));
  list.push_back(std::make_unique<Muon<Scalar>>(network.layout()));
  list.push_back(std::make_unique<Soap<Scalar>>(network.layout(), SoapOptions{.refresh = 3}));
  list.push_back(std::make_unique<Kfac<Scalar>>(network, KfacOptions{.refresh = 3}));
  list.push_back(std::make_unique<PathSgd<Scalar>>(network));
  if (!network.biases()) list.push_back(std::make_unique<Gsgd<Scalar>>(network));
  return list;
}

template <class Scalar>
class BaselinesIn : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BaselinesIn, Scalars);

TYPED_TEST(BaselinesIn, ResumeMiniBatchesToTheSameBytes) {
  using Scalar = TypeParam;
  const SampleSet<> data =
      classification_data({.features = 6, .classes = 3, .samples = 40, .spread = 0.8, .seed = 5});
  const DenseSource<Scalar> source{
      data.X.cast<Scalar>(),
      Targets<Scalar>(std::vector<int>(data.classes.begin(), data.classes.end()))};
  const Split parts = split(40, 10, 1);
  const PositiveScalingSymmetry<Scalar> symmetry;
  for (const bool biases : {false, true}) {
    const Mlp network({6, 8, 7, 3}, Activation::parse("leaky_relu"), biases);
    const MlpObjective<Scalar> objective(network, Loss(Loss::Kind::cross_entropy));
    Random random(3);
    const VectorOf<Scalar> start = initialize<Scalar>(network, Initialization::fan_in, random);
    for (const auto& optimizer : baselines<Scalar>(network)) {
      MinibatchOptions<Scalar> options{
          .epochs = 2, .batch_size = 6, .learning_rate = 1e-2, .teleport_batches = 2, .seed = 11};
      options.teleport.symmetry = &symmetry;
      options.teleport.schedule = Schedule::parse("1");
      options.teleport.state = StatePolicy::transport;
      std::vector<Checkpoint<Scalar>> saved;
      auto watched = options;
      watched.checkpoints.every = 1;
      watched.checkpoints.save = [&](const Checkpoint<Scalar>& c) { saved.push_back(c); };
      VectorOf<Scalar> end = start;
      const RunSummary whole =
          train_minibatch<Scalar>(objective, source, parts, *optimizer, end, watched);
      EXPECT_LT(whole.final_loss,
                evaluate<Scalar>(objective, source, parts.training, start, false).loss)
          << optimizer->name();
      ASSERT_EQ(saved.size(), 10u);
      for (const Checkpoint<Scalar>& checkpoint : saved) {
        const auto read =
            checkpoint_from_arrays<Scalar>(checkpoint_arrays(checkpoint), "checkpoint.npz");
        auto rest = options;
        rest.checkpoints.resume = &read;
        VectorOf<Scalar> w = VectorOf<Scalar>::Zero(end.size());
        train_minibatch<Scalar>(objective, source, parts, *optimizer, w, rest);
        ASSERT_TRUE((w.array() == end.array()).all())
            << optimizer->name() << " from epoch " << read.epoch << " batch " << read.batch;
      }
    }
  }
}

TYPED_TEST(BaselinesIn, ResumeFullBatchesToTheSameBytes) {
  using Scalar = TypeParam;
  Random random(8);
  const auto problem = testing::random_problem<Scalar>({5, 6, 7, 4}, "leaky_relu",
                                                       "mean_squares:mean", false, 9, random);
  const PositiveScalingSymmetry<Scalar> symmetry;
  for (const auto& optimizer : baselines<Scalar>(problem.objective.network())) {
    TrainOptions<Scalar> options{.max_steps = 12, .learning_rate = 1e-2, .seed = 4};
    options.teleport.symmetry = &symmetry;
    options.teleport.schedule = Schedule::parse("every:5");
    options.teleport.state = StatePolicy::transport;
    std::vector<Checkpoint<Scalar>> saved;
    auto watched = options;
    watched.checkpoints.every = 1;
    watched.checkpoints.save = [&](const Checkpoint<Scalar>& c) { saved.push_back(c); };
    VectorOf<Scalar> end = problem.w;
    train<Scalar>(problem.objective, *optimizer, end, watched);
    ASSERT_GE(saved.size(), 11u);
    for (const Checkpoint<Scalar>& checkpoint : saved) {
      const auto read =
          checkpoint_from_arrays<Scalar>(checkpoint_arrays(checkpoint), "checkpoint.npz");
      auto rest = options;
      rest.checkpoints.resume = &read;
      VectorOf<Scalar> w = VectorOf<Scalar>::Zero(end.size());
      train<Scalar>(problem.objective, *optimizer, w, rest);
      ASSERT_TRUE((w.array() == end.array()).all())
          << optimizer->name() << " from step " << read.step;
    }
  }
}

// A teleport makes K-FAC gather its factors anew, from one batch at first. With inverses that are
// then kept for three steps the loss rises from 1.51 to 1.74 with the seed 8.
TEST(KfacRun, DescendsThroughTeleports) {
  for (const std::uint64_t seed : {8, 9, 10, 11, 12}) {
    Random random(seed);
    const auto problem = testing::random_problem<double>({5, 6, 7, 4}, "leaky_relu",
                                                         "mean_squares:mean", false, 9, random);
    const PositiveScalingSymmetry<double> symmetry;
    TrainOptions<double> options{.max_steps = 12, .learning_rate = 1e-2, .seed = 4};
    options.teleport.symmetry = &symmetry;
    options.teleport.schedule = Schedule::parse("every:5");
    options.teleport.state = StatePolicy::transport;
    Vector w = problem.w;
    const double start = problem.objective.value(w);
    const RunSummary run =
        train<double>(problem.objective, Kfac<double>(problem.objective.network()), w, options);
    EXPECT_GE(run.accepted_teleports(), 2) << "seed " << seed;
    EXPECT_LT(run.final_loss, start) << "seed " << seed;
  }
}

}  // namespace
}  // namespace symport
