// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "core/dense.hpp"
#include "support/networks.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/linear_network.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/training/teleportation.hpp"

namespace symport {
namespace {

template <Real Scalar>
std::vector<std::unique_ptr<BasicSymmetry<Scalar>>> symmetries() {
  std::vector<std::unique_ptr<BasicSymmetry<Scalar>>> all;
  all.push_back(std::make_unique<GeneralLinear<Scalar>>());
  all.push_back(std::make_unique<LinearNetworkSymmetry<Scalar>>());
  all.push_back(std::make_unique<PositiveScalingSymmetry<Scalar>>());
  return all;
}

/// A linear network with as many samples as units, teleported by a few steps of ascent.
template <Real Scalar>
struct Teleported {
  testing::Problem<Scalar> problem;
  VectorOf<Scalar> start;
  Certificate certificate;

  Teleported(const BasicSymmetry<Scalar>& symmetry, std::uint64_t seed)
      : problem(make(seed)), start(problem.w) {
    const GradientDescent<Scalar> optimizer;
    const OrbitAscent search({.max_steps = 5});
    Random random(seed);
    auto state = optimizer.init(start.size());
    certificate = teleport_in_training<Scalar>(
        problem.objective, optimizer, 1e-3,
        {.symmetry = &symmetry, .search = &search, .cap = std::numeric_limits<double>::infinity()},
        random, state, problem.w);
  }

  static testing::Problem<Scalar> make(std::uint64_t seed) {
    Random random(seed);
    return testing::random_problem<Scalar>({6, 6, 6, 3}, "linear", "half_sum_squares", false, 6,
                                           random);
  }

  /// h_m at w, in double.
  Matrix states(const VectorOf<Scalar>& w, Index m) const {
    MlpStates<Scalar> at_w;
    problem.objective.forward(w, at_w);
    return problem.objective.h(m, at_w).template cast<double>();
  }
};

// The element's condition is that of the map h'_m h_m^-1 between the hidden states before and
// after, which the parameters alone define.
template <Real Scalar>
void expect_condition_of_the_states(double tolerance) {
  for (const auto& symmetry : symmetries<Scalar>()) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Teleported<Scalar> t(*symmetry, seed);
      ASSERT_TRUE(t.certificate.accepted) << symmetry->name() << ": " << t.certificate.reason;
      double worst = 1.0, largest = 0.0, smallest = std::numeric_limits<double>::infinity();
      for (Index m = 1; m <= 2; ++m) {
        const Matrix g = t.states(t.problem.w, m) * inverse(t.states(t.start, m));
        const Vector stretch = singular_values(g).values;
        worst = std::max(worst, stretch.maxCoeff() / stretch.minCoeff());
        largest = std::max(largest, stretch.maxCoeff());
        smallest = std::min(smallest, stretch.minCoeff());
      }
      const double measured = symmetry->name() == "gl" ? worst : largest / smallest;
      EXPECT_GT(measured, 1.01);
      EXPECT_NEAR(t.certificate.condition, measured, tolerance * measured) << symmetry->name();
    }
  }
}

TEST(NetworkCertificate, ConditionIsThatOfTheMapBetweenTheStatesBeforeAndAfter) {
  // The condition of gl is estimated to a few per mille.
  expect_condition_of_the_states<double>(0.01);
  expect_condition_of_the_states<float>(0.01);
}

}  // namespace
}  // namespace symport
