// SPDX-License-Identifier: MIT
#include "symport/search/measures.hpp"

#include <gtest/gtest.h>

#include "support/orbit_rows.hpp"
#include "support/worth.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/linear_network.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;
using testing::OrbitRow;
using testing::point_of;

constexpr double rate = 1e-3;

/// Orbits away from their starts.
std::vector<OrbitRow> orbits() {
  Random random(81);
  std::vector<OrbitRow> rows = testing::matrix_orbits(random, false);
  rows.push_back(testing::linear_data_orbit(random));
  const auto network = [&](const BasicSymmetry<double>& symmetry, const char* activation,
                           Index samples) {
    rows.push_back(testing::network_orbit(symmetry, {9, 8, 9, 3}, activation, true, samples,
                                          " of " + std::to_string(samples) + " samples", random));
  };
  // With few samples the Hessian of a network is known in factors.
  for (const Index samples : {3, 8}) {
    network(GeneralLinear<double>(), "asinh", samples);
    network(PositiveScalingSymmetry<double>(), "leaky_relu", samples);
    network(LinearNetworkSymmetry<double>(), "linear", samples);
  }
  for (OrbitRow& row : rows) {
    row.orbit->aim({1.0, 0.1});
    row.orbit->move(0.2);
  }
  return rows;
}

/// What the objective alone says of measures at w.
void expect_measures_of(Measures<double>& measures, const Objective& objective, const Vector& w) {
  const auto numbers = testing::numbers_at(objective, w);
  EXPECT_LE(distance(measures.grad_sq(), numbers.grad_sq), tolerance::accumulated);
  EXPECT_LE(distance(measures.curvature(), numbers.curvature), tolerance::accumulated);
  Vector g(w.size()), u(w.size()), Hu(w.size());
  objective.gradient(w, g);
  const double largest = largest_curvature<double>(objective, w, g, 12);
  // Networks may stop their Lanczos steps earlier.
  EXPECT_NEAR(measures.largest_curvature(), largest, 0.01 * std::abs(largest));
  u = measures.has_forecast() ? Vector(0.1 * g + 0.01 * w) : Vector(rate * g);
  EXPECT_LE(distance(measures.next_loss(), objective.value(w - u)), tolerance::accumulated);
  if (measures.has_forecast()) {
    objective.hessian_vector(w, u, Hu);
    const StepForecast forecast = measures.forecast();
    EXPECT_LE(distance(forecast.slope, g.dot(u)), tolerance::accumulated);
    EXPECT_LE(distance(forecast.bend, u.dot(Hu)), tolerance::accumulated);
    EXPECT_EQ(forecast.decrease(), forecast.slope - 0.5 * forecast.bend);
    EXPECT_EQ(measures.rate(), forecast.slope / measures.grad_sq());
  } else {
    EXPECT_THROW(measures.forecast(), std::logic_error);
    EXPECT_EQ(measures.rate(), rate);
  }
}

const NextStep<double> decayed = [](In<double> w, In<double> gradient, Out<double> u) {
  u = 0.1 * gradient + 0.01 * w;
};

TEST(OrbitMeasures, AreThoseOfTheCurrentPointWhereverItIs) {
  for (const NextStep<double>& next_step : {NextStep<double>{}, decayed}) {
    for (OrbitRow& row : orbits()) {
      SCOPED_TRACE(row.name);
      OrbitMeasures<double> measures(*row.orbit, rate, next_step);
      for (const double length : {0.0, 0.3, 0.1}) {
        ASSERT_TRUE(row.orbit->move(length));
        expect_measures_of(measures, row.orbit->objective(), point_of(*row.orbit));
      }
    }
  }
}

TEST(ParameterMeasures, AreThoseOfTheObjective) {
  for (const NextStep<double>& next_step : {NextStep<double>{}, decayed}) {
    for (OrbitRow& row : orbits()) {
      SCOPED_TRACE(row.name);
      const Objective& objective = row.orbit->objective();
      const Vector w = point_of(*row.orbit);
      const CountingObjective<double> counting(objective);
      ParameterMeasures<double> measures(counting, w, rate, next_step);
      EXPECT_EQ(measures.loss(), testing::numbers_at(objective, w).loss);
      expect_measures_of(measures, objective, w);
      EXPECT_EQ(counting.count().gradients, 1);
      EXPECT_NEAR(measures.evaluations(), counting.count().gradient_equivalents(), 1e-12);
    }
  }
}

TEST(OrbitMeasures, CountTheirWorkInGradients) {
  for (const NextStep<double>& next_step : {NextStep<double>{}, decayed}) {
    for (const auto& row : testing::symmetry_table()) {
      SCOPED_TRACE(row.name);
      const CountingObjective<double> counting(*row.objective);
      Random random(83);
      const Vector w = testing::random_vector(row.objective->dimension(), random);
      const auto orbit = row.symmetry->orbit(counting, w);
      OrbitMeasures<double> measures(*orbit, rate, next_step);
      const auto expect_counted = [&] {
        EXPECT_EQ(orbit->evaluations() + measures.evaluations(),
                  counting.count().gradient_equivalents());
      };
      measures.next_loss();
      if (measures.has_forecast()) measures.forecast();
      expect_counted();
      const double before = measures.evaluations();
      if (measures.has_forecast()) measures.forecast();
      EXPECT_EQ(measures.evaluations(), before) << "it is kept";
      measures.largest_curvature();
      expect_counted();
      const double after = measures.evaluations();
      measures.largest_curvature();
      EXPECT_EQ(measures.evaluations(), after) << "it is kept";
      measures.third_derivative(measures.sharpest_direction());
      expect_counted();
    }
  }
}

// H v = lambda v, and <third(v), d> is the change of v'Hv along d.
TEST(OrbitMeasures, KnowTheSharpestDirectionAndHowItsCurvatureChanges) {
  Random random(84);
  for (const auto& row : testing::symmetry_table()) {
    SCOPED_TRACE(row.name);
    const Objective& objective = *row.objective;
    const Vector w = testing::random_vector(objective.dimension(), random);
    if (w.size() > 12) continue;  // beyond that, Lanczos' method is not exact
    const auto orbit = row.symmetry->orbit(objective, w);
    OrbitMeasures<double> measures(*orbit, rate);
    const Vector v = measures.sharpest_direction();
    EXPECT_NEAR(v.norm(), 1.0, tolerance::rounding);
    Vector Hv(w.size());
    objective.hessian_vector(w, v, Hv);
    const double lambda = measures.largest_curvature();
    EXPECT_LE((Hv - lambda * v).norm(), 1e-6 * Hv.norm());
    const Vector d = testing::random_vector(w.size(), random), third = measures.third_derivative(v);
    const double change = testing::central_difference(
        [&](double e) { return objective.curvature(w + e * d, v); }, 1e-3);
    EXPECT_NEAR(third.dot(d), change, 1e-6 * (std::abs(change) + std::abs(lambda)));
  }
}

TEST(KnownPoint, KnowsItsNumbersAndNothingElse) {
  KnownPoint point(2.0, 3.0, 0.1);
  EXPECT_EQ(point.grad_sq(), 2.0);
  EXPECT_EQ(point.curvature(), 3.0);
  EXPECT_EQ(point.rate(), 0.1);
  EXPECT_TRUE(std::isnan(point.largest_curvature()));
  EXPECT_TRUE(std::isnan(point.next_loss()));
  EXPECT_THROW(point.forecast(), std::logic_error);
  EXPECT_THROW(point.sharpest_direction(), std::logic_error);
  EXPECT_THROW(point.third_derivative(Vector::Ones(2)), std::logic_error);
}

}  // namespace
}  // namespace symport
