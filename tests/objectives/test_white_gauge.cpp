// SPDX-License-Identifier: MIT
#include "symport/objectives/white_gauge.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/dense.hpp"
#include "support/network_golden.hpp"
#include "support/numbers.hpp"
#include "support/white_steps.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/objectives/mlp_objective.hpp"
#include "symport/objectives/rosenbrock.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::golden_matrix;
using testing::no_memory;
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

/// u of a first step.
template <Real Scalar>
VectorOf<Scalar> direction_at(const BasicObjective<Scalar>& objective, const VectorOf<Scalar>& w,
                              const WhiteGaugeOptions& options) {
  VectorOf<Scalar> memory = no_memory(objective, options), u(w.size());
  objective.white_gauge()->white_direction(w, options, memory, u, nullptr);
  return u;
}

TEST(WhiteGauge, RoundTripsGiveTheGoldenWeights) {
  const nlohmann::json golden = read_network_golden("closed_form.json");
  ASSERT_EQ(golden.at("cases").size(), 5u);
  for (const auto& json : golden.at("cases")) {
    const MlpObjective<double> objective = objective_of(json);
    const auto& trip = json.at("round_trip");
    Vector w = flat(json);
    const double before = json.at("loss_before");
    EXPECT_NEAR(step_once<double>(objective, w, trip.at("theta"),
                                  {.damping = trip.at("damping").get<double>()}),
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
TEST(WhiteGauge, IsAStepInTheWhiteGaugeOfEachLayerThatComesBack) {
  constexpr double theta = 1e-3, damping = 0.3;
  for (const Case& c : cases) {
    const auto objective = random_objective<double>(c, Loss(Loss::Kind::half_sum_squares));
    const Mlp& network = objective.network();
    Random random(3);
    const Vector w = 0.5 * random.normal_matrix(objective.dimension(), 1);
    MlpStates<double> states;
    objective.backpropagate(w, states);
    Vector stepped = w;
    step_once<double>(objective, stepped, theta, {.damping = damping});
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

TEST(WhiteGauge, StepsAndPiecesAgree) {
  for (const GaugeKernel kernel : {GaugeKernel::batch, GaugeKernel::average}) {
    for (const GaugeLayers layers : {GaugeLayers::all, GaugeLayers::last}) {
      for (const Case& c : cases) {
        const auto objective = random_objective<double>(c, Loss(Loss::Kind::cross_entropy));
        Random random(3);
        const Vector w = random.normal_matrix(objective.dimension(), 1);
        const WhiteGaugeOptions options{.layers = layers, .kernel = kernel};
        const Vector u = direction_at<double>(objective, w, options);
        Vector stepped = w;
        step_once<double>(objective, stepped, 0.25, options);
        EXPECT_LE((w - 0.25 * u - stepped).norm(), tolerance::rounding * w.norm());
        Vector pieces(w.size()), again(w.size()), found(w.size()), gradient(w.size());
        Vector memory = no_memory<double>(objective, options), other = memory;
        objective.white_gauge()->white_ranges(
            w, options, memory,
            [&](Index first, In<double> range) { pieces.segment(first, range.size()) = range; });
        EXPECT_LE((pieces - u).norm(), tolerance::rounding * u.norm());
        Out<double> slope(found);
        objective.white_gauge()->white_direction(w, options, other, again, &slope);
        EXPECT_EQ(again, u);
        objective.gradient(w, gradient);
        EXPECT_EQ(found, gradient);
      }
    }
  }
}

// With a damping so large that the kernel does not matter, (K + lambda I)^-1 = 1/lambda: every
// layer's u is its own gradient, of the summed loss, over lambda.
/// Fewer samples than features and more, one batch after the other in one objective: nothing of a
/// batch is left for the next, and loss and gradient are those of the batch.
TEST(WhiteGauge, OfAnotherBatchIsThatOfANewObjective) {
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
      Vector memory = no_memory(reused, {}), u(w.size()), gradient(w.size());
      Out<double> slope(gradient);
      EXPECT_EQ(reused.white_gauge()->white_direction(w, {}, memory, u, &slope), loss);
      EXPECT_LE(testing::distance(gradient, expected), tolerance::rounding);
      EXPECT_EQ(u, direction_at<double>(fresh, w, {})) << samples;
    }
  }
}

TEST(WhiteGauge, MuchDampingLeavesTheGradient) {
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
    const Vector u = direction_at<double>(objective, w, {.damping = damping});
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

TEST(WhiteGauge, OfTheLastLayerLeavesTheOthersTheirGradient) {
  const auto objective =
      random_objective<double>({{5, 7, 3}, 4, true}, Loss(Loss::Kind::cross_entropy));
  const Mlp& network = objective.network();
  Random random(3);
  const Vector w = random.normal_matrix(objective.dimension(), 1);
  Vector gradient(w.size());
  objective.gradient(w, gradient);
  const Vector all = direction_at<double>(objective, w, {});
  const Vector last = direction_at<double>(objective, w, {.layers = GaugeLayers::last});
  const auto differ = [&](Index m, const Vector& a, const Vector& b) {
    const Matrix difference = network.augmented(m, a.data()) - network.augmented(m, b.data());
    return difference.norm() / a.norm();
  };
  EXPECT_LE(differ(1, last, gradient), tolerance::rounding);
  EXPECT_LE(differ(2, last, all), tolerance::rounding);
  EXPECT_GT(differ(2, last, gradient), 0.1);
}

// The first average is that of the batch; damping counts all d eigenvalues there, so the two agree
// where the batch has as many.
TEST(WhiteGauge, TheFirstAverageIsTheBatch) {
  const Case c{{5, 7, 3}, 12, true};
  const auto objective = random_objective<double>(c, Loss(Loss::Kind::cross_entropy));
  Random random(3);
  const Vector w = random.normal_matrix(objective.dimension(), 1);
  const Vector batch = direction_at<double>(objective, w, {.kernel = GaugeKernel::batch});
  const Vector average = direction_at<double>(objective, w, {.kernel = GaugeKernel::average});
  EXPECT_LE((batch - average).norm(), tolerance::accumulated * batch.norm());
}

// Against the running average written out, with a new inverse every third step: the step is at most
// that of (T4), and shorter by the factor of (T5) where it would move an output too far.
TEST(WhiteGauge, AnAverageIsThatOfTheBatchesSoFar) {
  const Mlp network({4, 3}, Activation(Activation::Kind::linear), true);
  MlpObjective<double> objective(network, Loss(Loss::Kind::half_sum_squares));
  const WhiteGaugeOptions options{
      .damping = 0.2, .kernel = GaugeKernel::average, .decay = 0.8, .refresh = 3};
  Random random(5);
  Vector w = random.normal_matrix(objective.dimension(), 1), memory = no_memory(objective, options);
  Matrix sum = Matrix::Zero(5, 5), inverse;
  double weight = 0.0;
  bool shortened = false;
  for (int t = 0; t < 8; ++t) {
    const Index n = 2 + t % 3;
    const Matrix X = random.normal_matrix(4, n), Y = random.normal_matrix(3, n);
    objective.bind(X, Targets<double>(Y));
    const Matrix h = objective.inputs();
    sum = 0.8 * sum + 0.2 * h * h.transpose() / static_cast<double>(n);
    weight = 0.8 * weight + 0.2;
    const Matrix A = sum / weight;
    if (t % 3 == 0) inverse = symport::inverse(A + 0.2 * A.trace() / 5 * Matrix::Identity(5, 5));
    const Matrix kernel = h.transpose() * inverse * h / static_cast<double>(n);
    const double move = symmetric_eigen(kernel).values.maxCoeff();
    shortened = shortened || move > 1.1;
    const Matrix delta = objective.outputs(w) - Y;
    const Matrix expected =
        delta * h.transpose() / static_cast<double>(n) * inverse / std::max(1.0, move);
    Vector u(w.size());
    objective.white_gauge()->white_direction(w, options, memory, u, nullptr);
    // The largest eigenvalue comes from a few steps of the power method, a bound from below.
    const Matrix found = network.augmented(1, u.data());
    const double longer = found.norm() / expected.norm();
    EXPECT_GE(longer, 1.0 - tolerance::rounding);
    EXPECT_LE(longer, 1.25);
    EXPECT_LE((found - longer * expected).norm(), tolerance::accumulated * found.norm());
    w -= 0.1 * u;
  }
  EXPECT_TRUE(shortened);
}

TEST(WhiteGauge, ARunningAverageGoesOnFromItsMemory) {
  const auto objective =
      random_objective<float>({{5, 7, 3}, 4, true}, Loss(Loss::Kind::cross_entropy));
  const WhiteGauge<float>& gauge = *objective.white_gauge();
  Random random(3);
  VectorOf<float> w = random.normal_matrix(objective.dimension(), 1).cast<float>();
  const WhiteGaugeOptions options{.kernel = GaugeKernel::average, .refresh = 3};
  VectorOf<float> memory = no_memory<float>(objective, options);
  for (int t = 0; t < 4; ++t) gauge.white_step(w, 0.1, options, memory);
  VectorOf<float> other = w, copy = memory;
  const auto again = objective.subset({0, 1, 2, 3});
  for (int t = 0; t < 4; ++t) {
    gauge.white_step(w, 0.1, options, memory);
    again.white_gauge()->white_step(other, 0.1, options, copy);
  }
  EXPECT_EQ(w, other);
}

// With only the last layer's weights stepping, theta = 1 and no damping: the residual is gone.
TEST(WhiteGauge, AFullStepOfTheLastLayerIsNewtonsForSquares) {
  const auto objective =
      random_objective<double>({{5, 7, 3}, 4, false}, Loss(Loss::Kind::half_sum_squares));
  const Mlp& network = objective.network();
  Random random(3);
  const Vector w = random.normal_matrix(objective.dimension(), 1);
  const Vector u = direction_at<double>(objective, w, {.damping = 0.0});
  Vector stepped = w;
  network.augmented(2, stepped.data()) -= network.augmented(2, u.data());
  EXPECT_LE(objective.value(stepped), 1e-20 * objective.value(w));
}

// With all layers stepping, what a step of theta leaves of Newton's on the outputs is of second
// order: L(w - theta u) = L - theta <dL/dw, u> + O(theta^2), and one layer's share is exact.
TEST(WhiteGauge, TheRemainderOfAllLayersFallsWithTheta) {
  const auto objective =
      random_objective<double>({{5, 7, 6, 3}, 4, false}, Loss(Loss::Kind::half_sum_squares));
  Random random(3);
  const Vector w = random.normal_matrix(objective.dimension(), 1);
  const Vector u = direction_at<double>(objective, w, {.damping = 0.0});
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

TEST(WhiteGauge, ThetaHasNoUnit) {
  // The same data and loss in other units: the relative change of the loss is the same.
  const Case c{{5, 7, 3}, 4, false};
  const auto relative_change = [&](Loss::Kind kind, Loss::Reduction reduction) {
    const auto objective = random_objective<double>(c, Loss(kind, reduction));
    Random random(3);
    Vector w = random.normal_matrix(objective.dimension(), 1);
    const double before = objective.value(w);
    step_once<double>(objective, w, objective.white_gauge()->usual().theta, {});
    return objective.value(w) / before;
  };
  const double expected = relative_change(Loss::Kind::half_sum_squares, Loss::Reduction::sum);
  for (const auto kind : {Loss::Kind::half_sum_squares, Loss::Kind::mean_squares}) {
    for (const auto reduction : {Loss::Reduction::sum, Loss::Reduction::mean}) {
      EXPECT_NEAR(relative_change(kind, reduction), expected, tolerance::rounding);
    }
  }
}

TEST(WhiteGauge, NothingIsRefusedOrInfinite) {
  // All-zero features, dead units, equal samples, one sample.
  for (const Index samples : {1, 3, 20}) {
    for (const double scale : {0.0, 1e-20, 1.0, 1e12}) {
      const Mlp network({6, 4, 3}, Activation(Activation::Kind::relu), false);
      MatrixOf<float> X = MatrixOf<float>::Zero(6, samples);
      X.row(2).setConstant(static_cast<float>(scale));
      std::vector<int> classes(static_cast<std::size_t>(samples), 1);
      const MlpObjective<float> objective(network, Loss(Loss::Kind::cross_entropy), X, classes);
      for (const GaugeKernel kernel : {GaugeKernel::batch, GaugeKernel::average}) {
        VectorOf<float> w = VectorOf<float>::Constant(objective.dimension(), -0.5f);
        network.weights(2, w.data()).setConstant(0.25f);
        const WhiteGaugeOptions options{.damping = 0.0, .kernel = kernel};
        VectorOf<float> memory = no_memory<float>(objective, options);
        for (int t = 0; t < 3; ++t) objective.white_gauge()->white_step(w, 1.0, options, memory);
        EXPECT_TRUE(w.allFinite()) << samples << " samples, scale " << scale;
      }
    }
  }
}

TEST(WhiteGauge, OptionsOutOfRangeAreRefused) {
  const auto objective =
      random_objective<double>({{5, 7, 3}, 4, false}, Loss(Loss::Kind::half_sum_squares));
  const WhiteGauge<double>& gauge = *objective.white_gauge();
  EXPECT_THROW(gauge.memory_size({.damping = -0.1}), InvalidArgument);
  EXPECT_THROW(gauge.memory_size({.damping = std::nan("")}), InvalidArgument);
  EXPECT_THROW(gauge.memory_size({.decay = 1.0}), InvalidArgument);
  EXPECT_THROW(gauge.memory_size({.refresh = 0}), InvalidArgument);
  EXPECT_EQ(Rosenbrock().white_gauge(), nullptr);
  EXPECT_EQ(CountingObjective<double>(objective).white_gauge(), &gauge);
}

}  // namespace
}  // namespace symport
