// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "support/traces.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/objectives/initialization.hpp"
#include "symport/objectives/mlp_objective.hpp"
#include "symport/objectives/rosenbrock.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/search/angle_scan.hpp"
#include "symport/search/random_search.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/symmetries/rotation.hpp"
#include "symport/training/train.hpp"
#include "symport/training/train_minibatch.hpp"

namespace symport {
namespace {

using ::testing::HasSubstr;

/// Moves that nothing stops: the steepest point there is, and a rehearsal of one step, which has
/// nothing to compare.
template <class Scalar>
Teleportation<Scalar> reckless(const BasicSymmetry<Scalar>& symmetry, const char* schedule) {
  Teleportation<Scalar> plan;
  plan.symmetry = &symmetry;
  plan.schedule = Schedule::parse(schedule);
  plan.objective = ObjectiveKind::gradient_norm;
  plan.rehearsal = 1;
  return plan;
}

struct Valley {
  Rosenbrock objective;
  RotationSymmetry symmetry = rosenbrock_rotation();
  AngleScan search;
  GradientDescent<double> optimizer;
  Vector start = Vector{{-1.0, -1.0}};
  TrainOptions<double> options(const char* schedule) const {
    TrainOptions<double> options{.max_steps = 200, .learning_rate = 1e-3};
    options.teleport = reckless<double>(symmetry, schedule);
    options.teleport.search = &search;
    return options;
  }
};

TEST(Rollback, ARunThatWouldDivergeGoesOnFromBeforeItsTeleport) {
  const Valley valley;
  auto options = valley.options("0");
  Vector w = valley.start;
  const RunSummary run = train<double>(valley.objective, valley.optimizer, w, options);
  ASSERT_EQ(run.teleports.size(), 1u);
  EXPECT_FALSE(run.teleports[0].accepted);
  EXPECT_THAT(run.teleports[0].reason, HasSubstr("taken back at step"));
  EXPECT_TRUE(run.trace.teleports[0].accepted);  // it was there for a while
  EXPECT_EQ(run.status, RunStatus::step_limit);

  // Without a rehearsal nothing is prevented.
  options.teleport.rehearsal = 0;
  w = valley.start;
  const RunSummary lost = train<double>(valley.objective, valley.optimizer, w, options);
  ASSERT_EQ(lost.status, RunStatus::diverged);

  // From there on it is the plain run, as many steps later as it was away.
  Vector plain = valley.start;
  const Index away = lost.steps;
  const RunSummary straight = train<double>(valley.objective, valley.optimizer, plain,
                                            {.max_steps = 200 - away, .learning_rate = 1e-3});
  EXPECT_EQ(run.final_loss, straight.final_loss);
}

TEST(Rollback, TakesARiseInSeveralTeleportsBackAsOne) {
  // The second teleport begins above the first, while the run is being lost already.
  const Valley valley;
  Vector w = valley.start;
  const RunSummary run =
      train<double>(valley.objective, valley.optimizer, w, valley.options("0,1"));
  ASSERT_EQ(run.teleports.size(), 2u);
  for (const Certificate& teleport : run.teleports) EXPECT_FALSE(teleport.accepted);
  EXPECT_EQ(run.teleports[0].reason, run.teleports[1].reason);
  EXPECT_EQ(run.status, RunStatus::step_limit);
  EXPECT_LT(run.final_loss, run.trace.rows.front().loss);
}

TEST(Rollback, EveryCheckpointLeadsToTheSameEnd) {
  const Valley valley;
  std::vector<Checkpoint<double>> saved;
  auto options = valley.options("0,1,40");
  options.checkpoints.every = 1;
  options.checkpoints.save = [&](const Checkpoint<double>& c) { saved.push_back(c); };
  Vector end = valley.start;
  const RunSummary whole = train<double>(valley.objective, valley.optimizer, end, options);
  ASSERT_EQ(whole.teleports.size(), 2u);  // none at step 40, after it went back
  ASSERT_FALSE(saved.empty());
  for (const Checkpoint<double>& checkpoint : saved) {
    const auto read = checkpoint_from_arrays<double>(checkpoint_arrays(checkpoint), "c.npz");
    auto rest = valley.options("0,1,40");
    rest.checkpoints.resume = &read;
    Vector w = valley.start;
    const RunSummary resumed = train<double>(valley.objective, valley.optimizer, w, rest);
    ASSERT_EQ(w, end) << "from step " << read.step;
    EXPECT_EQ(resumed.evaluations, whole.evaluations);
    testing::expect_same(resumed.trace, whole.trace);
    ASSERT_EQ(resumed.teleports.size(), whole.teleports.size());
    EXPECT_EQ(resumed.teleports[0].reason, whole.teleports[0].reason);
  }
}

TEST(Rollback, MiniBatchesHaveOneToo) {
  const SampleSet<> data = regression_data({.features = 4, .outputs = 2, .samples = 60, .seed = 2});
  const DenseSource<double> source(data.X, Targets<double>(data.Y));
  const Mlp network({4, 8, 8, 2}, Activation::parse("leaky_relu"));
  const MlpObjective<double> objective(network, Loss(Loss::Kind::mean_squares));
  const PositiveScalingSymmetry<double> symmetry;
  Random random(1);
  const Vector start = initialize<double>(network, Initialization::fan_in, random);
  const GradientDescent<double> descent;
  MinibatchOptions<double> options{
      .epochs = 4, .batch_size = 6, .learning_rate = 0.05, .teleport_batches = 1, .seed = 1};
  options.teleport = reckless<double>(symmetry, "1");
  const RandomSearch search({.samples = 1, .spread = 5.0, .keep_the_best = false});
  options.teleport.search = &search;
  for (const Index rehearsal : {0, 1}) {
    options.teleport.rehearsal = rehearsal;
    Vector w = start;
    const RunSummary run =
        train_minibatch<double>(objective, source, split(60, 0, 1), descent, w, options);
    ASSERT_EQ(run.teleports.size(), 1u);
    EXPECT_EQ(run.teleports[0].accepted, rehearsal == 0) << run.teleports[0].reason;
    EXPECT_EQ(run.status, rehearsal == 0 ? RunStatus::diverged : RunStatus::step_limit);
    if (rehearsal > 0) {
      EXPECT_LT(run.final_loss, run.trace.rows.front().loss);
    }
  }
}

}  // namespace
}  // namespace symport
