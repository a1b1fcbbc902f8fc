// SPDX-License-Identifier: MIT
// Teleports of the paper's MNIST network on the real images.
#include <gtest/gtest.h>

#include <numeric>

#include "support/real_sets.hpp"
#include "symport/objectives/initialization.hpp"
#include "symport/objectives/mlp_objective.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/search/fixed_ascent.hpp"
#include "symport/symmetries/paper_action.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/training/image_source.hpp"
#include "symport/training/train_minibatch.hpp"

namespace symport {
namespace {

/// A network after an epoch of SGD on a part of MNIST.
struct Trained {
  ImageSource<float> source;
  Split parts = split(60000, 12000, 1);
  Mlp network{{784, 512, 512, 10}, Activation::parse("leaky_relu"), false};
  MlpObjective<float> objective{network, Loss(Loss::Kind::cross_entropy)};
  VectorOf<float> w;

  explicit Trained(const IdxFiles& files)
      : source(read_idx_images(files.training.images, files.training.classes)) {
    Random random(1, 1);
    w = initialize<float>(network, Initialization::fan_in, random);
    Split some = parts;
    some.training.resize(10000);
    train_minibatch<float>(objective, source, some, GradientDescent<float>(), w,
                           {.epochs = 1, .batch_size = 20, .learning_rate = 0.01, .seed = 1});
  }
  MlpObjective<float> batch(Index first, Index size) const {
    std::vector<Index> samples(static_cast<std::size_t>(size));
    std::iota(samples.begin(), samples.end(), first);
    MatrixOf<float> X;
    Targets<float> targets;
    source.load(samples, X, targets);
    return {network, objective.loss(), X, targets};
  }
};

TEST(Mnist, ARescalingKeepsTheLossOnTheWholeTrainingSet) {
  const auto files = testing::find_set("mnist");
  if (!files) GTEST_SKIP() << "not fetched";
  Trained trained(*files);
  const double before =
      evaluate<float>(trained.objective, trained.source, trained.parts.training, trained.w, false)
          .loss;
  const PositiveScalingSymmetry<float> symmetry;
  const ClosedFormSearch search({.kappa = 2});
  OptimizerState<float> state;
  Random random(1);
  for (Index i = 0; i < 4; ++i) {
    const Certificate certificate = teleport_in_training<float>(
        trained.batch(20 * i, 20), GradientDescent<float>(), 2e-3,
        {.symmetry = &symmetry, .search = &search, .cap = std::numeric_limits<double>::infinity()},
        random, state, trained.w);
    ASSERT_TRUE(certificate.accepted) << certificate.reason;
    const double after =
        evaluate<float>(trained.objective, trained.source, trained.parts.training, trained.w, false)
            .loss;
    EXPECT_NEAR(after, before, 1e-5 * before);
    std::cout << "whole training set: " << before << " -> " << after << ", relative "
              << std::abs(after - before) / before << ", |gradient|^2 of the batch "
              << certificate.grad_sq_before << " -> " << certificate.grad_sq_after << '\n';
  }
}

TEST(Mnist, PaperModeIsRefusedWhereItBreaksDown) {
  const auto files = testing::find_set("mnist");
  if (!files) GTEST_SKIP() << "not fetched";
  Trained trained(*files);
  const PaperAction<float> symmetry;
  OptimizerState<float> state;
  Random random(1);
  int refused = 0;
  for (const double rate : {1e-3, 1.0, 1e3, 1e6, 1e9}) {
    const FixedAscent search({.steps = 10, .rate = rate});
    for (Index i = 0; i < 4; ++i) {
      const VectorOf<float> before = trained.w;
      const Certificate certificate = teleport_in_training<float>(
          trained.batch(20 * i, 20), GradientDescent<float>(), 2e-3,
          {.symmetry = &symmetry, .search = &search, .objective = ObjectiveKind::gradient_norm},
          random, state, trained.w);
      EXPECT_TRUE(trained.w.allFinite());
      if (certificate.accepted) continue;
      ++refused;
      EXPECT_FALSE(certificate.reason.empty());
      EXPECT_TRUE((trained.w.array() == before.array()).all());
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace symport
