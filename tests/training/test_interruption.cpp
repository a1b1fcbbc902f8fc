// SPDX-License-Identifier: MIT
// A run that is interrupted within a teleport goes on as if nothing had happened.
#include <gtest/gtest.h>

#include <functional>

#include "support/networks.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/search/random_search.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/training/sample_targets.hpp"
#include "symport/training/train.hpp"
#include "symport/training/train_minibatch.hpp"

namespace symport {
namespace {

/// A network, data, and how to train it with rehearsed teleports that a random search finds.
struct Fixture {
  const SampleSet<> data = classification_data({.features = 4, .classes = 3, .samples = 24});
  const Mlp network{{4, 6, 6, 3}, Activation::parse("leaky_relu:0.1")};
  const Loss loss = Loss::parse("cross_entropy");
  MlpObjective<double> whole{network, loss, data.X, targets_of(data)};
  const DenseSource<double> source{data.X, targets_of(data)};
  const Split split = symport::split(24, 0, 1);
  const PositiveScalingSymmetry<double> symmetry;
  const RandomSearch search{{.samples = 20}};
  const Adam<double> adam;
  Vector start() const {
    Random random(3);
    return initialize<double>(network, Initialization::he, random);
  }
  Teleportation<double> plan(const Schedule& schedule) const {
    return {.symmetry = &symmetry,
            .search = &search,
            .schedule = schedule,
            .state = StatePolicy::transport,
            .rehearsal = 5};
  }
};

using Training = std::function<RunSummary(Vector&, const KeepGoing&, const Checkpointing<double>&)>;

std::vector<Training> trainings_on(const Fixture& with) {
  return {
      [&](Vector& w, const KeepGoing& keep_going, const Checkpointing<double>& checkpoints) {
        TrainOptions<double> options{.max_steps = 12, .learning_rate = 0.01, .seed = 5};
        options.teleport = with.plan(Schedule::parse("3,7"));
        options.teleport.keep_going = keep_going;
        options.checkpoints = checkpoints;
        return train<double>(with.whole, with.adam, w, options);
      },
      [&](Vector& w, const KeepGoing& keep_going, const Checkpointing<double>& checkpoints) {
        MinibatchOptions<double> options{
            .epochs = 3, .batch_size = 6, .learning_rate = 0.01, .teleport_batches = 2, .seed = 5};
        options.teleport = with.plan(Schedule::parse("0,2"));
        options.teleport.keep_going = keep_going;
        options.checkpoints = checkpoints;
        const MlpObjective<double> model(with.network, with.loss);
        return train_minibatch<double>(model, with.source, with.split, with.adam, w, options);
      }};
}

TEST(Interruption, WithinATeleportChangesNothingOnceTheRunIsResumed) {
  const Fixture with;
  for (const Training& run : trainings_on(with)) {
    int asked = 0;
    Vector whole = with.start();
    const RunSummary expected = run(whole, [&] { return ++asked > 0; }, {});
    ASSERT_EQ(expected.status, RunStatus::step_limit);
    ASSERT_GT(expected.accepted_teleports(), 0);
    ASSERT_GT(asked, 40);
    for (int stop = 1; stop <= asked; stop += 7) {  // in searches and in rehearsals
      Checkpoint<double> saved;
      int times = 0;
      Vector w = with.start();
      const RunSummary first = run(w, [&] { return ++times < stop; },
                                   {.save = [&](const Checkpoint<double>& at) { saved = at; }});
      ASSERT_EQ(first.status, RunStatus::interrupted) << stop;
      EXPECT_EQ(saved.w, w) << stop;
      Vector resumed = with.start();
      const RunSummary rest = run(resumed, {}, {.resume = &saved});
      EXPECT_EQ(resumed, whole) << stop;
      EXPECT_EQ(rest.evaluations, expected.evaluations) << stop;
      EXPECT_EQ(rest.teleports.size(), expected.teleports.size()) << stop;
      EXPECT_EQ(rest.trace.rows.size(), expected.trace.rows.size()) << stop;
    }
  }
}

}  // namespace
}  // namespace symport
