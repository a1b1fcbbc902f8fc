// SPDX-License-Identifier: MIT
// Every orbit can follow a functional of the parameters: what a teleport objective that is neither
// J nor Phi needs.
#include <gtest/gtest.h>

#include "support/orbit_rows.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/linear_data.hpp"
#include "symport/symmetries/linear_network.hpp"
#include "symport/symmetries/paper_action.hpp"
#include "symport/symmetries/permutation.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::OrbitRow;
using testing::point_of;

constexpr double e = 1e-4;

/// Orbits at a general point of themselves.
std::vector<OrbitRow> covector_rows() {
  Random random(71);
  std::vector<OrbitRow> rows = testing::matrix_orbits(random, true);
  const auto network = [&](const BasicSymmetry<double>& symmetry, const char* activation,
                           bool biases, const std::vector<Index>& widths) {
    rows.push_back(testing::network_orbit(
        symmetry, widths, activation, biases, 4,
        std::string(" ") + activation + (biases ? " with biases" : ""), random));
  };
  for (const bool biases : {false, true}) {
    // Layers above that are narrower and wider than the moved one.
    for (const std::vector<Index>& widths :
         {std::vector<Index>{6, 9, 24, 8, 3}, std::vector<Index>{5, 30, 12, 30, 3}}) {
      for (const char* activation : {"leaky_relu:0.1", "asinh", "tanh_extended:6"}) {
        network(GeneralLinear<double>({.max_rank = 0}), activation, biases, widths);
      }
      network(GeneralLinear<double>({.layers = {2}, .max_rank = 0}), "asinh", biases, widths);
    }
    network(PositiveScalingSymmetry<double>(), "leaky_relu", biases, {4, 6, 5, 3});
    network(LinearNetworkSymmetry<double>(), "linear", biases, {4, 6, 5, 3});
  }
  for (OrbitRow& row : rows) {
    row.orbit->aim({1.0, 0.1});
    EXPECT_TRUE(row.orbit->move(0.2));
    row.orbit->aim({-0.3, 1.0});
    EXPECT_TRUE(row.orbit->move(0.1));
  }
  return rows;
}

// Along the direction that `aim` chose, a J + b Phi + <c, w> grows at the rate that it returned.
TEST(Covector, OrbitsFollowAFunctionalOfTheParameters) {
  Random random(72);
  for (OrbitRow& row : covector_rows()) {
    const Vector here = point_of(*row.orbit);
    const double J = row.orbit->grad_sq(), Phi = row.orbit->curvature();
    const Vector c = testing::random_vector(here.size(), random);
    const double scale = c.norm() * here.norm();
    for (const auto& [a, b] :
         {std::pair{0.0, 0.0}, {scale / J, 0.0}, {0.0, scale / Phi}, {scale / J, -scale / Phi}}) {
      SCOPED_TRACE(row.name + ", J and Phi " + std::to_string(a) + " " + std::to_string(b));
      row.orbit->back();
      const double norm = row.orbit->aim({a, b, c});
      EXPECT_GT(norm, 0.0);
      const double slope = testing::central_difference(
          [&](double length) {
            EXPECT_TRUE(row.orbit->move(length));
            return a * row.orbit->grad_sq() + b * row.orbit->curvature() +
                   c.dot(point_of(*row.orbit) - here);
          },
          e);
      EXPECT_NEAR(slope, norm, 10 * tolerance::difference * (norm + scale));
      row.orbit->back();
    }
  }
}

// A direction with the right slope along itself need not be the gradient; measured along another
// one, from both sides, it must be.
TEST(Covector, DirectionsAreGradientsInTheInnerProductOfTheOthers) {
  Random random(73);
  for (OrbitRow& row : covector_rows()) {
    SCOPED_TRACE(row.name);
    const Vector here = point_of(*row.orbit);
    const Vector c = testing::random_vector(here.size(), random);
    const auto slope_of = [&](auto quantity) {
      return testing::central_difference(
          [&](double length) {
            row.orbit->move(length);
            return quantity();
          },
          e);
    };
    row.orbit->back();
    const double norm_J = row.orbit->aim({1.0, 0.0});
    const double one = norm_J * slope_of([&] { return c.dot(point_of(*row.orbit)); });
    row.orbit->back();
    const double norm_c = row.orbit->aim({.covector = c});
    const double other = norm_c * slope_of([&] { return row.orbit->grad_sq(); });
    row.orbit->back();
    EXPECT_NEAR(one, other, 100 * tolerance::difference * norm_J * norm_c);
  }
}

// Eq. (8) is differentiated at T = 0, which with few samples is not the base.
TEST(Covector, ThePapersActionFollowsItToo) {
  Random random(74);
  for (const Index samples : {4, 12}) {
    const auto problem = testing::random_problem<double>({6, 7, 8, 3}, "asinh", "cross_entropy",
                                                         true, samples, random);
    const auto orbit = PaperAction<double>().orbit(problem.objective, problem.w);
    const Vector c = testing::random_vector(problem.w.size(), random);
    const double norm = orbit->aim({.covector = c});
    const double slope = testing::central_difference(
        [&](double length) {
          EXPECT_TRUE(orbit->move(length));
          return c.dot(point_of(*orbit));
        },
        e);
    EXPECT_NEAR(slope, norm, tolerance::difference * norm);
  }
}

TEST(Covector, WhereThereIsNoWayToFollowItSaysSo) {
  Random random(75);
  const auto problem =
      testing::random_problem<double>({4, 5, 3}, "relu", "cross_entropy", true, 4, random);
  const auto permutations = PermutationSymmetry<double>().orbit(problem.objective, problem.w);
  EXPECT_EQ(permutations->aim({.covector = problem.w}), 0.0);
  const LinearModel model = testing::random_linear_model(2, 3, 5);
  const Vector w = testing::random_vector(6, random);
  const auto with_data = LinearDataSymmetry().orbit(model, w);
  EXPECT_THROW(with_data->aim({.covector = w}), InvalidArgument);
}

}  // namespace
}  // namespace symport
