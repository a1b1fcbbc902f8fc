// SPDX-License-Identifier: MIT
#include "symport/symmetries/sign_flip.hpp"

#include "support/network_laws.hpp"
#include "symport/search/random_search.hpp"
#include "symport/search/teleport.hpp"

namespace symport::testing {
namespace {

const SignFlipSymmetry<double> sign_flips;
const std::vector<std::string> odd_activations{"linear", "tanh", "asinh", "tanh_extended:5"};

Vector flipped(const Mlp& network, const std::vector<Vector>& signs, Vector w) {
  SignFlipSymmetry<double>::act(network, signs, w);
  return w;
}

TEST(SignFlip, KeepsTheFunctionOnAllData) { expect_laws<double>(sign_flips, odd_activations); }

TEST(SignFlip, KeepsTheFunctionOnAllDataInFloat) {
  expect_laws<float>(SignFlipSymmetry<float>(), odd_activations);
}

TEST(SignFlip, IsAGroupAction) {
  Random random(2);
  const auto problem =
      random_problem<double>({3, 3, 2, 2}, "tanh", "half_sum_squares", true, 4, random);
  const Mlp& network = problem.objective.network();
  const std::vector<Vector> identity{Vector::Ones(3), Vector::Ones(2)};
  const std::vector<Vector> a{Vector{{-1, 1, -1}}, Vector{{1, -1}}},
      b{Vector{{-1, -1, 1}}, Vector{{-1, -1}}}, product{Vector{{1, -1, -1}}, Vector{{-1, 1}}};
  EXPECT_EQ(flipped(network, identity, problem.w), problem.w);
  EXPECT_EQ(flipped(network, a, flipped(network, b, problem.w)),
            flipped(network, product, problem.w));
  EXPECT_EQ(flipped(network, a, flipped(network, a, problem.w)), problem.w);
  EXPECT_NE(flipped(network, a, problem.w), problem.w);
}

TEST(SignFlip, FlipsRowBiasAndColumnOfAUnit) {
  const Mlp network({1, 2, 1}, Activation::parse("tanh"), true);
  //                                         W1    b1    W2    b2
  EXPECT_EQ(flipped(network, {Vector{{1, -1}}}, Vector{{1, 2, 3, 4, 5, 6, 7}}),
            (Vector{{1, -2, 3, -4, 5, -6, 7}}));
}

TEST(SignFlip, LeavesTheGradientNormUnchanged) {
  Random random(3);
  auto problem = random_problem<double>({4, 7, 6, 3}, "tanh", "cross_entropy", true, 9, random);
  const auto orbit = sign_flips.orbit(problem.objective, problem.w);
  Vector gradient(problem.w.size()), there(problem.w.size()), gradient_there(problem.w.size());
  problem.objective.gradient(problem.w, gradient);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(orbit->randomize(random, 0.0));
    orbit->commit(there);
    EXPECT_NE(there, problem.w);
    problem.objective.gradient(there, gradient_there);
    EXPECT_LE(relative_distance(gradient_there.squaredNorm(), gradient.squaredNorm()), 1e-14);
  }
  const Certificate certificate =
      teleport<double>(problem.objective, *orbit, RandomSearch(), {}, random, problem.w);
  EXPECT_FALSE(certificate.accepted) << certificate.reason;
}

TEST(SignFlip, RefusesOtherActivationsByName) {
  expect_refuses(sign_flips, {"leaky_relu", "relu", "sigmoid", "sigmoid_extended", "gelu"},
                 "sigma(-x) = -sigma(x)");
}

TEST(SignFlip, RefusesOtherFactors) {
  const Mlp network({2, 2, 1}, Activation::parse("tanh"));
  Vector w = Vector::Ones(network.parameters());
  EXPECT_THROW(sign_flips.act(network, {Vector{{1, 2}}}, w), InvalidArgument);
  EXPECT_THROW(sign_flips.act(network, {Vector{{1, 0}}}, w), InvalidArgument);
  EXPECT_THROW(sign_flips.act(network, {Vector{{1, 1, 1}}}, w), std::logic_error);
}

}  // namespace
}  // namespace symport::testing
