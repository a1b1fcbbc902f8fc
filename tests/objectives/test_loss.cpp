// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "support/networks.hpp"
#include "support/taylor.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/loss.hpp"

namespace symport {
namespace {

using testing::taylor_slope;

const char* const all_losses[] = {"half_sum_squares:sum", "half_sum_squares:mean",
                                  "mean_squares:sum",     "mean_squares:mean",
                                  "cross_entropy:sum",    "cross_entropy:mean"};

TEST(Loss, NamesAreReadAndWrittenAlike) {
  for (const char* name : all_losses) EXPECT_EQ(Loss::parse(name).name(), name);
  EXPECT_EQ(Loss::parse("half_sum_squares").name(), "half_sum_squares:sum");
  EXPECT_EQ(Loss::parse("mean_squares").name(), "mean_squares:mean");
  EXPECT_EQ(Loss::parse("cross_entropy").name(), "cross_entropy:mean");
  for (const char* text :
       {"", "hinge", "cross_entropy:", "cross_entropy:max", "mean_squares:mean "}) {
    EXPECT_THROW(Loss::parse(text), InvalidArgument) << text;
  }
}

TEST(Loss, ValuesAreThoseOfTheDefinitions) {
  const Matrix Z{{1.0, 0.0}, {2.0, -1.0}, {0.0, 3.0}};
  const Targets<double> numbers(Matrix{{0.0, 0.0}, {0.0, 1.0}, {2.0, 3.0}});  // squares 9 and 4
  EXPECT_DOUBLE_EQ(Loss::parse("half_sum_squares:sum").value<double>(Z, numbers), 6.5);
  EXPECT_DOUBLE_EQ(Loss::parse("half_sum_squares:mean").value<double>(Z, numbers), 3.25);
  EXPECT_DOUBLE_EQ(Loss::parse("mean_squares:sum").value<double>(Z, numbers), 13.0 / 3.0);
  EXPECT_DOUBLE_EQ(Loss::parse("mean_squares:mean").value<double>(Z, numbers), 13.0 / 6.0);
  const Targets<double> classes(std::vector<int>{1, 0});
  const double first = -std::log(std::exp(2.0) / (std::exp(1.0) + std::exp(2.0) + 1.0));
  const double second = -std::log(1.0 / (1.0 + std::exp(-1.0) + std::exp(3.0)));
  EXPECT_NEAR(Loss::parse("cross_entropy:sum").value<double>(Z, classes), first + second, 1e-14);
  EXPECT_NEAR(Loss::parse("cross_entropy:mean").value<double>(Z, classes), (first + second) / 2,
              1e-14);
}

TEST(Loss, CrossEntropyIsFiniteForHugeOutputs) {
  const Matrix Z{{1e300, -1e5}, {-1e300, 1e5}};
  const Targets<double> classes(std::vector<int>{0, 0});
  Matrix delta(2, 2);
  EXPECT_DOUBLE_EQ(Loss::parse("cross_entropy:sum").delta<double>(Z, classes, delta), 2e5);
  EXPECT_TRUE(delta.allFinite());
}

// log(1 + e^-40) and log(1 + e^-2) + 2, and the derivative -e^-40 / (1 + e^-40), in 20 digits.
TEST(Loss, CrossEntropyKeepsTheDigitsOfSmallLossesAndLargeOutputs) {
  const Loss loss(Loss::Kind::cross_entropy, Loss::Reduction::sum);
  const Targets<double> first(std::vector<int>{0});
  Matrix delta(2, 1);
  const Matrix sure{{40.0}, {0.0}};
  EXPECT_DOUBLE_EQ(loss.value<double>(sure, first), 4.2483542552915889863e-18);
  EXPECT_DOUBLE_EQ(loss.delta<double>(sure, first, delta), 4.2483542552915889863e-18);
  EXPECT_DOUBLE_EQ(delta(0, 0), -4.2483542552915889772e-18);
  EXPECT_DOUBLE_EQ(delta(1, 0), 4.2483542552915889772e-18);
  const Matrix wrong{{1e15 - 2.0}, {1e15}};
  EXPECT_DOUBLE_EQ(loss.value<double>(wrong, first), 2.1269280110429725);
  EXPECT_DOUBLE_EQ(loss.delta<double>(wrong, first, delta), 2.1269280110429725);
}

// Two outputs that differ by m: the second derivative along one of them is e^-m / (1 + e^-m)^2.
TEST(Loss, CrossEntropyKeepsTheDigitsOfASmallHessian) {
  const Loss loss = Loss::parse("cross_entropy:sum");
  for (const double margin : {20.0, 50.0, 300.0}) {
    const Matrix Z{{100.0 - margin}, {100.0}}, R{{0.0}, {1.0}};
    const double small = std::exp(-margin), exact = small / std::pow(1.0 + small, 2);
    Matrix product(2, 1);
    loss.hessian_product<double>(Z, R, product);
    EXPECT_DOUBLE_EQ(product(1, 0), exact) << margin;
    EXPECT_DOUBLE_EQ(product(0, 0), -exact) << margin;
  }
}

TEST(Loss, DeltaAndHessianAreTheDerivatives) {
  Random random(7);
  for (const char* name : all_losses) {
    const Loss loss = Loss::parse(name);
    const Matrix Z = random.normal_matrix(4, 3), R = random.normal_matrix(4, 3);
    const auto targets = testing::random_targets<double>(loss, 4, 3, random);
    Matrix delta(4, 3), product(4, 3), moved(4, 3);
    const double value = loss.delta<double>(Z, targets, delta);
    EXPECT_NEAR(value, loss.value<double>(Z, targets), 1e-15 * value) << name;
    loss.hessian_product<double>(Z, R, product);
    const auto of_value = [&](double e) {
      return loss.value<double>(Z + e * R, targets) - value - e * delta.cwiseProduct(R).sum();
    };
    EXPECT_GT(taylor_slope(of_value, 0.01, 1e-13), 1.9) << name;
    const auto of_delta = [&](double e) {
      loss.delta<double>(Z + e * R, targets, moved);
      return (moved - delta - e * product).norm();
    };
    EXPECT_GT(taylor_slope(of_delta, 0.01, 1e-13), 1.9) << name;
  }
}

TEST(Loss, UnsuitableTargetsAreRefused) {
  const Loss squares = Loss::parse("half_sum_squares"), entropy = Loss::parse("cross_entropy");
  const Targets<double> numbers(Matrix::Zero(3, 2)), classes(std::vector<int>{0, 2});
  squares.check(numbers, 3, 2);
  entropy.check(classes, 3, 2);
  EXPECT_THROW(squares.check(numbers, 4, 2), InvalidArgument);
  EXPECT_THROW(squares.check(numbers, 3, 5), InvalidArgument);
  EXPECT_THROW(squares.check(classes, 3, 2), InvalidArgument);
  EXPECT_THROW(entropy.check(numbers, 3, 2), InvalidArgument);
  EXPECT_THROW(entropy.check(classes, 2, 2), InvalidArgument);
  EXPECT_THROW(entropy.check(Targets<double>(std::vector<int>{0, -1}), 3, 2), InvalidArgument);
  EXPECT_THROW(squares.check(Targets<double>(Matrix::Constant(3, 2, NAN)), 3, 2), InvalidArgument);
}

}  // namespace
}  // namespace symport
