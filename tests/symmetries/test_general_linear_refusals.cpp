// SPDX-License-Identifier: MIT
// Where GL does not apply, or applies to a part of the batch only.
#include <gtest/gtest.h>

#include "support/networks.hpp"
#include "support/refusal.hpp"
#include "support/wander.hpp"
#include "symport/objectives/booth.hpp"
#include "symport/symmetries/general_linear.hpp"

namespace symport {
namespace {

using testing::random_problem;
using testing::wander;

TEST(GeneralLinear, ActivationsThatAreNoBijectionsAreRefusedByName) {
  Random random(27);
  for (const char* activation : {"relu", "tanh", "sigmoid", "gelu"}) {
    auto [objective, w] =
        random_problem<double>({5, 6, 3}, activation, "cross_entropy", false, 3, random);
    try {
      GeneralLinear<double>().orbit(objective, w);
      ADD_FAILURE() << activation;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.field(), "activation");
      EXPECT_NE(std::string(error.what()).find(activation), std::string::npos);
      const char* advice = std::string(activation) == "relu" ? "take the symmetry rescale"
                                                             : "has no symmetry that helps";
      EXPECT_NE(std::string(error.what()).find(advice), std::string::npos);
    }
  }
  auto [shallow, w] = random_problem<double>({5, 3}, "linear", "cross_entropy", false, 3, random);
  EXPECT_THROW(GeneralLinear<double>().orbit(shallow, w), InvalidArgument);
}

TEST(GeneralLinear, OtherObjectivesAreRefused) {
  const Booth booth;
  EXPECT_EQ(test::refusal([&] { GeneralLinear<double>().orbit(booth, booth.start()); }),
            "symmetry: found gl on this objective, allowed is gl only on a multi-layer perceptron");
}

TEST(GeneralLinear, ABatchOfExactlyTheWidthWorksAndOneMoreIsRefused) {
  Random random(28);
  for (const bool biases : {false, true}) {
    const Index most = biases ? 7 : 6;
    auto [fits, w] =
        random_problem<double>({6, 9, 9, 3}, "leaky_relu", "cross_entropy", biases, most, random);
    const auto orbit = GeneralLinear<double>().orbit(fits, w);
    wander(*orbit, 1, 0.02);
    Vector moved(w.size());
    orbit->commit(moved);
    EXPECT_NEAR(fits.value(moved), fits.value(w), 1e-9);
    auto [large, v] = random_problem<double>({6, 9, 9, 3}, "leaky_relu", "cross_entropy", biases,
                                             most + 1, random);
    EXPECT_FALSE(GeneralLinear<double>().orbit(large, v));
  }
}

TEST(GeneralLinear, ADependentBatchIsRefusedWithItsNumbersOrUsedInPart) {
  Random random(29);
  auto [objective, w] =
      random_problem<double>({10, 8, 9, 3}, "leaky_relu", "half_sum_squares", false, 5, random);
  Matrix X = random.normal_matrix(10, 5);
  X.col(3) = X.col(0) + X.col(1);
  X.col(4).setZero();
  objective.bind(X, objective.targets());
  const auto none = GeneralLinear<double>().orbit(objective, w);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.reason(),
            "gl can keep the loss of at most 3 samples here, and the batch has 5: 5 samples have "
            "rank 3 in the 10 input features; teleport on fewer samples, or take a symmetry that "
            "keeps the loss on all data, such as rescale");
  EXPECT_THROW(none->grad_sq(), std::logic_error);
  const auto orbit = GeneralLinear<double>({.allow_partial_batch = true}).orbit(objective, w);
  wander(*orbit, 2, 0.1);
  Vector moved(w.size());
  orbit->commit(moved);
  int kept = 0;
  for (const auto& part : {std::vector<Index>{0, 1, 2}, {0, 2, 3}, {1, 2, 3}}) {
    const MlpObjective<double> loss = objective.subset(part);
    if (std::abs(loss.value(moved) - loss.value(w)) < 1e-10) ++kept;
  }
  EXPECT_EQ(kept, 1);
  EXPECT_GT(std::abs(objective.value(moved) - objective.value(w)), 1e-6);
}

}  // namespace
}  // namespace symport
