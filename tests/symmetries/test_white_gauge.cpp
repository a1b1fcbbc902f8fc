// SPDX-License-Identifier: MIT
// The white gauge as a move: against golden numbers, and what theory says of it.
#include <gtest/gtest.h>

#include <cmath>

#include "core/dense.hpp"
#include "support/network_golden.hpp"
#include "support/networks.hpp"
#include "symmetries/general_linear_orbit.hpp"
#include "symmetries/scale_model.hpp"
#include "symmetries/white_map.hpp"
#include "symport/symmetries/factor_pair.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::golden_matrix, testing::random_matrix, testing::random_problem;

template <class Scalar>
GeneralLinearOrbit<Scalar>& gl(OrbitOrReason<Scalar>& orbit) {
  return dynamic_cast<GeneralLinearOrbit<Scalar>&>(*orbit);
}

double relative(const Matrix& a, const Matrix& b) { return (a - b).norm() / b.norm(); }

template <class Scalar>
Matrix dense(const LowRankElement<Scalar>& g, Index order) {
  MatrixOf<Scalar> all = MatrixOf<Scalar>::Identity(order, order);
  g.apply(all);
  return all.template cast<double>();
}

// Samples below, at and above the width, in both precisions, against a singular value
// decomposition.
template <class Scalar>
void expect_white_maps(double tolerance) {
  Random random(3);
  for (const auto& [d, n] : std::vector<std::pair<Index, Index>>{{7, 3}, {6, 6}, {5, 9}, {1, 4}}) {
    SCOPED_TRACE(::testing::Message() << d << " x " << n);
    const MatrixOf<Scalar> h = random_matrix<Scalar>(d, n, random);
    const Matrix states = h.template cast<double>();
    const SingularValues svd = singular_values(states);
    for (const double damping : {0.0, 0.3}) {
      const auto g = white_map<Scalar>(h, {.damping = damping});
      ASSERT_TRUE(g.invertible());
      const Vector squares = svd.values.cwiseAbs2();
      const Vector gains = (squares.array() + damping * squares.mean()).rsqrt();
      const double rest = std::exp(gains.array().log().mean());
      const Matrix& U = svd.U;
      const Matrix expected = U * gains.asDiagonal() * U.transpose() +
                              rest * (Matrix::Identity(d, d) - U * U.transpose());
      EXPECT_LE(relative(dense(g, d), expected), tolerance);
      if (damping == 0.0) {
        const Matrix white = dense(g, d) * states;
        const Index order = std::min(d, n);
        const Matrix gram =
            n <= d ? Matrix(white.transpose() * white) : Matrix(white * white.transpose());
        EXPECT_LE((gram - Matrix::Identity(order, order)).norm(), tolerance);
      }
      MatrixOf<Scalar> there_and_back = h;
      g.apply(there_and_back);
      g.apply_inverse(there_and_back);
      EXPECT_LE(relative(there_and_back.template cast<double>(), states), tolerance);
    }
  }
}

TEST(WhiteMap, AgreesWithTheSingularValues) {
  expect_white_maps<double>(tolerance::accumulated);
  expect_white_maps<float>(1e-4);
}

TEST(WhiteMap, LivesWithDependentAndZeroStates) {
  Random random(4);
  Matrix h = random_matrix<double>(6, 4, random);
  h.col(3) = h.col(0);
  h.row(2).setZero();
  const auto g = white_map<double>(h, {.floor = 1e-10});
  ASSERT_TRUE(g.invertible());
  const Vector singular = singular_values(dense(g, 6) * h).values;
  EXPECT_NEAR(singular[0], 1.0, 1e-6);
  EXPECT_NEAR(singular[2], 1.0, 1e-6);
  EXPECT_LE(singular[3], 1e-6);
  EXPECT_TRUE(white_map<double>(Matrix::Zero(6, 4), {}).identity());
}

/// One entry of closed_form.json, in a precision.
template <class Scalar>
struct GoldenCase {
  nlohmann::json json;
  MlpObjective<Scalar> objective;
  VectorOf<Scalar> w;

  static VectorOf<Scalar> weights(const Mlp& network, const nlohmann::json& W,
                                  const nlohmann::json& b) {
    VectorOf<Scalar> w(network.parameters());
    for (Index m = 1; m <= network.layers(); ++m) {
      const std::size_t at = static_cast<std::size_t>(m - 1);
      network.weights(m, w.data()) = golden_matrix(W.at(at)).template cast<Scalar>();
      if (!network.biases()) continue;
      for (Index i = 0; i < network.width(m); ++i) {
        network.augmented(m, w.data())(i, network.width(m - 1)) =
            static_cast<Scalar>(b.at(at).at(static_cast<std::size_t>(i)).template get<double>());
      }
    }
    return w;
  }

  explicit GoldenCase(const nlohmann::json& given)
      : json(given),
        objective(Mlp(given.at("dims").get<std::vector<Index>>(),
                      Activation::parse("leaky_relu:0.1"), !given.at("b").is_null()),
                  Loss::parse(given.at("loss") == "squares" ? "half_sum_squares:sum"
                                                            : "cross_entropy:mean"),
                  golden_matrix(given.at("X")).template cast<Scalar>(), targets(given)),
        w(weights(objective.network(), given.at("W"), given.at("b"))) {}

  static Targets<Scalar> targets(const nlohmann::json& given) {
    if (given.at("loss") != "squares") return given.at("Y").get<std::vector<int>>();
    return MatrixOf<Scalar>(golden_matrix(given.at("Y")).template cast<Scalar>());
  }
};

/// Weights, losses and gradients at most `tolerance` away; the loss after the step, which is a
/// difference of far larger numbers, relative to the loss before where it is tiny.
template <class Scalar>
void expect_golden_destinations(double tolerance, double after_step) {
  const auto file = testing::read_network_golden("closed_form.json");
  for (const auto& json : file.at("cases")) {
    SCOPED_TRACE(json.at("dims").dump() + " " + json.at("loss").get<std::string>());
    const GoldenCase<Scalar> golden(json);
    const Mlp& network = golden.objective.network();
    const GeneralLinear<Scalar> symmetry;
    OrbitOrReason<Scalar> orbit = symmetry.orbit(golden.objective, golden.w);
    ASSERT_TRUE(orbit) << orbit.reason();
    ASSERT_TRUE(gl(orbit).go_white(json.at("scales").get<std::vector<double>>(),
                                   {.damping = json.at("damping").get<double>()}));
    VectorOf<Scalar> w(golden.w.size()), gradient(golden.w.size());
    orbit->commit(w);
    const auto& there = json.at("destination");
    const VectorOf<Scalar> expected =
        GoldenCase<Scalar>::weights(network, there.at("W"), there.at("b"));
    const double before = json.at("loss_before").get<double>();
    EXPECT_NEAR(golden.objective.gradient(w, gradient), before, tolerance * before);
    for (Index m = 1; m <= network.layers(); ++m) {
      EXPECT_LE(relative(network.augmented(m, w.data()).template cast<double>(),
                         network.augmented(m, expected.data()).template cast<double>()),
                tolerance)
          << "layer " << m;
      const double squared = there.at("squared_gradient_by_layer")
                                 .at(static_cast<std::size_t>(m - 1))
                                 .template get<double>();
      EXPECT_NEAR(network.weights(m, gradient.data()).template cast<double>().squaredNorm(),
                  squared, tolerance * squared)
          << "layer " << m;
    }
    w -= static_cast<Scalar>(json.at("learning_rate").get<double>()) * gradient;
    const double next = json.at("loss_after_one_step").get<double>();
    EXPECT_NEAR(golden.objective.value(w), next, std::max(tolerance * next, after_step * before));
    // What the orbit says of the point is what the point is.
    VectorOf<Scalar> curved(w.size());
    orbit->commit(w);
    golden.objective.hessian_vector(w, gradient, curved);
    const double J = gradient.template cast<double>().squaredNorm();
    const double Phi = gradient.template cast<double>().dot(curved.template cast<double>());
    EXPECT_NEAR(orbit->grad_sq(), J, tolerance * J);
    EXPECT_NEAR(orbit->curvature(), Phi, tolerance * std::abs(Phi));
  }
}

TEST(WhiteGauge, GoldenDestinations) {
  expect_golden_destinations<double>(1e-8, 0.0);
  expect_golden_destinations<float>(5e-3, 1e-4);
}

// Theory: with only the last layer's weights stepping, one step is Newton's on the outputs.
TEST(WhiteGauge, TheLastLayersStepIsNewtonsOnTheOutputs) {
  Random random(7);
  for (const char* activation : {"leaky_relu:0.1", "asinh", "linear"}) {
    const auto problem =
        random_problem<double>({6, 8, 7, 3}, activation, "half_sum_squares", false, 5, random);
    const Mlp& network = problem.objective.network();
    // Not small: asinh takes c to e^c.
    const double eta = 0.1, c = 1.0 / std::sqrt(eta);
    const GeneralLinear<double> symmetry;
    OrbitOrReason<double> orbit = symmetry.orbit(problem.objective, problem.w);
    ASSERT_TRUE(gl(orbit).go_white({1.0, c}, {}));
    Vector w(problem.w.size()), gradient(w.size());
    orbit->commit(w);
    const double loss = problem.objective.gradient(w, gradient);
    network.weights(3, w.data()) -= eta * network.weights(3, std::as_const(gradient).data());
    EXPECT_LE(problem.objective.value(w), tolerance::rounding * tolerance::rounding * loss);
  }
}

// More samples than units in the last hidden layer: one step ends at the least-squares solution.
TEST(WhiteGauge, TheLastLayersStepIsTheLeastSquaresSolution) {
  Random random(8);
  const auto problem = random_problem<double>({20, 22, 6, 3}, "leaky_relu:0.1", "half_sum_squares",
                                              false, 15, random);
  const Mlp& network = problem.objective.network();
  const double eta = 1e-3, c = 1.0 / std::sqrt(eta);
  const GeneralLinear<double> symmetry;
  OrbitOrReason<double> orbit = symmetry.orbit(problem.objective, problem.w);
  ASSERT_TRUE(orbit) << orbit.reason();
  ASSERT_TRUE(gl(orbit).go_white({1.0, c}, {}));
  Vector w(problem.w.size()), gradient(w.size());
  orbit->commit(w);
  problem.objective.gradient(w, gradient);
  network.weights(3, w.data()) -= eta * network.weights(3, std::as_const(gradient).data());
  MlpStates<double> states;
  problem.objective.forward(problem.w, states);
  const Matrix h = states.h[2].transpose();
  const Matrix Y = problem.objective.targets().values.transpose();
  const Matrix best = pseudo_inverse(h) * Y;
  const double least = 0.5 * (h * best - Y).squaredNorm();
  EXPECT_NEAR(problem.objective.value(w), least, tolerance::accumulated * least);
}

// With all layers stepping, what is left falls with the learning rate: by eta^(3/2) in the outputs
// for three layers and scales in equal ratios.
TEST(WhiteGauge, TheRemainderFallsWithTheLearningRate) {
  Random random(9);
  for (int trial = 0; trial < 5; ++trial) {
    const auto problem =
        random_problem<double>({6, 8, 7, 3}, "linear", "half_sum_squares", false, 5, random);
    const GeneralLinear<double> symmetry;
    std::vector<double> left;
    for (const double eta : {1e-4, 1e-5, 1e-6}) {
      const double c = 1.0 / std::sqrt(eta);
      OrbitOrReason<double> orbit = symmetry.orbit(problem.objective, problem.w);
      ASSERT_TRUE(gl(orbit).go_white({std::sqrt(c), c}, {}));
      Vector w(problem.w.size()), gradient(w.size());
      orbit->commit(w);
      problem.objective.gradient(w, gradient);
      w -= eta * gradient;
      left.push_back(std::sqrt(problem.objective.value(w)));
    }
    const double slope = std::log10(left[0] / left[2]) / 2.0;
    EXPECT_NEAR(slope, 1.5, 0.1) << left[0] << " " << left[1] << " " << left[2];
  }
}

// Theory: rescaling layers redistributes a learning rate; the product of the factors is 1.
TEST(WhiteGauge, TheEffectiveRatesOfRescaledLayersMultiplyToOne) {
  Random random(10);
  for (const bool biases : {false, true}) {
    const auto problem = random_problem<double>({6, 8, 7, 6, 3}, "leaky_relu:0.1",
                                                "half_sum_squares", biases, 5, random);
    const Mlp& network = problem.objective.network();
    const GeneralLinear<double> symmetry;
    OrbitOrReason<double> orbit = symmetry.orbit(problem.objective, problem.w);
    Vector w(problem.w.size()), at_one(w.size()), at_c(w.size());
    ASSERT_TRUE(gl(orbit).go_white({1.0, 1.0, 1.0}));
    orbit->commit(w);
    problem.objective.gradient(w, at_one);
    ASSERT_TRUE(gl(orbit).go_white({3.0, 0.2, 40.0}));
    orbit->commit(w);
    problem.objective.gradient(w, at_c);
    double product = 1.0;
    for (Index m = 1; m <= 4; ++m) {
      product *= network.weights(m, at_c.data()).squaredNorm() /
                 network.weights(m, at_one.data()).squaredNorm();
    }
    EXPECT_NEAR(product, 1.0, tolerance::accumulated);
  }
}

// J and Phi as the model has them, against the orbit at rescaled points.
TEST(WhiteGauge, TheModelOfLayerScalesIsExactForHomogeneousActivations) {
  Random random(11);
  for (const char* activation : {"leaky_relu:0.1", "linear", "asinh", "tanh_extended:3"}) {
    for (const char* loss : {"half_sum_squares:sum", "half_sum_squares:mean", "cross_entropy:sum",
                             "cross_entropy:mean"}) {
      for (const bool biases : {false, true}) {
        SCOPED_TRACE(::testing::Message() << activation << " " << loss << " biases " << biases);
        const auto problem =
            random_problem<double>({6, 8, 7, 6, 3}, activation, loss, biases, 5, random);
        const GeneralLinear<double> symmetry;
        OrbitOrReason<double> orbit = symmetry.orbit(problem.objective, problem.w);
        ASSERT_TRUE(gl(orbit).go_white({1.0, 1.0, 1.0}));
        const ScaleModel model = gl(orbit).scale_model();
        const bool homogeneous = problem.objective.network().activation().positively_homogeneous();
        for (const auto& c : std::vector<std::vector<double>>{{1, 1, 1}, {2, 0.5, 9}, {7, 30, 2}}) {
          if (!homogeneous && c[0] != 1.0) continue;
          ASSERT_TRUE(gl(orbit).go_white(c));
          const Vector log_c = Eigen::Map<const Vector>(c.data(), 3).array().log();
          EXPECT_NEAR(model.grad_sq(log_c), orbit->grad_sq(),
                      tolerance::accumulated * orbit->grad_sq());
          EXPECT_NEAR(model.curvature(log_c), orbit->curvature(),
                      tolerance::accumulated * std::abs(orbit->curvature()));
        }
      }
    }
  }
}

TEST(ScaleModel, FindsTheBestScales) {
  Random random(12);
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix A = random.normal_matrix(3, 5);
    const Vector g = random.normal_matrix(3, 1).col(0);
    // Three blocks, two scales: tau = (c_1^-2, (c_1/c_2)^2, c_2^2).
    ScaleModel model{g.cwiseAbs2(), {}, Matrix{{-2.0, 0.0}, {2.0, -2.0}, {0.0, 2.0}}};
    const Matrix H = A * A.transpose() + 0.1 * Matrix::Identity(3, 3);
    model.M = g.asDiagonal() * H * g.asDiagonal();
    const double eta = std::pow(10.0, random.uniform(-3.0, 0.0));
    const auto decrease = [&](double J, double Phi) { return eta * J - 0.5 * eta * eta * Phi; };
    const auto best = best_scales(model, decrease);
    ASSERT_TRUE(best);
    const double found = decrease(model.grad_sq(*best), model.curvature(*best));
    double rival = found;
    for (double a = -8.0; a <= 8.0; a += 0.1) {
      for (double b = -8.0; b <= 8.0; b += 0.1) {
        const Vector x{{a, b}};
        rival = std::max(rival, decrease(model.grad_sq(x), model.curvature(x)));
      }
    }
    EXPECT_GE(found, 0.999 * rival) << "trial " << trial;
  }
}

TEST(ScaleModel, HasNoAnswerWhereCurvatureDoesNotMatter) {
  const ScaleModel model{Vector{{1.0, 2.0}}, Matrix::Identity(2, 2), Matrix{{2.0}, {-2.0}}};
  EXPECT_FALSE(best_scales(model, [](double J, double) { return J; }));
}

// Theory: the gauge V V' = c^2 I with c^2 = 1/(2 eta) and a step in U is a least-squares step, and
// so on the other side: alternating them is alternating least squares.
TEST(FactorPair, AlternatingWhiteGaugesAreAlternatingLeastSquares) {
  Random random(13);
  const Index rows = 9, cols = 7, rank = 3;
  const Matrix Y = random.normal_matrix(rows, cols);
  const MatrixFactorization objective(Y, rank);
  const FactorPairSymmetry symmetry(objective);
  Vector w = random.normal_matrix(objective.dimension(), 1).col(0);
  Matrix U = objective.U(In<double>(w)), V = objective.V(In<double>(w));
  const double eta = 1e-2;
  for (int turn = 0; turn < 6; ++turn) {
    const bool right = turn % 2 == 0;
    // By alternating least squares.
    if (right) {
      U = Y * pseudo_inverse(V);
    } else {
      V = pseudo_inverse(U) * Y;
    }
    // By a gauge and a plain step on that side alone.
    const auto orbit = symmetry.orbit(objective, w);
    const auto candidates = orbit->candidates(
        Worth([=](double J, double Phi) { return eta * J - 0.5 * eta * eta * Phi; }));
    ASSERT_GE(candidates.size(), 2u);
    ASSERT_TRUE(candidates[right ? 0 : 1].go(1.0));
    orbit->commit(w);
    const Matrix white =
        right ? Matrix(objective.V(In<double>(w))) : Matrix(objective.U(In<double>(w)).transpose());
    const double square = white.row(0).squaredNorm();
    EXPECT_LE(relative(white * white.transpose(), square * Matrix::Identity(rank, rank)), 1e-9);
    Vector gradient(w.size());
    objective.gradient(w, gradient);
    Out<double> flat(w), slope(gradient);
    if (right) {
      objective.U(flat) -= objective.U(slope) / (2.0 * square);
    } else {
      objective.V(flat) -= objective.V(slope) / (2.0 * square);
    }
    EXPECT_LE(relative(objective.U(In<double>(w)) * objective.V(In<double>(w)), U * V), 1e-9)
        << "turn " << turn;
  }
}

}  // namespace
}  // namespace symport
