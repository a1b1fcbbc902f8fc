// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "core/dense.hpp"
#include "support/network_golden.hpp"
#include "support/networks.hpp"
#include "support/taylor.hpp"
#include "support/wander.hpp"
#include "symmetries/general_linear_orbit.hpp"
#include "symmetries/gl_state.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/search/measures.hpp"
#include "symport/symmetries/general_linear.hpp"

namespace symport {
namespace {

using testing::random_problem;
using testing::taylor_slope;
using testing::wander;

constexpr double golden_tolerance = 1e-10;
constexpr double direction_tolerance = 1e-8;
template <class Scalar>
constexpr double drift_tolerance = std::same_as<Scalar, double> ? 1e-10 : 1e-4;

const char* const bijections[] = {"linear", "leaky_relu:0.1", "asinh", "tanh_extended:6",
                                  "sigmoid_extended:6"};
const char* const losses[] = {"half_sum_squares:sum", "mean_squares:mean", "cross_entropy:mean"};

template <class Scalar>
GeneralLinearOrbit<Scalar>& gl(BasicOrbit<Scalar>& orbit) {
  return dynamic_cast<GeneralLinearOrbit<Scalar>&>(orbit);
}

TEST(Golden, GeneralLinearObjectivesAndTheirDirections) {
  for (const auto& [json, objective, w] : testing::gl_cases()) {
    const auto orbit = GeneralLinear<double>().orbit(objective, w);
    const double grad_sq = json.at("grad_sq"), gHg = json.at("gHg");
    EXPECT_NEAR(orbit->grad_sq(), grad_sq, golden_tolerance * grad_sq);
    EXPECT_NEAR(orbit->curvature(), gHg, golden_tolerance * gHg);
    const auto of_grad_sq = testing::golden_matrices(json.at("d_grad_sq_dT_exact"));
    const auto of_curvature = testing::golden_matrices(json.at("d_gHg_dT_exact"));
    for (std::size_t m = 0; m < of_grad_sq.size(); ++m) {
      const Index layer = static_cast<Index>(m) + 1;
      orbit->aim({1.0, 0.0});
      EXPECT_LT((gl(*orbit).direction(layer)->to_dense() - of_grad_sq[m]).norm(),
                direction_tolerance * of_grad_sq[m].norm());
      orbit->aim({0.0, 1.0});
      EXPECT_LT((gl(*orbit).direction(layer)->to_dense() - of_curvature[m]).norm(),
                direction_tolerance * of_curvature[m].norm());
      orbit->aim({0.7, -0.02});
      const Matrix both = 0.7 * of_grad_sq[m] - 0.02 * of_curvature[m];
      EXPECT_LT((gl(*orbit).direction(layer)->to_dense() - both).norm(),
                direction_tolerance * both.norm());
    }
  }
}

TEST(Golden, GeneralLinearActionOnTheWeights) {
  for (const auto& [json, objective, w] : testing::gl_cases()) {
    GlState<double> state(objective, w);
    state.act(testing::golden_matrices(json.at("g")));
    const auto expected = testing::golden_matrices(json.at("W_after_exact"));
    for (std::size_t m = 0; m < expected.size(); ++m) {
      EXPECT_LT((state.W(static_cast<Index>(m) + 1) - expected[m]).norm(),
                direction_tolerance * expected[m].norm());
    }
    const Vector after = state.parameters();
    Vector g(w.size());
    const double loss = json.at("loss_after_exact"), grad_sq = json.at("grad_sq_after_exact");
    EXPECT_NEAR(objective.gradient(after, g), loss, golden_tolerance * loss);
    EXPECT_NEAR(g.squaredNorm(), grad_sq, direction_tolerance * grad_sq);
  }
}

/// Checks at the orbit's current point all that it says against the plain objective and action.
template <class Scalar>
void expect_consistent(const MlpObjective<Scalar>& objective, const VectorOf<Scalar>& w,
                       BasicOrbit<Scalar>& orbit, const ::testing::Message& label) {
  const double tolerance = drift_tolerance<Scalar>;
  VectorOf<Scalar> moved(w.size()), g(w.size()), Hg(w.size());
  orbit.commit(moved);
  const double before = objective.value(w);
  EXPECT_NEAR(objective.gradient(moved, g), before, tolerance * before) << label;
  objective.hessian_vector(moved, g, Hg);
  const double grad_sq = g.squaredNorm(), curvature = g.dot(Hg);
  EXPECT_NEAR(orbit.grad_sq(), grad_sq, 100 * tolerance * grad_sq) << label;
  EXPECT_NEAR(orbit.curvature(), curvature, 100 * tolerance * std::abs(curvature)) << label;

  GlState<Scalar> state(objective, w);
  std::vector<MatrixOf<Scalar>> elements;
  for (Index m = 1; m < objective.network().layers(); ++m) {
    elements.push_back(gl(orbit).element(m));
  }
  state.act(elements);
  EXPECT_LT((state.parameters() - moved).norm(), 10 * tolerance * moved.norm()) << label;
}

template <class Scalar>
void check_invariance() {
  std::uint64_t seed = 0;
  for (const char* activation : bijections) {
    for (const char* loss : losses) {
      for (const bool biases : {false, true}) {
        for (Index depth = 2; depth <= 5; ++depth) {
          Random random(++seed);
          const Index n = 1 + random.below(5);
          std::vector<Index> widths;
          for (Index m = 0; m < depth; ++m) widths.push_back(n + 1 + random.below(20));
          widths.push_back(2 + random.below(4));
          auto [objective, w] = random_problem<Scalar>(widths, activation, loss, biases, n, random);
          const auto label = ::testing::Message()
                             << activation << ' ' << loss << (biases ? " biases" : "") << " depth "
                             << depth << " n " << n << " seed " << seed;
          const auto orbit = GeneralLinear<Scalar>().orbit(objective, w);
          wander(*orbit, 3, 0.05);
          VectorOf<Scalar> moved(w.size());
          orbit->commit(moved);
          EXPECT_GT((moved - w).norm(), 1e-3 * w.norm()) << label;
          expect_consistent(objective, w, *orbit, label);
        }
      }
    }
  }
}

TEST(GeneralLinear, KeepsTheLossOfEveryNetworkInDouble) { check_invariance<double>(); }
TEST(GeneralLinear, KeepsTheLossOfEveryNetworkInFloat) { check_invariance<float>(); }

TEST(GeneralLinear, FactoredWeightsEqualThePlainOnesOnAWideNetworkAfterManySteps) {
  Random random(17);
  for (const bool biases : {false, true}) {
    auto [objective, w] = random_problem<double>({70, 60, 50, 40, 5}, "leaky_relu:0.1",
                                                 "cross_entropy", biases, 4, random);
    const auto orbit = GeneralLinear<double>().orbit(objective, w);
    for (int step = 0; step < 6; ++step) {
      wander(*orbit, 1, 0.1);
      expect_consistent(objective, w, *orbit, ::testing::Message() << "step " << step);
    }
  }
}

TEST(GeneralLinear, DirectionsAreTheDerivativesAlongTheOrbitAwayFromTheStart) {
  std::uint64_t seed = 100;
  for (const char* activation : bijections) {
    for (const bool biases : {false, true}) {
      Random random(++seed);
      auto [objective, w] =
          random_problem<double>({7, 9, 24, 8, 3}, activation, "cross_entropy", biases, 4, random);
      const auto orbit = GeneralLinear<double>().orbit(objective, w);
      wander(*orbit, 2, 0.05);
      for (const bool of_curvature : {false, true}) {
        const double norm = orbit->aim({of_curvature ? 0.0 : 1.0, of_curvature ? 1.0 : 0.0});
        const auto value = [&] { return of_curvature ? orbit->curvature() : orbit->grad_sq(); };
        const double start = value();
        const auto remainder = [&](double length) {
          EXPECT_TRUE(orbit->move(length));
          return value() - start - length * norm;
        };
        EXPECT_GT(taylor_slope(remainder, 1e-3, 1e-12 * std::abs(start)), 1.9)
            << activation << biases << of_curvature;
        orbit->back();
      }
    }
  }
}

TEST(GeneralLinear, CutDirectionsAreDerivativesToo) {
  Random random(31);
  auto [objective, w] =
      random_problem<double>({70, 60, 50, 9}, "leaky_relu:0.1", "cross_entropy", true, 6, random);
  double whole = 0.0;
  for (const Index max_rank : {0, 8}) {
    const auto orbit = GeneralLinear<double>({.max_rank = max_rank}).orbit(objective, w);
    const double norm = orbit->aim({1.0, -0.1});
    if (max_rank == 0) whole = norm;
    EXPECT_LE(norm, whole);
    EXPECT_GT(norm, 0.8 * whole);
    EXPECT_EQ(gl(*orbit).direction(1)->rank(), max_rank == 0 ? 18 : 8);
    const auto value = [&] { return orbit->grad_sq() - 0.1 * orbit->curvature(); };
    const double start = value();
    const auto remainder = [&](double length) {
      EXPECT_TRUE(orbit->move(length));
      return value() - start - length * norm;
    };
    EXPECT_GT(taylor_slope(remainder, 1e-3, 1e-12 * std::abs(start)), 1.9) << max_rank;
  }
}

TEST(GeneralLinear, ActsOnChosenLayersOnly) {
  Random random(21);
  auto [objective, w] =
      random_problem<double>({7, 8, 9, 8, 3}, "asinh", "half_sum_squares", true, 4, random);
  const auto orbit = GeneralLinear<double>({.layers = {2}}).orbit(objective, w);
  wander(*orbit, 2, 0.05);
  expect_consistent(objective, w, *orbit, ::testing::Message());
  Vector moved(w.size());
  orbit->commit(moved);
  const Mlp& network = objective.network();
  for (Index m = 1; m <= 4; ++m) {
    const bool same = network.augmented(m, moved.data()) == network.augmented(m, w.data());
    EXPECT_EQ(same, m == 1 || m == 4) << m;
  }
  EXPECT_EQ(gl(*orbit).direction(1), nullptr);
  EXPECT_THROW(GeneralLinear<double>({.layers = {4}}).orbit(objective, w), InvalidArgument);
  EXPECT_THROW(GeneralLinear<double>({.max_rank = -1}), InvalidArgument);
}

TEST(GeneralLinear, ALayerBelowNoMovedOneMayBeNarrow) {
  Random random(22);
  auto [objective, w] =
      random_problem<double>({2, 9, 8, 3}, "leaky_relu", "cross_entropy", false, 5, random);
  EXPECT_FALSE(GeneralLinear<double>().orbit(objective, w));
  const auto orbit = GeneralLinear<double>({.layers = {2}}).orbit(objective, w);
  wander(*orbit, 2, 0.05);
  Vector moved(w.size());
  orbit->commit(moved);
  EXPECT_NEAR(objective.value(moved), objective.value(w), 1e-12);
}

TEST(GeneralLinear, RandomElementsKeepTheLossAndStartFromTheStart) {
  Random random(23);
  auto [objective, w] =
      random_problem<double>({7, 8, 9, 3}, "leaky_relu", "cross_entropy", true, 4, random);
  const auto orbit = GeneralLinear<double>().orbit(objective, w);
  wander(*orbit, 2, 0.2);
  for (const double spread : {0.5, 0.01}) {
    ASSERT_TRUE(orbit->randomize(random, spread));
    expect_consistent(objective, w, *orbit, ::testing::Message() << spread);
    double distance = 0.0;
    for (Index m = 1; m <= 2; ++m) {
      const Matrix g = gl(*orbit).element(m);
      distance += (g - Matrix::Identity(g.rows(), g.cols())).squaredNorm();
    }
    EXPECT_NEAR(std::sqrt(distance), spread, 1e-12);
  }
}

TEST(GeneralLinear, ConditionIsThatOfTheWorstElement) {
  Random random(24);
  auto [objective, w] =
      random_problem<double>({30, 40, 25, 3}, "leaky_relu", "cross_entropy", true, 3, random);
  const auto orbit = GeneralLinear<double>().orbit(objective, w);
  EXPECT_DOUBLE_EQ(orbit->condition(), 1.0);
  wander(*orbit, 4, 0.4);
  double worst = 1.0;
  for (Index m = 1; m <= 2; ++m) {
    worst = std::max(worst, condition_number(gl(*orbit).element(m)));
  }
  EXPECT_GT(worst, 1.2);
  EXPECT_NEAR(orbit->condition(), worst, 0.05 * worst);
}

TEST(GeneralLinear, AnAscentStepReadsNoFirstWeightsAndFormsNoGradient) {
  Random random(25);
  auto [objective, w] =
      random_problem<float>({90, 80, 70, 4}, "leaky_relu", "cross_entropy", true, 4, random);
  const auto orbit = GeneralLinear<float>().orbit(objective, w);
  ASSERT_EQ(gl(*orbit).reads(1), 1);
  for (int step = 0; step < 8; ++step) {
    const Index before = gl(*orbit).reads(2);
    orbit->grad_sq();
    orbit->aim({1.0, 0.0});
    // W_2' delta_2 and W_2 R_1; now and then the accumulated elements are folded into a copy.
    EXPECT_LE(gl(*orbit).reads(2) - before, 2 + 6);
    for (Index m = 1; m <= 2; ++m) {
      EXPECT_FALSE(gl(*orbit).direction(m)->dense());
      EXPECT_EQ(gl(*orbit).direction(m)->rank(), 2 * 4);
    }
    ASSERT_TRUE(orbit->move(0.1));
  }
  EXPECT_EQ(gl(*orbit).reads(1), 1);
  Eigen::VectorXf moved(w.size());
  orbit->commit(moved);
  EXPECT_EQ(gl(*orbit).reads(1), 2);
}

TEST(GeneralLinear, WorkIsCountedInGradients) {
  Random random(26);
  auto [objective, w] =
      random_problem<double>({60, 60, 60, 60}, "leaky_relu", "half_sum_squares", false, 4, random);
  const auto orbit = GeneralLinear<double>().orbit(objective, w);
  EXPECT_DOUBLE_EQ(orbit->evaluations(), 0.5);
  orbit->grad_sq();  // W_2' and W_3' once each of the 8 products that a gradient takes
  EXPECT_DOUBLE_EQ(orbit->evaluations(), 0.5 + 2.0 / 8.0);
  orbit->curvature();  // W_2 with R_1 (S_1 is 0), W_3 with R_2 and S_2
  EXPECT_DOUBLE_EQ(orbit->evaluations(), 0.5 + 5.0 / 8.0);
  orbit->curvature();
  EXPECT_DOUBLE_EQ(orbit->evaluations(), 0.5 + 5.0 / 8.0);
}

// Counting changes no bit, and sees the work that goes past the objective's functions.
TEST(GeneralLinear, WorksThroughAWrapperThatCounts) {
  Random random(32);
  // Few samples for the widths, and as many as the widths allow.
  for (const Index samples : {3, 7}) {
    auto [objective, w] =
        random_problem<double>({8, 9, 8, 3}, "asinh", "cross_entropy", true, samples, random);
    const CountingObjective<double> counting(objective);
    const auto plain = GeneralLinear<double>().orbit(objective, w);
    const auto counted = GeneralLinear<double>().orbit(counting, w);
    for (const auto& orbit : {plain.get(), counted.get()}) {
      wander(*orbit, 2, 0.05);
    }
    OrbitMeasures<double> of_plain(*plain, 1e-2), of_counted(*counted, 1e-2);
    EXPECT_EQ(of_counted.next_loss(), of_plain.next_loss());
    EXPECT_EQ(of_counted.largest_curvature(), of_plain.largest_curvature());
    EXPECT_EQ(counted->grad_sq(), plain->grad_sq());
    EXPECT_EQ(counted->curvature(), plain->curvature());
    EXPECT_EQ(counted->condition(), plain->condition());
    Vector there(w.size()), expected(w.size());
    counted->commit(there);
    plain->commit(expected);
    EXPECT_EQ(there, expected);
    EXPECT_EQ(&counted->objective(), &counting);
    EXPECT_EQ(counted->evaluations(), plain->evaluations());
    EXPECT_NEAR(counting.count().gradient_equivalents(),
                counted->evaluations() + of_counted.evaluations(), 1e-12);
  }
}

}  // namespace
}  // namespace symport
