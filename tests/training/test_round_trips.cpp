// SPDX-License-Identifier: MIT
// Algorithms 1 and 2 with round trips.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "support/networks.hpp"
#include "symport/core/thread_scope.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/objectives/matrix_factorization.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/adamw.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/metric_round_trip.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/optimizers/round_trip.hpp"
#include "symport/training/train.hpp"
#include "symport/training/train_minibatch.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

template <class Scalar>
struct Images {
  SampleSet<> data = classification_data(
      {.features = 120, .classes = 4, .samples = 128, .spread = 0.8, .seed = 5});
  DenseSource<Scalar> source{data.X.cast<Scalar>(), Targets<Scalar>(std::vector<int>(
                                                        data.classes.begin(), data.classes.end()))};
  Mlp network{{120, 160, 140, 4}, Activation::parse("leaky_relu"), true};
  MlpObjective<Scalar> objective{network, Loss(Loss::Kind::cross_entropy)};
  VectorOf<Scalar> start;

  Images() {
    Random random(3);
    start = initialize<Scalar>(network, Initialization::fan_in, random);
  }
};

/// Both kinds, with a rate for each.
template <class Scalar>
std::vector<std::pair<std::shared_ptr<const BasicOptimizer<Scalar>>, double>> round_trips() {
  const auto gd = std::make_shared<GradientDescent<Scalar>>();
  const auto momentum = std::make_shared<Momentum<Scalar>>();
  const RoundTripOptions often{.data_power = 0.25, .refresh = 3};
  return {{std::make_shared<MetricRoundTrip<Scalar>>(gd, MetricRoundTripOptions{.check_every = 5}),
           0.3},
          {std::make_shared<MetricRoundTrip<Scalar>>(momentum), 0.03},
          {std::make_shared<RoundTrip<Scalar>>(gd, often), 0.1},
          {std::make_shared<RoundTrip<Scalar>>(momentum), 0.03},
          {std::make_shared<RoundTrip<Scalar>>(std::make_shared<AdamW<Scalar>>(), often), 0.01}};
}

template <class Scalar>
class RoundTripsIn : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RoundTripsIn, Scalars);

TYPED_TEST(RoundTripsIn, GoOnFromAnyStepToTheSameBytes) {
  using Scalar = TypeParam;
  const SampleSet<> data =
      classification_data({.features = 6, .classes = 3, .samples = 60, .spread = 0.8, .seed = 5});
  const DenseSource<Scalar> source(
      data.X.template cast<Scalar>(),
      Targets<Scalar>(std::vector<int>(data.classes.begin(), data.classes.end())));
  const Mlp network({6, 8, 7, 3}, Activation::parse("leaky_relu"), true);
  const MlpObjective<Scalar> objective(network, Loss(Loss::Kind::cross_entropy));
  Random random(3);
  const VectorOf<Scalar> start = initialize<Scalar>(network, Initialization::fan_in, random);
  for (const auto& [trip, rate] : round_trips<Scalar>()) {
    std::vector<Checkpoint<Scalar>> saved;
    MinibatchOptions<Scalar> options{
        .epochs = 2,
        .batch_size = 6,
        .learning_rate = LearningRate::parse(fmt::format("step:{},0.5,1", rate)),
        .seed = 11};
    options.checkpoints.every = 3;
    options.checkpoints.save = [&](const Checkpoint<Scalar>& c) { saved.push_back(c); };
    VectorOf<Scalar> end = start;
    const RunSummary whole =
        train_minibatch<Scalar>(objective, source, split(60, 15, 1), *trip, end, options);
    EXPECT_LT(whole.final_loss, whole.trace.rows.front().loss);
    ASSERT_GT(saved.size(), 4u);
    for (const Checkpoint<Scalar>& checkpoint : saved) {
      const auto read = checkpoint_from_arrays<Scalar>(checkpoint_arrays(checkpoint), "c.npz");
      options.checkpoints = {.resume = &read};
      VectorOf<Scalar> w = VectorOf<Scalar>::Zero(start.size());
      const RunSummary rest =
          train_minibatch<Scalar>(objective, source, split(60, 15, 1), *trip, w, options);
      EXPECT_EQ(w, end) << trip->name();
      EXPECT_EQ(rest.evaluations, whole.evaluations);
    }
  }
}

TEST(RoundTrips, OfFullBatchesGoOnFromAnyStepToTheSameBytes) {
  Random random(4);
  const auto problem = testing::random_problem<double>({6, 8, 3}, "leaky_relu",
                                                       "cross_entropy:mean", true, 20, random);
  auto trips = round_trips<double>();
  trips.emplace_back(
      std::make_shared<MetricRoundTrip<double>>(std::make_shared<CurvatureDescent<double>>()), 0.3);
  for (const auto& [trip, rate] : trips) {
    std::vector<Checkpoint<double>> saved;
    TrainOptions<double> options{.max_steps = 12, .learning_rate = rate};
    options.checkpoints.every = 1;
    options.checkpoints.save = [&](const Checkpoint<double>& c) { saved.push_back(c); };
    Vector end = problem.w;
    train<double>(problem.objective, *trip, end, options);
    ASSERT_EQ(saved.size(), 12u);
    for (const Checkpoint<double>& checkpoint : saved) {
      options.checkpoints = {.resume = &checkpoint};
      Vector w = Vector::Zero(end.size());
      train<double>(problem.objective, *trip, w, options);
      EXPECT_EQ(w, end) << trip->name();
    }
  }
}

TYPED_TEST(RoundTripsIn, AnyNumberOfThreads) {
  using Scalar = TypeParam;
  const Images<Scalar> images;
  for (const auto& [trip, rate] : round_trips<Scalar>()) {
    const auto on = [&, &trip = *trip, rate = rate](int requested, int running) {
      const ThreadScope scope(requested, running);
      VectorOf<Scalar> w = images.start;
      train_minibatch<Scalar>(images.objective, images.source, split(128, 0, 1), trip, w,
                              {.epochs = 2, .batch_size = 64, .learning_rate = rate});
      return w;
    };
    const VectorOf<Scalar> alone = on(1, 1), three = on(3, 3);
    EXPECT_EQ(on(3, 1), three) << trip->name();
    // Adam divides by numbers that may be rounding alone.
    if (trip->name() != "adamw") {
      EXPECT_LE((three - alone).norm(), 20 * tolerance::single_precision * alone.norm())
          << trip->name();
    }
  }
}

// Batches of one sample, of all, and more samples than features; dead pixels and dead units; layers
// of one unit: everything works through the damping.
TYPED_TEST(RoundTripsIn, NothingIsRefused) {
  using Scalar = TypeParam;
  SampleSet<> data =
      classification_data({.features = 5, .classes = 2, .samples = 40, .spread = 0.5, .seed = 2});
  data.X.row(1).setZero();
  data.X.col(3).setZero();
  data.X.col(7) = data.X.col(8);
  const DenseSource<Scalar> source(
      data.X.template cast<Scalar>(),
      Targets<Scalar>(std::vector<int>(data.classes.begin(), data.classes.end())));
  for (const char* activation : {"relu", "tanh", "leaky_relu"}) {
    for (const std::vector<Index>& widths :
         std::vector<std::vector<Index>>{{5, 2}, {5, 1, 2}, {5, 9, 4, 2}}) {
      const Mlp network(widths, Activation::parse(activation), widths.size() != 3);
      const MlpObjective<Scalar> objective(network, Loss(Loss::Kind::cross_entropy));
      Random random(3);
      VectorOf<Scalar> start = initialize<Scalar>(network, Initialization::fan_in, random);
      if (widths.size() > 3) network.weights(1, start.data()).topRows(3).setZero();
      const auto gd = std::make_shared<GradientDescent<Scalar>>();
      for (const Index batch : {1, 7, 40}) {
        for (const double damping : {0.0, 0.1}) {
          const MetricRoundTrip<Scalar> metric(gd, {.damping = damping});
          const RoundTrip<Scalar> kept(std::make_shared<Adam<Scalar>>(),
                                       {.data_power = 0.25, .damping = damping, .rows = 5});
          const auto runs_with = [&](const BasicOptimizer<Scalar>& trip, double rate) {
            VectorOf<Scalar> w = start;
            const RunSummary run =
                train_minibatch<Scalar>(objective, source, split(40, 0, 1), trip, w,
                                        {.epochs = 3, .batch_size = batch, .learning_rate = rate});
            EXPECT_EQ(run.status, RunStatus::step_limit);
            EXPECT_TRUE(w.allFinite());
            if (damping == 0.0) return;
            EXPECT_LT(run.final_loss, 2.0 * run.trace.rows.front().loss)
                << activation << ", " << widths.size() << " widths, batches of " << batch
                << ", damping " << damping;
          };
          runs_with(metric, metric.usual_rate(objective));
          runs_with(kept, 1e-3);
        }
      }
    }
  }
}

// Every step lowers the loss of its own batch, and raises that of the others: the running loss
// shows it, and theta is shortened. Without checks the run ends far above its start.
TEST(RoundTrips, ShortenAThetaThatHarmsTheOtherBatches) {
  const SampleSet<> data =
      classification_data({.features = 20, .classes = 5, .samples = 400, .spread = 2.0, .seed = 2});
  const DenseSource<double> source(
      data.X, Targets<double>(std::vector<int>(data.classes.begin(), data.classes.end())));
  const Mlp network({20, 20, 20, 5}, Activation::parse("leaky_relu"), true);
  const MlpObjective<double> objective(network, Loss(Loss::Kind::cross_entropy));
  Random random(3);
  const Vector start = initialize<double>(network, Initialization::fan_in, random);
  const auto last = [&](Index check_every) {
    const MetricRoundTrip<double> trip(std::make_shared<GradientDescent<double>>(),
                                       {.damping = 0.01, .check_every = check_every});
    Vector w = start;
    const RunSummary run =
        train_minibatch<double>(objective, source, split(400, 0, 1), trip, w,
                                {.epochs = 10, .batch_size = 20, .learning_rate = 3.0});
    return run.final_loss / run.trace.rows.front().loss;
  };
  EXPECT_LT(last(32), 3.0);
  EXPECT_FALSE(last(0) < 10.0);
}

TEST(RoundTrips, SolveFactorisationsOfAnyCondition) {
  for (const double condition : {1.0, 1e4}) {
    const auto pair = MatrixFactorization::conditioned(40, 30, 5, condition, 0);
    const MetricRoundTrip<double> trip(std::make_shared<GradientDescent<double>>());
    Vector w = pair.start();
    const RunSummary run = train<double>(
        pair, trip, w, {.max_steps = 60, .learning_rate = trip.usual_rate(pair), .stop = {1e-9}});
    EXPECT_EQ(run.status, RunStatus::converged) << "condition " << condition;
    Vector plain = pair.start();
    const RunSummary gd = train<double>(pair, GradientDescent<double>(), plain,
                                        {.max_steps = 60, .learning_rate = 0.2});
    if (condition > 1.0) {
      EXPECT_GT(gd.final_loss, 1e-9);
    }
  }
}

}  // namespace
}  // namespace symport
