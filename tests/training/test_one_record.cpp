// SPDX-License-Identifier: MIT
// What Algorithms 1, 2 and 3 have in common: rows, teleports in the trace, the clock, a watcher's
// stop, and how a run ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "support/networks.hpp"
#include "support/numbers.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/search/random_search.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/training/train.hpp"
#include "symport/training/train_minibatch.hpp"
#include "symport/training/train_with_data.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using ::testing::HasSubstr;

const GradientDescent<double> plain_descent;

/// Few enough parameters that the trace has points.
struct Classification {
  SampleSet<> data =
      classification_data({.features = 2, .classes = 2, .samples = 30, .spread = 0.8, .seed = 5});
  Targets<double> targets{std::vector<int>(data.classes.begin(), data.classes.end())};
  DenseSource<double> source{data.X, targets};
  Split parts = split(30, 6, 1);  // 24 samples in 6 batches of 4
  Mlp network{{2, 3, 2}, Activation::parse("leaky_relu")};
  MlpObjective<double> objective{network, Loss(Loss::Kind::cross_entropy)};
  PositiveScalingSymmetry<double> symmetry;
  Vector start;

  Classification() {
    Random random(3);
    start = initialize<double>(network, Initialization::fan_in, random);
  }
  MlpObjective<double> on(std::span<const Index> samples) const {
    Matrix X;
    Targets<double> some;
    source.load(samples, X, some);
    return {network, objective.loss(), X, some};
  }
  MinibatchOptions<double> options() const {
    MinibatchOptions<double> options{
        .epochs = 4, .batch_size = 4, .learning_rate = 0.05, .teleport_batches = 2, .seed = 11};
    options.teleport.symmetry = &symmetry;
    options.teleport.schedule = never();
    options.teleport.rehearsal = 0;
    return options;
  }
  RunSummary train(const MinibatchOptions<double>& options, Vector& w) const {
    return train_minibatch<double>(objective, source, parts, plain_descent, w, options);
  }
};

struct Regression {
  Random random{161};
  Matrix X = random.normal_matrix(4, 20);
  LinearModel model{X, random.normal_matrix(2, 4) * X};
};

/// A run of each algorithm with this learning rate and watcher.
std::vector<RunSummary> runs_of_each(double rate, const StepWatcher& watcher) {
  std::vector<RunSummary> runs;
  Regression full, moved;
  Vector w = Vector::Zero(8), v = Vector::Zero(8);
  runs.push_back(train(full.model, plain_descent, w,
                       {.max_steps = 400, .learning_rate = rate, .watcher = watcher}));
  runs.push_back(train_with_data(moved.model, plain_descent, v,
                                 {.max_steps = 400, .learning_rate = rate, .watcher = watcher})
                     .run);
  const Classification problem;
  Vector u = problem.start;
  MinibatchOptions<double> options = problem.options();
  options.epochs = 400;
  options.learning_rate = rate;
  options.watcher = watcher;
  runs.push_back(problem.train(options, u));
  return runs;
}

TEST(EveryAlgorithm, FinishesTheUpdateBeforeWhichItsWatcherSaysStop) {
  std::vector<Index> seen;
  const auto runs = runs_of_each(1e-3, [&](const TraceRow& row) {
    seen.push_back(row.step);
    return row.step < 8;
  });
  EXPECT_EQ(seen, (std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4,
                                      5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
  for (const RunSummary& run : runs) {
    EXPECT_EQ(run.status, RunStatus::interrupted);
    EXPECT_EQ(run.steps, 9);
  }
  EXPECT_EQ(runs[2].epochs, 1);
  EXPECT_EQ(runs[2].trace.rows.back().step, 6);
}

TEST(EveryAlgorithm, FinishesTheEpochWhenItsWatcherSaysStopBeforeTheLastUpdate) {
  const Classification problem;
  for (const Index epochs : {4, 1}) {
    MinibatchOptions<double> options = problem.options();
    options.epochs = epochs;
    options.watcher = [](const TraceRow& row) { return row.step < 5; };
    std::vector<Checkpoint<double>> saved;
    options.checkpoints.save = [&](const Checkpoint<double>& c) { saved.push_back(c); };
    Vector w = problem.start;
    const RunSummary run = problem.train(options, w);
    EXPECT_EQ(run.status, epochs == 1 ? RunStatus::step_limit : RunStatus::interrupted);
    EXPECT_EQ(run.steps, 6);
    EXPECT_EQ(run.epochs, 1);
    EXPECT_EQ(run.trace.rows.size(), 2u);
    ASSERT_EQ(saved.size(), 1u);
    EXPECT_EQ(saved[0].epoch, 1);
    EXPECT_EQ(saved[0].batch, 0);
  }
}

// A finite loss far above the first one is no result either.
TEST(EveryAlgorithm, HasDivergedWhereMinibatchesEndAThousandTimesAboveTheStart) {
  const Classification problem;
  for (const double rate : {1.0, 1e3}) {
    MinibatchOptions<double> options = problem.options();
    options.epochs = 1;
    options.learning_rate = rate;
    Vector w = problem.start;
    const RunSummary run = problem.train(options, w);
    ASSERT_TRUE(std::isfinite(run.final_loss));
    const bool far_above = run.final_loss > 1000.0 * run.trace.rows.front().loss;
    EXPECT_EQ(far_above, rate > 1.0) << run.final_loss;
    EXPECT_EQ(run.status, far_above ? RunStatus::diverged : RunStatus::step_limit);
  }
}

TEST(EveryAlgorithm, EndsWithTheLossAtWhichItDiverged) {
  for (const RunSummary& run : runs_of_each(1e6, {})) {
    EXPECT_EQ(run.status, RunStatus::diverged);
    EXPECT_FALSE(std::isfinite(run.final_loss) && std::isfinite(run.final_grad_sq));
    const TraceRow& last = run.trace.rows.back();
    EXPECT_EQ(last.step, run.steps);
    EXPECT_EQ(std::isnan(last.loss), std::isnan(run.final_loss));
    EXPECT_TRUE(std::isnan(last.loss) || last.loss == run.final_loss);
    for (std::size_t i = 0; i + 1 < run.trace.rows.size(); ++i) {
      EXPECT_TRUE(std::isfinite(run.trace.rows[i].loss));
    }
    EXPECT_THAT(run.brief_report(), HasSubstr("diverged at step"));
  }
}

TEST(MinibatchTrace, BeginsWithTheStateBeforeTraining) {
  const Classification problem;
  for (const bool exact : {true, false}) {
    MinibatchOptions<double> options = problem.options();
    options.exact_training_loss = exact;
    std::vector<TraceRow> told;
    options.on_row = [&](const TraceRow& row) { told.push_back(row); };
    Vector w = problem.start;
    const RunSummary run = problem.train(options, w);
    ASSERT_EQ(run.trace.unit, RowUnit::epoch);
    ASSERT_EQ(run.trace.rows.size(), 5u);
    const TraceRow& first = run.trace.rows[0];
    EXPECT_EQ(first.step, 0);
    EXPECT_EQ(first.epoch, 0);
    EXPECT_EQ(first.evaluations, 0.0);
    const MlpObjective<double> training = problem.on(problem.parts.training);
    if (exact) {
      Vector gradient(problem.start.size());
      EXPECT_NEAR(first.loss, training.gradient(problem.start, gradient), tolerance::rounding);
      EXPECT_NEAR(first.grad_sq, gradient.squaredNorm(), tolerance::rounding);
      EXPECT_NEAR(run.final_loss, training.value(w), tolerance::rounding);
      EXPECT_EQ(run.final_loss, run.trace.rows[4].loss);
    } else {
      EXPECT_TRUE(std::isnan(first.loss));
      EXPECT_TRUE(std::isnan(first.grad_sq));
    }
    EXPECT_NEAR(first.valid_loss, problem.on(problem.parts.validation).value(problem.start),
                tolerance::rounding);
    EXPECT_GE(first.valid_accuracy, 0.0);
    EXPECT_EQ(run.trace.points.front(), problem.start);
    EXPECT_EQ(run.trace.points.back(), w);
    ASSERT_EQ(told.size(), 5u);
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_EQ(run.trace.rows[k].epoch, static_cast<Index>(k));
      EXPECT_EQ(run.trace.rows[k].step, static_cast<Index>(6 * k));
      EXPECT_EQ(told[k].step, run.trace.rows[k].step);
      EXPECT_EQ(told[k].valid_loss, run.trace.rows[k].valid_loss);
    }
  }
}

// Algorithm 2 around a teleport, step by step: the trace has every point on the way.
TEST(MinibatchTrace, HasThePointsBeforeAndAfterEveryTeleport) {
  const Classification problem;
  MinibatchOptions<double> options = problem.options();
  options.teleport.schedule = at({2});
  const RandomSearch anywhere({.spread = 0.1, .keep_the_best = false});
  options.teleport.search = &anywhere;
  Vector w = problem.start;
  const RunSummary run = problem.train(options, w);
  ASSERT_EQ(run.teleports.size(), 2u);
  ASSERT_EQ(run.trace.teleports.size(), 2u);
  const Batches batches(problem.parts.training, 4, 11);
  const std::vector<Index> order = batches.order(2);
  Vector here = run.trace.points[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const TraceTeleport& jump = run.trace.teleports[i];
    EXPECT_EQ(jump.step, 12 + static_cast<Index>(i));
    EXPECT_EQ(jump.epoch, 2);
    EXPECT_EQ(jump.batch, static_cast<Index>(i));
    EXPECT_EQ(run.teleports[i].step, jump.step);
    EXPECT_EQ(jump.accepted, run.teleports[i].accepted);
    ASSERT_TRUE(jump.accepted) << run.teleports[i].reason;
    EXPECT_EQ(jump.before, here);
    const MlpObjective<double> on_batch = problem.on(batches.batch(order, static_cast<Index>(i)));
    EXPECT_NEAR(jump.loss_before, on_batch.value(jump.before), tolerance::rounding);
    EXPECT_NEAR(jump.loss_after, on_batch.value(jump.after), tolerance::rounding);
    EXPECT_GT((jump.after - jump.before).norm(), 1e-3);
    here = jump.after;
    on_batch.gradient_step(here, 0.05);
  }
  for (std::size_t k = 0; k < 5; ++k) {  // in the epoch from row 2 to row 3
    EXPECT_EQ(run.trace.rows[k].teleported, k == 3) << k;
  }
}

TEST(MinibatchTrace, TellsTheSameOfATeleportAfterACheckpointInItsEpoch) {
  const Classification problem;
  MinibatchOptions<double> options = problem.options();
  options.teleport.schedule = at({2});
  options.checkpoints.every = 4;
  std::vector<Checkpoint<double>> saved;
  options.checkpoints.save = [&](const Checkpoint<double>& c) { saved.push_back(c); };
  Vector w = problem.start;
  problem.train(options, w);
  const auto inside = std::find_if(saved.begin(), saved.end(), [](const Checkpoint<double>& c) {
    return c.epoch == 2 && c.batch == 4;
  });
  ASSERT_NE(inside, saved.end());
  const auto read =
      checkpoint_from_arrays<double>(checkpoint_arrays(*inside), "between teleport and row");
  options.checkpoints = {.resume = &read};
  Vector v = problem.start;
  const RunSummary run = problem.train(options, v);
  EXPECT_TRUE(run.trace.rows[3].teleported);
  EXPECT_FALSE(run.trace.rows[4].teleported);
  EXPECT_EQ(v, w);
}

TEST(Trace, HasThePointsBeforeAndAfterATeleportOfDataToo) {
  Regression problem;
  const LinearDataSymmetry symmetry;
  Vector w = Vector::Zero(8);
  const Matrix X = problem.model.X();
  const auto [run, f] = train_with_data(
      problem.model, plain_descent, w,
      {.max_steps = 12, .learning_rate = 1e-3, .symmetry = &symmetry, .schedule = at({7})});
  ASSERT_EQ(run.trace.teleports.size(), 1u);
  const TraceTeleport& jump = run.trace.teleports[0];
  ASSERT_TRUE(jump.accepted) << run.teleports[0].reason;
  EXPECT_EQ(jump.step, 7);
  Vector expected = run.trace.points[6], gradient(8);
  const LinearModel before(X, problem.model.Y());
  before.gradient(expected, gradient);
  expected -= 1e-3 * gradient;
  EXPECT_LE(testing::distance(jump.before, expected), tolerance::rounding);
  EXPECT_NEAR(jump.loss_before, before.value(jump.before), tolerance::rounding * jump.loss_before);
  EXPECT_EQ(jump.after, run.trace.points[7]);
  EXPECT_NEAR(jump.loss_after, problem.model.value(jump.after),
              tolerance::rounding * jump.loss_before);
  EXPECT_LE(testing::distance(f(X), problem.model.X()), tolerance::rounding);
}

TEST(Trace, OfARefusedTeleportStaysWhereItWas) {
  Regression problem;
  const LinearDataSymmetry symmetry;
  Vector w = Vector::Zero(8);
  const auto result = train_with_data(problem.model, plain_descent, w,
                                      {.max_steps = 20,
                                       .learning_rate = LearningRate::cosine(1e-3, 10),
                                       .symmetry = &symmetry,
                                       .schedule = at({15})});  // where the rate is 0
  ASSERT_EQ(result.run.trace.teleports.size(), 1u);
  const TraceTeleport& jump = result.run.trace.teleports[0];
  EXPECT_FALSE(jump.accepted);
  EXPECT_EQ(jump.before, jump.after);
  EXPECT_EQ(jump.loss_before, jump.loss_after);
  for (const TraceRow& row : result.run.trace.rows) EXPECT_FALSE(row.teleported);
}

void slowly() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

TEST(TrainingClock, StandsStillDuringValidationAndCheckpoints) {
  Regression problem;
  Vector w = Vector::Zero(8);
  TrainOptions<double> options{.max_steps = 10, .learning_rate = 1e-3};
  options.validate = [](In<double>) {
    slowly();
    return Validation{};
  };
  options.checkpoints = {.save = [](const Checkpoint<double>&) { slowly(); }, .every = 1};
  const RunSummary run = train<double>(problem.model, plain_descent, w, options);
  EXPECT_GT(run.seconds, 0.0);
  EXPECT_LT(run.seconds, 0.1);  // 21 times 10 ms were spent on other things
  EXPECT_LE(run.trace.rows.back().seconds, run.seconds);
}

/// Takes its time over everything that is larger than a mini-batch.
class SlowSource final : public BatchSource<double> {
 public:
  explicit SlowSource(const BatchSource<double>& inner) : inner_(inner) {}
  Index samples() const override { return inner_.samples(); }
  Index features() const override { return inner_.features(); }
  bool categorical() const override { return inner_.categorical(); }
  void load(std::span<const Index> samples, Matrix& X, Targets<double>& targets) const override {
    if (samples.size() > 4) slowly();
    inner_.load(samples, X, targets);
  }

 private:
  const BatchSource<double>& inner_;
};

TEST(TrainingClock, StandsStillDuringTheEvaluationOfEpochs) {
  const Classification problem;
  const SlowSource source(problem.source);
  MinibatchOptions<double> options = problem.options();
  options.epochs = 8;
  options.on_row = [](const TraceRow&) { slowly(); };
  options.checkpoints.save = [](const Checkpoint<double>&) { slowly(); };
  Vector w = problem.start;
  const RunSummary run =
      train_minibatch<double>(problem.objective, source, problem.parts, plain_descent, w, options);
  EXPECT_GT(run.seconds, 0.0);
  EXPECT_LT(run.seconds, 0.15);  // 35 times 10 ms were spent on other things
  EXPECT_LT(run.trace.rows[0].seconds, 0.05);
}

/// While it sleeps, or another program has the processor, the run is charged nothing.
TEST(TrainingClock, OfTheProcessorDoesNotCountWaiting) {
  Regression problem;
  for (const RunClock clock : {RunClock::wall, RunClock::processor}) {
    Vector w = Vector::Zero(8);
    TrainOptions<double> options{.max_steps = 10, .learning_rate = 1e-3, .clock = clock};
    options.watcher = [](const TraceRow&) {
      slowly();
      return true;
    };
    const RunSummary run = train<double>(problem.model, plain_descent, w, options);
    EXPECT_GT(run.seconds, 0.0);
    if (clock == RunClock::wall) {
      EXPECT_GE(run.seconds, 0.1);
    } else {
      EXPECT_LT(run.seconds, 0.1);
    }
    EXPECT_LE(run.trace.rows.back().seconds, run.seconds);
  }
}

TEST(RunSummary, OfMiniBatchesReportsEpochsAndValidation) {
  const Classification problem;
  MinibatchOptions<double> options = problem.options();
  options.teleport.schedule = at({1});
  Vector w = problem.start;
  RunSummary run = problem.train(options, w);
  run.seconds = 2e-3;
  run.final_loss = 0.125;
  run.final_grad_sq = std::nan("");
  run.trace.rows.back().valid_loss = 0.25;
  run.trace.rows.back().valid_accuracy = 0.5;
  EXPECT_EQ(run.brief_report(),
            "4 epochs (24 steps), loss 0.125, validation loss 0.25 (50 % correct), 2 teleports (2 "
            "accepted), 2 ms");
}

TEST(RunSummary, HasAFullReport) {
  RunSummary run;
  run.steps = 1000;
  run.final_loss = 1.2e-29;
  run.final_grad_sq = 3.4e-27;
  run.evaluations = 1234.5;
  run.seconds = 2.5;
  run.trace.rows = {{.step = 0, .loss = 104.0}, {.step = 1000, .loss = 1.2e-29}};
  run.teleports.resize(3);
  run.teleports[0].accepted = true;
  run.teleports[0].drift = 2e-16;
  run.teleports[1].step = 400;
  run.teleports[1].reason = "no better point found";
  EXPECT_EQ(run.full_report(),
            "status          step_limit\n"
            "length          1000 steps\n"
            "first loss      104\n"
            "final loss      1.2e-29\n"
            "|gradient|^2    3.4e-27\n"
            "evaluations     1234.5 gradients\n"
            "time            2.5 s\n"
            "teleports       3, 1 accepted\n"
            "largest drift   2e-16\n"
            "first refusal   at step 400: no better point found\n");
}

}  // namespace
}  // namespace symport
