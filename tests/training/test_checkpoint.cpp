// SPDX-License-Identifier: MIT
#include "symport/training/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "support/networks.hpp"
#include "support/traces.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/optimizers/adagrad.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/lbfgs.hpp"
#include "symport/optimizers/line_search_descent.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/search/random_search.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/permutation.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/training/train.hpp"
#include "symport/training/train_minibatch.hpp"

namespace symport {
namespace {

using testing::expect_same;
using ::testing::HasSubstr;

template <class Scalar>
using Optimizers = std::vector<std::unique_ptr<BasicOptimizer<Scalar>>>;

template <class Scalar>
Optimizers<Scalar> minibatch_optimizers() {
  Optimizers<Scalar> list;
  list.push_back(std::make_unique<GradientDescent<Scalar>>());
  list.push_back(std::make_unique<Momentum<Scalar>>());
  list.push_back(std::make_unique<AdaGrad<Scalar>>());
  list.push_back(std::make_unique<Adam<Scalar>>());
  return list;
}

/// A checkpoint that went through the arrays of a file.
template <class Scalar>
Checkpoint<Scalar> through_arrays(const Checkpoint<Scalar>& checkpoint) {
  return checkpoint_from_arrays<Scalar>(checkpoint_arrays(checkpoint), "c.npz");
}

void expect_same(const std::vector<Certificate>& a, const std::vector<Certificate>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].step, b[i].step);
    EXPECT_EQ(a[i].grad_sq_after, b[i].grad_sq_after);
    EXPECT_EQ(a[i].accepted, b[i].accepted);
    EXPECT_EQ(a[i].reason, b[i].reason);
  }
}

/// A small classification with everything that a run may remember.
template <class Scalar>
struct Minibatches {
  SampleSet<> data =
      classification_data({.features = 6, .classes = 3, .samples = 60, .spread = 0.8, .seed = 5});
  DenseSource<Scalar> source{data.X.cast<Scalar>(), Targets<Scalar>(std::vector<int>(
                                                        data.classes.begin(), data.classes.end()))};
  Split parts = split(60, 15, 1);
  Mlp network{{6, 8, 7, 3}, Activation::parse("leaky_relu"), true};
  MlpObjective<Scalar> objective{network, Loss(Loss::Kind::cross_entropy)};
  GeneralLinear<Scalar> symmetry;
  VectorOf<Scalar> start;

  Minibatches() {
    Random random(3);
    start = initialize<Scalar>(network, Initialization::fan_in, random);
  }

  MinibatchOptions<Scalar> options() const {
    MinibatchOptions<Scalar> options{.epochs = 4,
                                     .batch_size = 6,
                                     .learning_rate = LearningRate::parse("step:0.05,0.5,2"),
                                     .teleport_batches = 3,
                                     .patience = 3,
                                     .seed = 11};
    options.teleport.symmetry = &symmetry;
    options.teleport.schedule = Schedule::parse("1,2");
    return options;
  }
};

template <class Scalar>
class CheckpointIn : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CheckpointIn, Scalars);

TYPED_TEST(CheckpointIn, EveryStepOfMiniBatchesLeadsToTheSameEnd) {
  using Scalar = TypeParam;
  const Minibatches<Scalar> problem;
  for (const auto& optimizer : minibatch_optimizers<Scalar>()) {
    std::vector<Checkpoint<Scalar>> saved;
    auto options = problem.options();
    options.checkpoints.every = 1;
    options.checkpoints.save = [&](const Checkpoint<Scalar>& c) { saved.push_back(c); };
    VectorOf<Scalar> end = problem.start;
    const RunSummary whole = train_minibatch<Scalar>(problem.objective, problem.source,
                                                     problem.parts, *optimizer, end, options);
    ASSERT_EQ(saved.size(), 4u * 8u);  // 45 samples in 8 batches: 7 checkpoints inside, 1 after
    ASSERT_EQ(whole.teleports.size(), 6u);
    for (const Checkpoint<Scalar>& checkpoint : saved) {
      const Checkpoint<Scalar> read = through_arrays(checkpoint);
      auto rest = problem.options();
      rest.checkpoints.resume = &read;
      VectorOf<Scalar> w = VectorOf<Scalar>::Zero(end.size());  // the start plays no part
      const RunSummary resumed = train_minibatch<Scalar>(problem.objective, problem.source,
                                                         problem.parts, *optimizer, w, rest);
      ASSERT_TRUE((w.array() == end.array()).all())
          << optimizer->name() << " from epoch " << read.epoch << " batch " << read.batch;
      EXPECT_EQ(resumed.steps, whole.steps);
      EXPECT_EQ(resumed.epochs, whole.epochs);
      EXPECT_EQ(resumed.final_loss, whole.final_loss);
      expect_same(resumed.trace, whole.trace);
      expect_same(resumed.teleports, whole.teleports);
    }
  }
}

TYPED_TEST(CheckpointIn, EveryStepOfFullBatchesLeadsToTheSameEnd) {
  using Scalar = TypeParam;
  Random random(8);
  const auto problem =
      testing::random_problem<Scalar>({5, 6, 7, 4}, "leaky_relu", "mean_squares", false, 4, random);
  Optimizers<Scalar> optimizers = minibatch_optimizers<Scalar>();
  optimizers.push_back(std::make_unique<CurvatureDescent<Scalar>>());
  optimizers.push_back(std::make_unique<LineSearchDescent<Scalar>>());
  optimizers.push_back(std::make_unique<Lbfgs<Scalar>>());
  // A random search draws numbers, so that the generator's position counts.
  const PermutationSymmetry<Scalar> permutations;
  const PositiveScalingSymmetry<Scalar> scalings;
  const RandomSearch random_search;
  for (const BasicSymmetry<Scalar>* symmetry :
       {static_cast<const BasicSymmetry<Scalar>*>(&permutations),
        static_cast<const BasicSymmetry<Scalar>*>(&scalings)}) {
    for (const auto& optimizer : optimizers) {
      TrainOptions<Scalar> options{.max_steps = 12, .learning_rate = 1e-2, .seed = 4};
      options.teleport.symmetry = symmetry;
      options.teleport.schedule = Schedule::parse("every:3");
      if (symmetry == &permutations) options.teleport.search = &random_search;
      options.validate = [](In<Scalar> w) { return Validation{double(w[0]), double(w[1])}; };
      std::vector<Checkpoint<Scalar>> saved;
      TrainOptions<Scalar> watched = options;
      watched.checkpoints.every = 1;
      watched.checkpoints.save = [&](const Checkpoint<Scalar>& c) { saved.push_back(c); };
      VectorOf<Scalar> end = problem.w;
      const RunSummary whole = train<Scalar>(problem.objective, *optimizer, end, watched);
      ASSERT_EQ(saved.size(), 12u);
      for (const Checkpoint<Scalar>& checkpoint : saved) {
        const Checkpoint<Scalar> read = through_arrays(checkpoint);
        TrainOptions<Scalar> rest = options;
        rest.checkpoints.resume = &read;
        VectorOf<Scalar> w = VectorOf<Scalar>::Zero(end.size());
        const RunSummary resumed = train<Scalar>(problem.objective, *optimizer, w, rest);
        ASSERT_TRUE((w.array() == end.array()).all()) << optimizer->name() << " " << read.step;
        expect_same(resumed.trace, whole.trace);
        expect_same(resumed.teleports, whole.teleports);
      }
    }
  }
}

TEST(Checkpoint, AStoppedRunIsSavedAfterTheStepThatItFinished) {
  const Minibatches<double> problem;
  auto options = problem.options();
  Index calls = 0;
  options.watcher = [&](const TraceRow&) { return ++calls < 10; };
  std::vector<Checkpoint<double>> saved;
  options.checkpoints.save = [&](const Checkpoint<double>& c) { saved.push_back(c); };
  Vector w = problem.start;
  const RunSummary run = train_minibatch<double>(problem.objective, problem.source, problem.parts,
                                                 GradientDescent<double>(), w, options);
  EXPECT_EQ(run.status, RunStatus::interrupted);
  EXPECT_EQ(run.steps, 10);
  EXPECT_EQ(run.epochs, 1);
  ASSERT_EQ(saved.size(), 2u);  // the first epoch's end, and this
  EXPECT_EQ(saved[1].step, 10);
  EXPECT_EQ(saved[1].epoch, 1);
  EXPECT_EQ(saved[1].batch, 2);
  EXPECT_TRUE((saved[1].w.array() == w.array()).all());
}

TEST(Checkpoint, OfALongerRunGoesOn) {
  const Minibatches<double> problem;
  auto options = problem.options();
  std::vector<Checkpoint<double>> saved;
  options.checkpoints.save = [&](const Checkpoint<double>& c) { saved.push_back(c); };
  Vector w = problem.start, longer = problem.start, w_resumed = problem.start;
  const GradientDescent<double> sgd;
  train_minibatch<double>(problem.objective, problem.source, problem.parts, sgd, w, options);
  options.checkpoints = {};
  options.epochs = 6;
  train_minibatch<double>(problem.objective, problem.source, problem.parts, sgd, longer, options);
  options.checkpoints.resume = &saved.back();
  train_minibatch<double>(problem.objective, problem.source, problem.parts, sgd, w_resumed,
                          options);
  EXPECT_TRUE((w_resumed.array() == longer.array()).all());
}

TEST(Checkpoint, OfADivergedRunIsNeverSaved) {
  const Minibatches<double> problem;
  auto options = problem.options();
  options.learning_rate = 1e200;
  options.teleport = {};
  options.checkpoints.every = 1;
  options.checkpoints.save = [&](const Checkpoint<double>& c) {
    EXPECT_TRUE(std::isfinite(c.epoch_loss));
  };
  Vector w = problem.start;
  const RunSummary run = train_minibatch<double>(problem.objective, problem.source, problem.parts,
                                                 GradientDescent<double>(), w, options);
  EXPECT_EQ(run.status, RunStatus::diverged);
}

TEST(Checkpoint, BeyondTheEpochOrWithBadOptionsIsRefused) {
  const Minibatches<double> problem;
  Checkpoint<double> beyond;
  beyond.w = problem.start;
  beyond.batch = 8;  // of 0, ..., 7
  beyond.trace.unit = RowUnit::epoch;
  const auto refused = [&](const auto& change) {
    auto options = problem.options();
    change(options);
    Vector w = problem.start;
    EXPECT_THROW(train_minibatch<double>(problem.objective, problem.source, problem.parts,
                                         GradientDescent<double>(), w, options),
                 InvalidArgument);
    EXPECT_TRUE((w.array() == problem.start.array()).all());
  };
  refused([&](auto& options) { options.checkpoints.resume = &beyond; });
  refused([](auto& options) { options.epochs = -1; });
  refused([](auto& options) { options.batch_size = 0; });
  refused([](auto& options) { options.teleport_batches = 0; });
  refused([](auto& options) { options.patience = -1; });
  refused([](auto& options) { options.teleport.symmetry = nullptr; });
}

TEST(Checkpoint, OfAnotherOptimizerOrWithHalfATraceIsRefused) {
  const Minibatches<double> problem;
  auto options = problem.options();
  std::vector<Checkpoint<double>> saved;
  options.checkpoints.save = [&](const Checkpoint<double>& c) { saved.push_back(c); };
  Vector w = problem.start;
  train_minibatch<double>(problem.objective, problem.source, problem.parts,
                          GradientDescent<double>(), w, options);
  options.checkpoints = {.resume = &saved[0]};
  const Vector before = w;
  EXPECT_THROW(train_minibatch<double>(problem.objective, problem.source, problem.parts,
                                       Adam<double>(), w, options),
               InvalidArgument);
  EXPECT_TRUE((w.array() == before.array()).all());

  Random random(4);
  const testing::Problem<double> full =
      testing::random_problem<double>({3, 2}, "linear", "half_sum_squares", false, 4, random);
  for (const bool with_points : {false, true}) {
    Checkpoint<double> half;
    half.w = full.w;
    half.trace.rows.resize(3);
    if (with_points) half.trace.points.assign(2, full.w);
    TrainOptions<double> rest{.max_steps = 5, .trace = true, .checkpoints = {.resume = &half}};
    Vector start = full.w;
    EXPECT_THROW(train<double>(full.objective, GradientDescent<double>(), start, rest),
                 InvalidArgument);
  }
}

TEST(Checkpoint, OfAnotherAlgorithmIsRefused) {
  Random random(4);
  const testing::Problem<double> full =
      testing::random_problem<double>({3, 2}, "linear", "half_sum_squares", false, 4, random);
  Checkpoint<double> minibatch;
  minibatch.w = full.w;
  minibatch.trace.unit = RowUnit::epoch;
  TrainOptions<double> rest{.max_steps = 5, .checkpoints = {.resume = &minibatch}};
  Vector start = full.w;
  EXPECT_THROW(train<double>(full.objective, GradientDescent<double>(), start, rest),
               InvalidArgument);
}

TEST(Checkpoint, OfAnotherNetworkIsRefused) {
  const Minibatches<double> problem;
  Checkpoint<double> other;
  other.w = Vector::Ones(3);
  other.trace.unit = RowUnit::epoch;
  auto options = problem.options();
  options.checkpoints.resume = &other;
  Vector w = problem.start;
  EXPECT_THROW(train_minibatch<double>(problem.objective, problem.source, problem.parts,
                                       GradientDescent<double>(), w, options),
               InvalidArgument);
  EXPECT_TRUE((w.array() == problem.start.array()).all());
}

}  // namespace
}  // namespace symport
