// SPDX-License-Identifier: MIT
#include "symport/symmetries/permutation.hpp"

#include "support/network_laws.hpp"
#include "symport/search/random_search.hpp"
#include "symport/search/teleport.hpp"

namespace symport::testing {
namespace {

using Orders = std::vector<std::vector<Index>>;

const PermutationSymmetry<double> permutations;
const std::vector<std::string> all_activations{
    "linear",          "leaky_relu:0.1",     "relu", "tanh", "sigmoid", "asinh",
    "tanh_extended:5", "sigmoid_extended:5", "gelu"};

Vector permuted(const Mlp& network, const Orders& orders, Vector w) {
  PermutationSymmetry<double>::act(network, orders, w);
  return w;
}

TEST(Permutation, KeepsTheFunctionOnAllData) { expect_laws<double>(permutations, all_activations); }

TEST(Permutation, KeepsTheFunctionOnAllDataInFloat) {
  expect_laws<float>(PermutationSymmetry<float>(), all_activations);
}

TEST(Permutation, MovesRowsAndColumnsOfAUnitTogether) {
  const Mlp network({1, 3, 2}, Activation::parse("tanh"), true);
  //   W1       b1       W2 by columns     b2
  Vector w{{1, 2, 3, 10, 20, 30, 4, 40, 5, 50, 6, 60, 7, 8}};
  PermutationSymmetry<double>::act(network, {{2, 0, 1}}, w);
  EXPECT_EQ(w, (Vector{{3, 1, 2, 30, 10, 20, 6, 60, 4, 40, 5, 50, 7, 8}}));
}

TEST(Permutation, IsAGroupAction) {
  Random random(2);
  const auto problem =
      random_problem<double>({3, 4, 3, 2}, "gelu", "half_sum_squares", true, 4, random);
  const Mlp& network = problem.objective.network();
  const Orders identity{{0, 1, 2, 3}, {0, 1, 2}};
  const Orders a{{2, 0, 3, 1}, {1, 2, 0}}, b{{1, 0, 2, 3}, {2, 1, 0}};
  Orders product = a, inverse = a;
  for (std::size_t l = 0; l < a.size(); ++l) {
    for (std::size_t i = 0; i < a[l].size(); ++i) {
      product[l][i] = b[l][static_cast<std::size_t>(a[l][i])];
      inverse[l][static_cast<std::size_t>(a[l][i])] = static_cast<Index>(i);
    }
  }
  EXPECT_EQ(permuted(network, identity, problem.w), problem.w);
  EXPECT_EQ(permuted(network, a, permuted(network, b, problem.w)),
            permuted(network, product, problem.w));
  EXPECT_EQ(permuted(network, inverse, permuted(network, a, problem.w)), problem.w);
  EXPECT_NE(permuted(network, a, problem.w), problem.w);
}

TEST(Permutation, LeavesTheGradientNormAndTheNextStepUnchanged) {
  Random random(3);
  const auto problem =
      random_problem<double>({4, 7, 6, 3}, "tanh", "cross_entropy", true, 9, random);
  const auto orbit = permutations.orbit(problem.objective, problem.w);
  Vector gradient(problem.w.size()), there(problem.w.size()), gradient_there(problem.w.size());
  problem.objective.gradient(problem.w, gradient);
  const double next = problem.objective.value(problem.w - 0.5 * gradient);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(orbit->randomize(random, 0.0));
    orbit->commit(there);
    problem.objective.gradient(there, gradient_there);
    EXPECT_LE(relative_distance(gradient_there.squaredNorm(), gradient.squaredNorm()), 1e-13);
    EXPECT_LE(relative_distance(problem.objective.value(there - 0.5 * gradient_there), next),
              1e-13);
    EXPECT_EQ(orbit->aim({1.0, 1.0}), 0.0);
    EXPECT_EQ(orbit->condition(), 1.0);
  }
}

TEST(Permutation, RandomSearchFindsNothingBetterAndChangesNothing) {
  Random random(4);
  auto problem = random_problem<double>({4, 7, 6, 3}, "tanh", "cross_entropy", true, 9, random);
  const Vector before = problem.w;
  const auto orbit = permutations.orbit(problem.objective, problem.w);
  const Certificate certificate = teleport<double>(
      problem.objective, *orbit, RandomSearch({.samples = 20}), {}, random, problem.w);
  EXPECT_FALSE(certificate.accepted);
  EXPECT_EQ(problem.w, before);
}

TEST(Permutation, DrawsEveryOrder) {
  Random random(5);
  auto problem = random_problem<double>({2, 3, 1}, "tanh", "half_sum_squares", false, 2, random);
  const auto orbit = permutations.orbit(problem.objective, problem.w);
  std::vector<Vector> seen;
  Vector there(problem.w.size());
  for (int i = 0; i < 100; ++i) {
    orbit->randomize(random, 0.0);
    orbit->commit(there);
    if (std::find(seen.begin(), seen.end(), there) == seen.end()) seen.push_back(there);
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(Permutation, RefusesOrdersThatAreNotPermutations) {
  const Mlp network({2, 3, 1}, Activation::parse("relu"));
  Vector w = Vector::Ones(network.parameters());
  const Vector before = w;
  EXPECT_THROW(permutations.act(network, {{0, 1, 1}}, w), InvalidArgument);
  EXPECT_THROW(permutations.act(network, {{0, 1, 3}}, w), InvalidArgument);
  EXPECT_THROW(permutations.act(network, {{0, 1, -1}}, w), InvalidArgument);
  EXPECT_THROW(permutations.act(network, {{0, 1}}, w), std::logic_error);
  EXPECT_EQ(w, before);
  expect_refuses(permutations, {}, "");
}

}  // namespace
}  // namespace symport::testing
