// SPDX-License-Identifier: MIT
#include "symport/optimizers/metric_round_trip.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/dense.hpp"
#include "support/metric_steps.hpp"
#include "support/network_golden.hpp"
#include "support/numbers.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/objectives/matrix_factorization.hpp"
#include "symport/objectives/mlp_objective.hpp"
#include "symport/objectives/rosenbrock.hpp"
#include "symport/training/train.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::direction_at;
using testing::golden_matrix;
using testing::read_network_golden;
using testing::step_once;

/// [W_m b_m] of a golden case as a flat vector.
Vector flat(const nlohmann::json& at) {
  std::vector<double> all;
  const auto append = [&](const Matrix& A) {
    all.insert(all.end(), A.data(), A.data() + A.size());
  };
  for (std::size_t m = 0; m < at.at("W").size(); ++m) {
    append(golden_matrix(at.at("W")[m]));
    if (at.at("b").is_null()) continue;
    for (const double b : at.at("b")[m]) all.push_back(b);
  }
  return Eigen::Map<const Vector>(all.data(), static_cast<Index>(all.size()));
}

MlpObjective<double> objective_of(const nlohmann::json& json) {
  std::vector<Index> widths;
  for (const Index d : json.at("dims")) widths.push_back(d);
  const bool squares = json.at("loss") == "squares";
  const Loss loss(squares ? Loss::Kind::half_sum_squares : Loss::Kind::cross_entropy);
  Targets<double> targets;
  if (squares) {
    targets = golden_matrix(json.at("Y"));
  } else {
    targets = json.at("Y").get<std::vector<int>>();
  }
  return {Mlp(widths, Activation(Activation::Kind::leaky_relu), !json.at("b").is_null()), loss,
          golden_matrix(json.at("X")), targets};
}

TEST(MetricRoundTrip, RoundTripsGiveTheGoldenWeights) {
  const nlohmann::json golden = read_network_golden("closed_form.json");
  ASSERT_EQ(golden.at("cases").size(), 5u);
  for (const auto& json : golden.at("cases")) {
    const MlpObjective<double> objective = objective_of(json);
    const auto& trip = json.at("round_trip");
    Vector w = flat(json);
    const double before = json.at("loss_before");
    EXPECT_NEAR(step_once<double>(objective, w, trip.at("theta"), trip.at("damping").get<double>()),
                before, tolerance::rounding * before);
    const Vector expected = flat(trip);
    EXPECT_LE((w - expected).norm(), tolerance::golden_trajectory * expected.norm());
    const double after = trip.at("loss");
    EXPECT_NEAR(objective.value(w), after, tolerance::golden_trajectory * after);
  }
}

struct Case {
  std::vector<Index> widths;
  Index samples;
  bool biases;
};

/// A random network on random data; the batch is smaller than, as large as and larger than layers.
template <Real Scalar>
MlpObjective<Scalar> random_objective(const Case& c, Loss loss) {
  Random random(7);
  const MatrixOf<Scalar> X = random.normal_matrix(c.widths.front(), c.samples).cast<Scalar>();
  Targets<Scalar> targets;
  if (loss.categorical()) {
    std::vector<int> classes;
    for (Index j = 0; j < c.samples; ++j) classes.push_back(static_cast<int>(j % c.widths.back()));
    targets = classes;
  } else {
    targets = MatrixOf<Scalar>(random.normal_matrix(c.widths.back(), c.samples).cast<Scalar>());
  }
  return {Mlp(c.widths, Activation(Activation::Kind::leaky_relu), c.biases), loss, X, targets};
}

const std::vector<Case> cases = {
    {{5, 7, 3}, 4, false}, {{5, 7, 3}, 5, true}, {{4, 3, 6, 2}, 9, true}, {{3, 1, 2}, 1, true}};

// Against the definition by finite elements: with g = (h h' + lambda I)^(-1/2) the layer's weights
// in the gauge are W g^-1, a gradient step there is taken by differences of the loss, and g leads
// back.
TEST(MetricRoundTrip, IsAStepInTheWhiteGaugeOfEachLayerThatComesBack) {
  constexpr double theta = 1e-3, damping = 0.3;
  for (const Case& c : cases) {
    const auto objective = random_objective<double>(c, Loss(Loss::Kind::half_sum_squares));
    const Mlp& network = objective.network();
    Random random(3);
    const Vector w = 0.5 * random.normal_matrix(objective.dimension(), 1);
    MlpStates<double> states;
    objective.backpropagate(w, states);
    Vector stepped = w;
    step_once<double>(objective, stepped, theta, damping);
    for (Index m = 1; m <= network.layers(); ++m) {
      const Matrix h = objective.h(m - 1, states);
      const Index d = h.rows();
      const double lambda = damping * h.squaredNorm() / static_cast<double>(std::min(d, h.cols()));
      const SymmetricEigen eigen = symmetric_eigen(h * h.transpose());
      const Vector roots = (eigen.values.array() + lambda).sqrt();
      const Matrix g =
          eigen.vectors * roots.cwiseInverse().asDiagonal() * eigen.vectors.transpose();
      const Matrix back = eigen.vectors * roots.asDiagonal() * eigen.vectors.transpose();
      const Matrix moved = Matrix(network.augmented(m, w.data())) * back;
      Matrix there = moved;
      for (Index i = 0; i < there.size(); ++i) {
        const auto loss_at = [&](double x) {
          Matrix changed = moved;
          changed.data()[i] = x;
          Vector v = w;
          network.augmented(m, v.data()) = changed * g;
          return objective.value(v);
        };
        const double x = moved.data()[i], e = 1e-5;
        there.data()[i] = x - theta * (loss_at(x + e) - loss_at(x - e)) / (2 * e);
      }
      const Matrix expected = there * g;
      const Matrix got = network.augmented(m, stepped.data());
      const Matrix start = network.augmented(m, w.data());
      EXPECT_LE((got - expected).norm(), 1e-6 * (expected - start).norm()) << "layer " << m;
    }
  }
}

/// Fewer samples than features and more, one batch after the other in one objective: nothing of a
/// batch is left for the next, and loss and gradient are those of the batch.
TEST(MetricRoundTrip, OfAnotherBatchIsThatOfANewObjective) {
  Random random(31);
  const Mlp network({5, 4, 3}, Activation::parse("leaky_relu"), true);
  MlpObjective<double> reused(network, Loss::parse("half_sum_squares"));
  const Vector w = random.normal_matrix(network.parameters(), 1);
  for (const Index samples : {9, 9, 3, 3, 12}) {
    const Matrix X = random.normal_matrix(5, samples), Y = random.normal_matrix(3, samples);
    reused.bind(X, Targets<double>(Y));
    const MlpObjective<double> fresh(network, reused.loss(), X, Targets<double>(Y));
    Vector expected(w.size());
    const double loss = fresh.gradient(w, expected);
    for (int time = 0; time < 2; ++time) {  // the second time from what is kept
      MeasuredPoint<double> here;
      testing::unchecked_trip<double>().measure(reused, w, here);
      EXPECT_EQ(here.loss, loss);
      EXPECT_LE(testing::distance(here.gradient, expected), tolerance::rounding);
      EXPECT_EQ(direction_at<double>(reused, w), direction_at<double>(fresh, w)) << samples;
    }
  }
}

// With a damping so large that the kernel does not matter, (K + lambda I)^-1 = 1/lambda: every
// layer's u is its own gradient, of the summed loss, over lambda.
TEST(MetricRoundTrip, MuchDampingLeavesTheGradient) {
  for (const Case& c : cases) {
    const auto objective = random_objective<double>(c, Loss(Loss::Kind::cross_entropy));
    const Mlp& network = objective.network();
    Random random(3);
    const Vector w = random.normal_matrix(objective.dimension(), 1);
    Vector gradient(w.size());
    objective.gradient(w, gradient);
    MlpStates<double> states;
    objective.forward(w, states);
    constexpr double damping = 1e12;
    const Vector u = direction_at<double>(objective, w, damping);
    for (Index m = 1; m <= network.layers(); ++m) {
      const Matrix h = objective.h(m - 1, states);
      const double lambda =
          damping * h.squaredNorm() / static_cast<double>(std::min(h.rows(), h.cols()));
      const Matrix expected =
          static_cast<double>(c.samples) / lambda * Matrix(network.augmented(m, gradient.data()));
      const Matrix found = network.augmented(m, u.data());
      EXPECT_LE((found - expected).norm(), tolerance::accumulated * expected.norm());
    }
  }
}

// With only the last layer's weights stepping, theta = 1 and no damping: the residual is gone.
TEST(MetricRoundTrip, AFullStepOfTheLastLayerIsNewtonsForSquares) {
  const auto objective =
      random_objective<double>({{5, 7, 3}, 4, false}, Loss(Loss::Kind::half_sum_squares));
  const Mlp& network = objective.network();
  Random random(3);
  const Vector w = random.normal_matrix(objective.dimension(), 1);
  const Vector u = direction_at<double>(objective, w, 0.0);
  Vector stepped = w;
  network.augmented(2, stepped.data()) -= network.augmented(2, u.data());
  EXPECT_LE(objective.value(stepped), 1e-20 * objective.value(w));
}

// With all layers stepping, what a step of theta leaves of Newton's on the outputs is of second
// order: L(w - theta u) = L - theta <dL/dw, u> + O(theta^2), and one layer's share is exact.
TEST(MetricRoundTrip, TheRemainderOfAllLayersFallsWithTheta) {
  const auto objective =
      random_objective<double>({{5, 7, 6, 3}, 4, false}, Loss(Loss::Kind::half_sum_squares));
  Random random(3);
  const Vector w = random.normal_matrix(objective.dimension(), 1);
  const Vector u = direction_at<double>(objective, w, 0.0);
  const Matrix Z = objective.outputs(w);
  MlpStates<double> states;
  objective.backpropagate(w, states);
  // dZ/dtheta: each layer's own part, to which the last adds -delta_p.
  constexpr double e = 1e-5;
  const Matrix slope = (objective.outputs(w - e * u) - objective.outputs(w + e * u)) / (2 * e);
  const auto remainder = [&](double theta) {
    return (objective.outputs(w - theta * u) - Z - theta * slope).norm();
  };
  const double order = std::log2(remainder(1e-3) / remainder(5e-4));
  EXPECT_NEAR(order, 2.0, 0.05);
  Vector last = Vector::Zero(w.size());
  const Mlp& network = objective.network();
  network.augmented(3, last.data()) = network.augmented(3, u.data());
  const Matrix moved = objective.outputs(w - 0.5 * last) - Z;
  EXPECT_LE((moved + 0.5 * states.delta[3]).norm(), 1e-8 * states.delta[3].norm());
}

TEST(MetricRoundTrip, ThetaHasNoUnit) {
  // The same data and loss in other units: the relative change of the loss is the same.
  const Case c{{5, 7, 3}, 4, false};
  const auto relative_change = [&](Loss::Kind kind, Loss::Reduction reduction) {
    const auto objective = random_objective<double>(c, Loss(kind, reduction));
    Random random(3);
    Vector w = random.normal_matrix(objective.dimension(), 1);
    const double before = objective.value(w);
    step_once<double>(objective, w, testing::unchecked_trip<double>().usual_rate(objective));
    return objective.value(w) / before;
  };
  const double expected = relative_change(Loss::Kind::half_sum_squares, Loss::Reduction::sum);
  for (const auto kind : {Loss::Kind::half_sum_squares, Loss::Kind::mean_squares}) {
    for (const auto reduction : {Loss::Reduction::sum, Loss::Reduction::mean}) {
      EXPECT_NEAR(relative_change(kind, reduction), expected, tolerance::rounding);
    }
  }
}

TEST(MetricRoundTrip, NothingIsRefusedOrInfinite) {
  // All-zero features, dead units, equal samples, one sample.
  for (const Index samples : {1, 3, 20}) {
    for (const double scale : {0.0, 1e-20, 1.0, 1e12}) {
      const Mlp network({6, 4, 3}, Activation(Activation::Kind::relu), false);
      MatrixOf<float> X = MatrixOf<float>::Zero(6, samples);
      X.row(2).setConstant(static_cast<float>(scale));
      std::vector<int> classes(static_cast<std::size_t>(samples), 1);
      const MlpObjective<float> objective(network, Loss(Loss::Kind::cross_entropy), X, classes);
      const auto trip = testing::unchecked_trip<float>(0.0);
      VectorOf<float> w = VectorOf<float>::Constant(objective.dimension(), -0.5f);
      network.weights(2, w.data()).setConstant(0.25f);
      OptimizerState<float> state = trip.init(w.size());
      for (int t = 0; t < 3; ++t) trip.minibatch_step(objective, 1.0, state, w);
      EXPECT_TRUE(w.allFinite()) << samples << " samples, scale " << scale;
    }
  }
}

// ScaledGD in its own words: U - eta G_U (V V')^-1 and V - eta (U'U)^-1 G_V.
TEST(MetricRoundTrip, OfAFactorPairIsScaledGradientDescent) {
  const auto objective = MatrixFactorization::random(6, 5, 3, 1);
  Random random(2);
  const Vector w = random.normal_matrix(objective.dimension(), 1);
  Vector gradient(w.size());
  objective.gradient(w, gradient);
  Vector expected = w;
  Out<double> out(expected);
  const Matrix U = objective.U(w), V = objective.V(w);
  objective.U(out) -=
      0.25 * solve(V * V.transpose(), objective.U(In<double>(gradient)).transpose()).transpose();
  objective.V(out) -= 0.25 * solve(U.transpose() * U, objective.V(In<double>(gradient)));
  Vector stepped = w;
  step_once<double>(objective, stepped, 0.25, 0.0);
  EXPECT_LE((stepped - expected).norm(), tolerance::golden_trajectory * expected.norm());
}

// A round trip in full: there by an element g of GL(r), a gradient step, and back. The gauge for U
// is V V' = I, that for V is U'U = I.
TEST(MetricRoundTrip, OfAFactorPairIsAStepThatComesBack) {
  const auto objective = MatrixFactorization::random(6, 5, 3, 1);
  Random random(2);
  const Vector w = random.normal_matrix(objective.dimension(), 1);
  const Matrix U = objective.U(w), V = objective.V(w);
  const auto trip = [&](const Matrix& g, bool first) {
    // (U, V) -> (U g, g^-1 V) and back, one factor stepping.
    Vector there(w.size()), gradient(w.size());
    Out<double> out(there), slope(gradient);
    objective.U(out) = U * g;
    objective.V(out) = inverse(g) * V;
    objective.gradient(there, gradient);
    return first ? Matrix((U * g - 0.25 * objective.U(slope)) * inverse(g))
                 : Matrix(g * (inverse(g) * V - 0.25 * objective.V(slope)));
  };
  const SymmetricEigen of_V = symmetric_eigen(V * V.transpose());
  const SymmetricEigen of_U = symmetric_eigen(U.transpose() * U);
  // g^-1 V V' g^-T = I for g = (V V')^(1/2); g'U'U g = I for g = (U'U)^(-1/2).
  const Matrix white_V =
      of_V.vectors * of_V.values.cwiseSqrt().asDiagonal() * of_V.vectors.transpose();
  const Matrix white_U =
      of_U.vectors * of_U.values.cwiseSqrt().cwiseInverse().asDiagonal() * of_U.vectors.transpose();
  Vector stepped = w;
  step_once<double>(objective, stepped, 0.25, 0.0);
  EXPECT_LE((objective.U(stepped) - trip(white_V, true)).norm(), tolerance::accumulated * U.norm());
  EXPECT_LE((objective.V(stepped) - trip(white_U, false)).norm(),
            tolerance::accumulated * V.norm());
}

TEST(MetricRoundTrip, AFactorThatIsZeroStepsAloneAtFirst) {
  const auto objective = MatrixFactorization::random(6, 5, 3, 1);
  const auto trip = testing::unchecked_trip<double>();
  Random random(2);
  Vector w = random.normal_matrix(objective.dimension(), 1);
  Out<double> out(w);
  objective.U(out).setZero();
  const Matrix V = objective.V(w);
  OptimizerState<double> state = trip.init(w.size());
  const auto step = [&] {
    MeasuredPoint<double> here;
    trip.measure(objective, w, here);
    trip.step(objective, here, 0.25, state, w);
  };
  step();
  EXPECT_EQ(Matrix(objective.V(w)), V);
  EXPECT_GT(objective.U(w).norm(), 0.0);
  for (int t = 0; t < 60; ++t) step();
  EXPECT_LT(objective.value(w), 1e-9);
}

TEST(MetricRoundTrip, OfAFactorPairDoesNotMindTheCondition) {
  for (const double condition : {1.0, 1e2, 1e4}) {
    const auto objective = MatrixFactorization::conditioned(40, 30, 5, condition, 0);
    const SingularValues svd = singular_values(objective.Y());
    EXPECT_NEAR(svd.values[0] / svd.values[4], condition, 1e-9 * condition);
    Vector w = objective.start();
    const RunSummary run =
        train<double>(objective, testing::unchecked_trip<double>(), w,
                      {.max_steps = 1000, .learning_rate = 0.25, .stop = {.loss_below = 1e-9}});
    EXPECT_LE(run.steps, 60) << "condition " << condition;
  }
}

}  // namespace
}  // namespace symport
