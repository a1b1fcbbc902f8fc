// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/initialization.hpp"

namespace symport {
namespace {

TEST(Initialization, NamesAreReadAndWrittenAlike) {
  for (const char* name : {"fan_in", "unit", "he", "glorot"}) {
    EXPECT_EQ(to_string(parse_initialization(name)), name);
  }
  EXPECT_THROW(parse_initialization("xavier"), InvalidArgument);
}

TEST(Initialization, HasTheStatedDistribution) {
  struct Row {
    Initialization kind;
    double low, high, mean, variance;  // of W1, 50 x 400
    bool zero_biases;
  };
  const double glorot = std::sqrt(6.0 / 450.0);
  const Row rows[] = {
      {Initialization::fan_in, -0.05, 0.05, 0.0, 0.0025 / 3, false},
      {Initialization::unit, 0.0, 1.0, 0.5, 1.0 / 12, false},
      {Initialization::he, -1.0, 1.0, 0.0, 2.0 / 400, true},
      {Initialization::glorot, -glorot, glorot, 0.0, glorot * glorot / 3, true},
  };
  const Mlp network({400, 50, 10}, Activation::parse("relu"), true);
  for (const Row& row : rows) {
    Random random(1);
    Vector w = initialize<double>(network, row.kind, random);
    const auto W = network.weights(1, w.data()).reshaped();
    const double deviation = std::sqrt(row.variance), count = static_cast<double>(W.size());
    EXPECT_GE(W.minCoeff(), row.low);
    EXPECT_LE(W.maxCoeff(), row.high);
    EXPECT_NEAR(W.mean(), row.mean, 5 * deviation / std::sqrt(count)) << to_string(row.kind);
    const double variance = (W.array() - W.mean()).square().mean();
    EXPECT_NEAR(variance, row.variance, 0.05 * row.variance) << to_string(row.kind);
    EXPECT_EQ(network.augmented(1, w.data()).col(400).isZero(), row.zero_biases);
  }
}

TEST(Initialization, TheSameSeedGivesTheSameNetworkInEitherPrecision) {
  const Mlp network({4, 5, 3}, Activation::parse("relu"), true);
  Random a(11), b(11);
  const Vector exact = initialize<double>(network, Initialization::he, a);
  EXPECT_EQ(initialize<float>(network, Initialization::he, b), exact.cast<float>());
}

}  // namespace
}  // namespace symport
