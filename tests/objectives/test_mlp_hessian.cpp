// SPDX-License-Identifier: MIT
#include "objectives/mlp_hessian.hpp"

#include <gtest/gtest.h>

#include "support/networks.hpp"
#include "support/numbers.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;
using testing::Problem;
using testing::random_problem;

/// Networks of several activations, losses and depths, with few samples for their widths.
std::vector<Problem<double>> problems(bool piecewise_linear) {
  Random random(61);
  std::vector<Problem<double>> table;
  for (const char* activation : {"leaky_relu:0.1", "relu", "asinh", "tanh", "gelu"}) {
    const bool bent = std::string(activation) != "relu" && activation[0] != 'l';
    if (piecewise_linear && bent) continue;
    for (const char* loss : {"cross_entropy:mean", "half_sum_squares:sum"}) {
      for (const bool biases : {false, true}) {
        table.push_back(
            random_problem<double>({14, 12, 11, 5}, activation, loss, biases, 3, random));
        table.push_back(random_problem<double>({9, 10, 4}, activation, loss, biases, 2, random));
      }
    }
  }
  return table;
}

// The Krylov space of k steps is the same, so the Ritz values must be.
TEST(MlpHessian, HasTheRitzValuesOfLanczosOnParameters) {
  for (const auto& problem : problems(false)) {
    Vector gradient(problem.w.size());
    problem.objective.gradient(problem.w, gradient);
    for (const Index steps : {1, 2, 3, 5, 8}) {
      MlpHessian<double> hessian(problem.objective, problem.w);
      const auto value = hessian.largest_eigenvalue(steps, 0.0);
      ASSERT_TRUE(value.has_value()) << steps;
      EXPECT_LE(distance(*value,
                         largest_curvature<double>(problem.objective, problem.w, gradient, steps)),
                tolerance::accumulated)
          << problem.objective.network().activation().name() << ", " << steps << " steps";
      EXPECT_EQ(hessian.products(), steps);
    }
  }
}

TEST(MlpHessian, EndsEarlyOnlyNearAnEigenvalue) {
  Index fewest = 100;
  for (const auto& problem : problems(false)) {
    MlpHessian<double> hessian(problem.objective, problem.w);
    const double full = *hessian.largest_eigenvalue(12, 0.0);
    const Index before = hessian.products();
    EXPECT_NEAR(*hessian.largest_eigenvalue(12, 0.02), full, 0.01 * std::abs(full));
    fewest = std::min(fewest, hessian.products() - before);
  }
  EXPECT_LT(fewest, 8) << "it never ended early";
}

TEST(MlpHessian, KnowsTheLossAfterAGradientStep) {
  for (const auto& problem : problems(false)) {
    Vector gradient(problem.w.size());
    problem.objective.gradient(problem.w, gradient);
    const MlpHessian<double> hessian(problem.objective, problem.w);
    for (const double rate : {0.0, 1e-3, 0.1}) {
      EXPECT_LE(
          distance(hessian.next_loss(rate), problem.objective.value(problem.w - rate * gradient)),
          tolerance::accumulated);
    }
  }
}

TEST(MlpHessian, RescaledIsThatOfTheRescaledParameters) {
  Random random(62);
  for (const auto& problem : problems(true)) {
    const Mlp& network = problem.objective.network();
    std::vector<Vector> scales;
    for (Index m = 1; m < network.layers(); ++m) {
      scales.push_back(
          random.normal_matrix(network.width(m), 1).col(0).array().exp().matrix().eval());
    }
    Vector moved = problem.w;
    PositiveScalingSymmetry<double>::act(network, scales, moved);
    MlpHessian<double> there(problem.objective, moved);
    MlpHessian<double> rescaled(MlpHessian<double>(problem.objective, problem.w), scales);
    for (const Index steps : {1, 4}) {
      EXPECT_LE(
          distance(*rescaled.largest_eigenvalue(steps, 0.0), *there.largest_eigenvalue(steps, 0.0)),
          tolerance::accumulated);
    }
    EXPECT_LE(distance(rescaled.next_loss(1e-2), there.next_loss(1e-2)), tolerance::accumulated);
  }
}

// With one layer and one sample the gradient delta x' is an eigenvector.
// Against products of whole vectors that are zero outside of a layer.
TEST(MlpHessian, KnowsTheProductsOfTheGradientsLayers) {
  for (const auto& problem : problems(false)) {
    const Mlp& network = problem.objective.network();
    Vector gradient(problem.w.size()), product(problem.w.size());
    problem.objective.gradient(problem.w, gradient);
    Matrix parts = Matrix::Zero(problem.w.size(), network.layers());
    for (Index m = 1; m <= network.layers(); ++m) {
      network.augmented(m, parts.col(m - 1).data()) = network.augmented(m, gradient.data());
    }
    const auto [J, M] = MlpHessian<double>(problem.objective, problem.w).gradient_blocks();
    const double size = gradient.squaredNorm();
    for (Index a = 0; a < network.layers(); ++a) {
      EXPECT_NEAR(J[a], parts.col(a).squaredNorm(), 1e-12 * size);
      problem.objective.hessian_vector(problem.w, parts.col(a), product);
      for (Index b = 0; b < network.layers(); ++b) {
        EXPECT_NEAR(M(b, a), parts.col(b).dot(product), 1e-12 * M.cwiseAbs().maxCoeff());
      }
    }
  }
}

TEST(MlpHessian, SaysNothingWhenTheKrylovSpaceEnds) {
  Random random(63);
  const auto problem =
      random_problem<double>({6, 3}, "linear", "half_sum_squares", false, 1, random);
  EXPECT_FALSE(MlpHessian<double>(problem.objective, problem.w).largest_eigenvalue(5, 0.0));
}

TEST(MlpHessian, AgreesInSinglePrecision) {
  Random random(64), same(64);
  const auto fine =
      random_problem<double>({14, 12, 11, 5}, "leaky_relu", "cross_entropy", true, 3, random);
  const auto coarse =
      random_problem<float>({14, 12, 11, 5}, "leaky_relu", "cross_entropy", true, 3, same);
  EXPECT_LE(distance(*MlpHessian<float>(coarse.objective, coarse.w).largest_eigenvalue(8, 0.0),
                     *MlpHessian<double>(fine.objective, fine.w).largest_eigenvalue(8, 0.0)),
            1e-3);
}

TEST(MlpHessian, IsWorthwhileForSmallBatchesOnly) {
  Random random(65);
  const auto few = random_problem<double>({20, 30, 5}, "relu", "cross_entropy", true, 4, random);
  const auto many = random_problem<double>({20, 30, 5}, "relu", "cross_entropy", true, 40, random);
  EXPECT_TRUE(MlpHessian<double>::worthwhile(few.objective));
  EXPECT_FALSE(MlpHessian<double>::worthwhile(many.objective));
}

}  // namespace
}  // namespace symport
