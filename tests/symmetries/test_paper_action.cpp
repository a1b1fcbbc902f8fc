// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "support/network_golden.hpp"
#include "support/networks.hpp"
#include "support/refusal.hpp"
#include "support/taylor.hpp"
#include "symmetries/paper_orbit.hpp"
#include "symport/objectives/booth.hpp"
#include "symport/symmetries/paper_action.hpp"

namespace symport {
namespace {

using testing::random_problem;
using testing::taylor_slope;

PaperOrbit<double>& paper(Orbit& orbit) { return dynamic_cast<PaperOrbit<double>&>(orbit); }

TEST(Golden, PaperActionObjectiveAndItsGradient) {
  for (const auto& [json, objective, w] : testing::gl_cases()) {
    const auto orbit = PaperAction<double>().orbit(objective, w);
    const double at_start = json.at("grad_sq"), at_zero = json.at("grad_sq_paper");
    EXPECT_NEAR(orbit->grad_sq(), at_start, 1e-10 * at_start);
    orbit->aim({1.0, 0.0});
    const auto expected = testing::golden_matrices(json.at("d_grad_sq_dT_paper"));
    for (std::size_t q = 0; q < expected.size(); ++q) {
      EXPECT_LT((paper(*orbit).direction(static_cast<Index>(q) + 1) - expected[q]).norm(),
                1e-8 * expected[q].norm());
    }
    ASSERT_TRUE(orbit->move(1e-200));  // T = 0 to rounding
    EXPECT_NEAR(orbit->grad_sq(), at_zero, 1e-10 * at_zero);
    orbit->back();
    EXPECT_NEAR(orbit->grad_sq(), at_start, 1e-10 * at_start);
  }
}

TEST(PaperAction, DirectionsAreTheDerivativesInTForSmallAndForTooLargeBatches) {
  std::uint64_t seed = 40;
  for (const char* activation : {"linear", "leaky_relu:0.1", "asinh", "tanh_extended:6"}) {
    for (const bool biases : {false, true}) {
      for (const Index n : {4, 12}) {
        Random random(++seed);
        auto [objective, w] =
            random_problem<double>({6, 7, 8, 3}, activation, "cross_entropy", biases, n, random);
        const auto orbit = PaperAction<double>().orbit(objective, w);
        orbit->aim({1.0, 0.0});
        ASSERT_TRUE(orbit->move(0.1));
        for (const bool of_curvature : {false, true}) {
          const double norm = orbit->aim({of_curvature ? 0.0 : 1.0, of_curvature ? 1.0 : 0.0});
          const auto value = [&] { return of_curvature ? orbit->curvature() : orbit->grad_sq(); };
          // Differentiated at T = 0, which with few samples is not the base.
          ASSERT_TRUE(orbit->move(1e-200));
          const double start = value();
          const auto remainder = [&](double length) {
            EXPECT_TRUE(orbit->move(length));
            return value() - start - length * norm;
          };
          // The third derivative is a central difference, good to about 1e-10.
          EXPECT_GT(taylor_slope(remainder, 5e-4, 1e-10 * std::abs(start)), 1.8)
              << activation << biases << n << of_curvature;
          orbit->back();
        }
      }
    }
  }
}

TEST(PaperAction, SaysThatItIsNotLossInvariantAndIsNot) {
  Random random(50);
  auto [objective, w] =
      random_problem<double>({6, 7, 8, 3}, "leaky_relu", "half_sum_squares", false, 4, random);
  const PaperAction<double> action;
  EXPECT_FALSE(action.loss_invariant());
  const auto orbit = action.orbit(objective, w);
  EXPECT_NE(orbit->note().find("not loss-invariant"), std::string::npos);
  Vector moved(w.size());
  orbit->commit(moved);
  EXPECT_EQ(moved, w);
  orbit->aim({1.0, 0.0});
  ASSERT_TRUE(orbit->move(0.3));
  orbit->commit(moved);
  EXPECT_GT(std::abs(objective.value(moved) - objective.value(w)), 1e-4 * objective.value(w));
}

TEST(PaperAction, ActivationsThatAreNoBijectionsAreRefusedByName) {
  Random random(51);
  auto [objective, w] =
      random_problem<double>({5, 6, 3}, "tanh", "cross_entropy", false, 3, random);
  EXPECT_THAT(
      test::refusal([&] { PaperAction<double>().orbit(objective, w); }),
      ::testing::HasSubstr(
          "activation: the symmetry paper needs an activation with an inverse, and tanh has"));
}

TEST(PaperAction, OtherObjectivesAndNetworksWithoutHiddenLayersAreRefused) {
  const Booth booth;
  EXPECT_EQ(test::refusal([&] { PaperAction<double>().orbit(booth, booth.start()); }),
            "symmetry: found paper on this objective, allowed is paper only on a multi-layer "
            "perceptron");
  Random random(52);
  auto [shallow, w] = random_problem<double>({5, 3}, "linear", "cross_entropy", false, 3, random);
  EXPECT_EQ(test::refusal([&] { PaperAction<double>().orbit(shallow, w); }),
            "layers: found a network without hidden layers, allowed is one or more");
}

}  // namespace
}  // namespace symport
