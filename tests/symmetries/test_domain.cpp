// SPDX-License-Identifier: MIT
// Where an action ends: at numbers that overflow, and where a user's change of variables is not
// onto.
#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "support/candidates.hpp"
#include "support/networks.hpp"
#include "support/not_finite.hpp"
#include "support/symmetries.hpp"
#include "symmetries/matrix_orbit.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/linear_data.hpp"
#include "symport/symmetries/linear_network.hpp"
#include "symport/symmetries/paper_action.hpp"
#include "symport/symmetries/positive_scaling.hpp"

namespace symport {
namespace {

struct DomainRow {
  std::string name;
  std::shared_ptr<const void> owner;  ///< what the orbit refers to
  std::shared_ptr<BasicOrbit<double>> orbit;
  std::vector<double> outside;  ///< lengths that lead out of the domain
};

Vector point(BasicOrbit<double>& orbit) {
  Vector w(orbit.objective().dimension());
  orbit.commit(w);
  return w;
}

/// Every kind of orbit, at its start.
std::vector<DomainRow> domain_rows() {
  std::vector<DomainRow> rows;
  Random random(91);
  for (const auto& row : testing::symmetry_table()) {
    const Vector w = testing::random_vector(row.objective->dimension(), random);
    const auto owner = std::make_shared<testing::SymmetryRow>(row);
    rows.push_back(
        {row.name, owner, row.symmetry->orbit(*row.objective, w).take(), {infinity, nan}});
    // exp(1e4 T) or its inverse overflows.
    if (!row.symmetry->compact()) rows.back().outside.push_back(1e4);
  }
  const auto positive = std::make_shared<testing::SymmetryRow>(testing::SymmetryRow{
      "positive numbers", std::make_shared<RotationSymmetry>(testing::positive_rotation(2)),
      testing::positive_objective(2)});
  const Vector in_between{{0.5, -0.5}};
  // Half a turn changes both signs.
  const std::vector<double> turns{std::numbers::pi, -std::numbers::pi, 3.0, infinity};
  rows.push_back({"positive numbers", positive,
                  positive->symmetry->orbit(*positive->objective, in_between).take(), turns});
  rows.push_back(
      {"positive numbers (generic orbit)", positive,
       std::make_shared<MatrixOrbit>(*positive->symmetry, *positive->objective, in_between),
       turns});
  const auto model = std::make_shared<LinearModel>(testing::random_linear_model(2, 3, 5));
  rows.push_back({"linear model and its data",
                  model,
                  LinearDataSymmetry().orbit(*model, testing::random_vector(6, random)),
                  {1e4, infinity, nan}});
  const auto network = [&](std::string name, const BasicSymmetry<double>& symmetry,
                           const char* activation) {
    const auto problem = std::make_shared<testing::Problem<double>>(testing::random_problem<double>(
        {6, 5, 5, 3}, activation, "half_sum_squares", true, 4, random));
    rows.push_back({std::move(name),
                    problem,
                    symmetry.orbit(problem->objective, problem->w).take(),
                    {1e4, infinity, nan}});
  };
  network("rescale", PositiveScalingSymmetry<double>(), "leaky_relu");
  network("linear_gl", LinearNetworkSymmetry<double>(), "linear");
  network("gl", GeneralLinear<double>(), "leaky_relu");
  network("paper", PaperAction<double>(), "leaky_relu");
  // These two are polynomials in the length: no finite number is too large for them.
  for (auto row = rows.end() - 2; row != rows.end(); ++row) row->outside = {infinity, nan};
  return rows;
}

TEST(Domain, AMoveThatLeavesItEndsAtTheBase) {
  for (DomainRow& row : domain_rows()) {
    SCOPED_TRACE(row.name);
    BasicOrbit<double>& orbit = *row.orbit;
    ASSERT_GT(orbit.aim({1.0, 0.0}), 0.0);
    ASSERT_TRUE(orbit.move(0.01));
    ASSERT_GT(orbit.aim({1.0, 0.0}), 0.0);
    orbit.back();
    const Vector base = point(orbit);
    const double grad_sq = orbit.grad_sq();
    ASSERT_TRUE(orbit.move(0.01));
    const Vector near = point(orbit);
    for (const double length : row.outside) {
      EXPECT_FALSE(orbit.move(length)) << length;
      EXPECT_TRUE(testing::identical(point(orbit), base)) << length;
      EXPECT_EQ(orbit.grad_sq(), grad_sq) << length;
      // And the way is still the same.
      EXPECT_TRUE(orbit.move(0.01));
      EXPECT_TRUE(testing::identical(point(orbit), near)) << length;
    }
  }
}

TEST(Domain, ADrawThatLeavesItSaysSoAndStaysInside) {
  Random random(92);
  for (DomainRow& row : domain_rows()) {
    SCOPED_TRACE(row.name);
    const double loss = row.orbit->objective().value(point(*row.orbit));
    for (const double spread : {0.1, 1e4}) {
      for (int i = 0; i < 20; ++i) {
        const bool drawn = row.orbit->randomize(random, spread);
        EXPECT_TRUE(point(*row.orbit).allFinite()) << spread;
        if (spread > 1.0 || !drawn) continue;
        EXPECT_NEAR(row.orbit->objective().value(point(*row.orbit)), loss, 1e-9 * loss);
      }
    }
  }
}

// A quarter of all angles keeps both numbers positive; a draw that fails changes nothing.
TEST(Domain, ADrawThatFailsChangesNothing) {
  Random random(93);
  const auto symmetry = testing::positive_rotation(2);
  const auto objective = testing::positive_objective(2);
  const Vector w{{0.5, -0.5}};
  MatrixOrbit generic(symmetry, *objective, w);
  const auto circle = symmetry.orbit(*objective, w);
  for (BasicOrbit<double>* orbit : {&static_cast<BasicOrbit<double>&>(generic), circle.get()}) {
    int drawn = 0;
    for (int i = 0; i < 100; ++i) {
      const Vector before = point(*orbit);
      if (orbit->randomize(random, 0.0)) {
        ++drawn;
        EXPECT_FALSE(testing::identical(point(*orbit), before));
      } else {
        EXPECT_TRUE(testing::identical(point(*orbit), before));
      }
    }
    EXPECT_GT(drawn, 10);
    EXPECT_LT(drawn, 40);
  }
}

// Three layers multiply what a closed form may stretch: more than the numbers hold.
TEST(Domain, AClosedFormThatLeavesItEndsAtTheBase) {
  Random random(94);
  const auto problem =
      testing::random_problem<double>({4, 5, 6, 3}, "linear", "half_sum_squares", true, 6, random);
  const auto orbit = LinearNetworkSymmetry<double>().orbit(problem.objective, problem.w);
  EXPECT_TRUE(testing::go_to_candidate(*orbit, 2.0));
  const Vector before = point(*orbit);
  EXPECT_FALSE(testing::identical(before, problem.w));
  EXPECT_FALSE(testing::go_to_candidate(*orbit, 1e200));
  EXPECT_TRUE(testing::identical(point(*orbit), before));
}

// Where everything is fitted there is no direction to go.
TEST(Domain, AMinimumOfTheLinearModelAimsNowhere) {
  const Matrix X{{1.0, 2.0, 0.0}, {0.0, 1.0, 3.0}};
  const Vector w{{2.0, -1.0}};
  const LinearModel model(X, w.transpose() * X);
  const auto orbit = LinearDataSymmetry().orbit(model, w);
  EXPECT_EQ(orbit->aim({1.0, 0.5}), 0.0);
  EXPECT_TRUE(orbit->move(0.3));
  EXPECT_TRUE(testing::identical(point(*orbit), w));
}

}  // namespace
}  // namespace symport
