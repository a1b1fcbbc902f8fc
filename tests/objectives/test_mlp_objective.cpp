// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "support/network_golden.hpp"
#include "support/networks.hpp"
#include "support/taylor.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {
namespace {

using testing::random_problem;
using testing::taylor_slope;

constexpr double golden_tolerance = 1e-10;
constexpr double curve_tolerance = 1e-8;

const char* const activations[] = {"linear", "leaky_relu:0.1",  "relu",
                                   "tanh",   "sigmoid",         "asinh",
                                   "gelu",   "tanh_extended:6", "sigmoid_extended:6"};
const char* const losses[] = {"half_sum_squares:sum", "mean_squares:mean", "cross_entropy:mean",
                              "cross_entropy:sum"};
const std::vector<Index> shapes[] = {{4, 5, 3}, {4, 5, 6, 3}, {3, 5, 4, 4, 2}, {3, 4, 5, 4, 3, 2}};

/// Runs `check(problem, label)` on every activation x loss x biases x depth.
template <class Check>
void for_all_networks(const Check& check) {
  std::uint64_t seed = 0;
  for (const char* activation : activations) {
    for (const char* loss : losses) {
      for (const bool biases : {false, true}) {
        for (const auto& widths : shapes) {
          Random random(++seed);
          auto problem = random_problem<double>(widths, activation, loss, biases, 6, random);
          const Vector v = random.normal_matrix(problem.w.size(), 1).col(0).normalized();
          check(problem.objective, problem.w, v,
                ::testing::Message() << activation << ' ' << loss << (biases ? " biases" : "")
                                     << " depth " << widths.size() - 1 << " seed " << seed);
        }
      }
    }
  }
}

TEST(MlpObjective, GradientPassesTheSlopeCheckForEveryNetwork) {
  for_all_networks([](const auto& objective, const Vector& w, const Vector& v, const auto& label) {
    Vector g(w.size());
    const double value = objective.gradient(w, g);
    EXPECT_NEAR(value, objective.value(w), 1e-14 * value) << label;
    const auto remainder = [&](double e) {
      return objective.value(w + e * v) - value - e * g.dot(v);
    };
    EXPECT_GT(taylor_slope(remainder, 1e-3, 1e-14), 1.9) << label;
  });
}

TEST(MlpObjective, HessianVectorProductPassesTheSlopeCheckForEveryNetwork) {
  for_all_networks([](const auto& objective, const Vector& w, const Vector& v, const auto& label) {
    Vector g(w.size()), Hv(w.size()), moved(w.size());
    objective.gradient(w, g);
    objective.hessian_vector(w, v, Hv);
    const auto remainder = [&](double e) {
      objective.gradient(w + e * v, moved);
      return (moved - g - e * Hv).norm();
    };
    EXPECT_GT(taylor_slope(remainder, 1e-3, 1e-14), 1.9) << label;
    EXPECT_NEAR(objective.curvature(w, v), v.dot(Hv), 1e-12 * (1.0 + Hv.norm())) << label;
  });
}

TEST(MlpObjective, FloatAgreesWithDouble) {
  Random random(5);
  auto exact = random_problem<double>({6, 8, 7, 3}, "tanh", "cross_entropy", true, 5, random);
  const Eigen::MatrixXf X = exact.objective.inputs().topRows(6).cast<float>();
  const MlpObjective<float> rounded(exact.objective.network(), exact.objective.loss(), X,
                                    Targets<float>(exact.objective.targets().classes));
  Vector g(exact.w.size()), Hg(exact.w.size());
  const double loss = exact.objective.gradient(exact.w, g);
  exact.objective.hessian_vector(exact.w, g, Hg);
  const Eigen::VectorXf w = exact.w.cast<float>();
  Eigen::VectorXf single(w.size());
  EXPECT_NEAR(rounded.gradient(w, single), loss, 1e-6 * loss);
  EXPECT_LT((single.cast<double>() - g).norm(), 1e-5 * g.norm());
  Eigen::VectorXf product(w.size());
  rounded.hessian_vector(w, single, product);
  EXPECT_LT((product.cast<double>() - Hg).norm(), 1e-5 * Hg.norm());
}

TEST(MlpObjective, InPlaceStepEqualsThePlainOne) {
  Random random(3);
  for (const bool biases : {false, true}) {
    auto [objective, w] =
        random_problem<double>({6, 8, 7, 3}, "leaky_relu:0.1", "cross_entropy", biases, 5, random);
    Vector g(w.size()), moved = w;
    const double loss = objective.gradient(w, g);
    EXPECT_EQ(objective.gradient_step(moved, 0.3), loss);
    EXPECT_LT((moved - (w - 0.3 * g)).norm(), 1e-15 * w.norm());
    EXPECT_GT((moved - w).norm(), 1e-3);
  }
}

TEST(MlpObjective, AnotherBatchOfAnotherSizeReplacesTheFirst) {
  Random random(4);
  auto [objective, w] =
      random_problem<double>({5, 6, 4}, "tanh", "half_sum_squares", true, 3, random);
  const Matrix X = random.normal_matrix(5, 7), Y = random.normal_matrix(4, 7);
  const MlpObjective<double> fresh(objective.network(), objective.loss(), X, Y);
  Vector of_bound(w.size()), of_fresh(w.size());
  objective.hessian_vector(w, w, of_bound);
  objective.bind(X, Y);
  EXPECT_EQ(objective.gradient(w, of_bound), fresh.gradient(w, of_fresh));
  EXPECT_EQ(of_bound, of_fresh);
  objective.hessian_vector(w, w, of_bound);
  fresh.hessian_vector(w, w, of_fresh);
  EXPECT_EQ(of_bound, of_fresh);
}

TEST(MlpObjective, LossesOfSubsetsAddUp) {
  Random random(8);
  for (const char* loss : {"half_sum_squares:sum", "cross_entropy:sum"}) {
    auto [objective, w] = random_problem<double>({5, 6, 4}, "tanh", loss, true, 5, random);
    const double parts = objective.subset({4, 0}).value(w) + objective.subset({1, 2, 3}).value(w);
    EXPECT_NEAR(parts, objective.value(w), 1e-14 * parts) << loss;
  }
}

TEST(MlpObjective, AccuracyCountsTheLargestOutputs) {
  const Mlp network({2, 2}, Activation{});
  const Vector w{{1.0, 0.0, 0.0, 1.0}};  // the identity
  const Matrix X{{3.0, 0.0, 1.0, 2.0}, {1.0, 2.0, 4.0, 0.0}};
  const MlpObjective<double> objective(network, Loss::parse("cross_entropy"), X,
                                       Targets<double>(std::vector<int>{0, 1, 0, 0}));
  EXPECT_DOUBLE_EQ(objective.accuracy(w), 0.75);
}

TEST(MlpObjective, BadBatchesAreRefusedAndTheOldOneStays) {
  Random random(9);
  auto [objective, w] =
      random_problem<double>({5, 6, 4}, "tanh", "half_sum_squares", false, 3, random);
  const double before = objective.value(w);
  const Matrix Y = Matrix::Zero(4, 3);
  EXPECT_THROW(objective.bind(Matrix::Zero(4, 3), Y), InvalidArgument);
  EXPECT_THROW(objective.bind(Matrix::Zero(5, 0), Targets<double>(Matrix::Zero(4, 0))),
               InvalidArgument);
  EXPECT_THROW(objective.bind(Matrix::Constant(5, 3, INFINITY), Y), InvalidArgument);
  EXPECT_THROW(objective.bind(Matrix::Zero(5, 2), Y), InvalidArgument);
  EXPECT_EQ(objective.value(w), before);
  const MlpObjective<double> empty(objective.network(), objective.loss());
  EXPECT_THROW(empty.value(w), std::logic_error);
  EXPECT_THROW(Mlp({5}, Activation{}), InvalidArgument);
  EXPECT_THROW(Mlp({5, 0, 2}, Activation{}), InvalidArgument);
}

TEST(Mlp, ParametersHaveNamesAndAugmentedWeightsHoldTheBiases) {
  const Mlp network({3, 4, 2}, Activation::parse("relu"), true);
  EXPECT_EQ(network.parameters(), 3 * 4 + 4 + 4 * 2 + 2);
  Vector w = Vector::LinSpaced(network.parameters(), 0.0, 1.0);
  const auto b2 = ParameterLayout::view(network.layout().block("b2"), w.data());
  EXPECT_EQ(network.augmented(2, w.data()).col(4), b2.col(0));
  EXPECT_EQ(network.weights(1, w.data()),
            ParameterLayout::view(network.layout().block("W1"), w.data()));
}

TEST(Golden, LossGradientAndCurvatureOfTheOracleNetworks) {
  for (const auto& [json, objective, w] : testing::gl_cases()) {
    Vector g(w.size()), Hg(w.size());
    const double loss = objective.gradient(w, g);
    objective.hessian_vector(w, g, Hg);
    const double grad_sq = json.at("grad_sq"), gHg = json.at("gHg"), expected = json.at("loss");
    EXPECT_NEAR(loss, expected, golden_tolerance * expected);
    EXPECT_NEAR(g.squaredNorm(), grad_sq, golden_tolerance * grad_sq);
    EXPECT_NEAR(g.dot(Hg), gHg, golden_tolerance * gHg);
    EXPECT_NEAR(objective.curvature(w, g), gHg, golden_tolerance * gHg);
  }
}

TEST(Golden, RegressionCurvesOfGradientDescentAndAdaGrad) {
  const auto golden = testing::read_network_golden("mlp_regression.json");
  const Mlp network({5, 6, 7, 8}, Activation::parse("leaky_relu:0.1"));
  for (const auto& run : golden.at("runs")) {
    const MlpObjective<double> objective(network, Loss::parse("half_sum_squares:sum"),
                                         testing::golden_matrix(run.at("X")),
                                         Targets<double>(testing::golden_matrix(run.at("Y"))));
    for (const char* method : {"gd", "adagrad"}) {
      const auto& curve = run.at(method);
      const double rate = curve.at("lr");
      Vector w = testing::flatten(testing::golden_matrices(run.at("W")));
      Vector g(w.size()), squares = Vector::Zero(w.size());
      for (std::size_t step = 0; step < curve.at("loss").size(); ++step) {
        const double loss = curve["loss"][step], grad_sq = curve["grad_sq"][step];
        ASSERT_NEAR(objective.gradient(w, g), loss, curve_tolerance * loss) << method << step;
        ASSERT_NEAR(g.squaredNorm(), grad_sq, curve_tolerance * grad_sq) << method << step;
        if (std::string(method) == "gd") {
          w -= rate * g;
        } else {
          squares.array() += g.array().square();
          w.array() -= rate * g.array() / (squares.array().sqrt() + 1e-10);
        }
      }
    }
  }
}

}  // namespace
}  // namespace symport
