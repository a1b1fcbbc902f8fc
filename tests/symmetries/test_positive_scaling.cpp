// SPDX-License-Identifier: MIT
#include "support/point_numbers.hpp"
#include "symport/symmetries/positive_scaling.hpp"

#include "support/network_laws.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/objectives/rosenbrock.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "symport/training/teleportation.hpp"

namespace symport::testing {
namespace {

const PositiveScalingSymmetry<double> scalings;

std::vector<Vector> random_scales(const Mlp& network, Random& random, double spread) {
  std::vector<Vector> scales;
  for (Index m = 1; m < network.layers(); ++m) {
    scales.push_back((spread * random.normal_matrix(network.width(m), 1)).array().exp());
  }
  return scales;
}

Vector scaled(const Mlp& network, const std::vector<Vector>& scales, Vector w) {
  PositiveScalingSymmetry<double>::act(network, scales, w);
  return w;
}

TEST(PositiveScaling, KeepsTheFunctionOnAllData) {
  expect_laws<double>(scalings, {"linear", "leaky_relu:0.1", "relu"});
}

TEST(PositiveScaling, KeepsTheFunctionOnAllDataInFloat) {
  expect_laws<float>(PositiveScalingSymmetry<float>(), {"linear", "leaky_relu:0.1", "relu"});
}

TEST(PositiveScaling, IsAGroupAction) {
  Random random(2);
  const auto problem =
      random_problem<double>({3, 5, 4, 2}, "leaky_relu", "half_sum_squares", true, 4, random);
  const Mlp& network = problem.objective.network();
  for (const double spread : {0.0, 1e-8, 0.5, 3.0}) {
    const auto a = random_scales(network, random, spread), b = random_scales(network, random, 0.5);
    std::vector<Vector> product, inverse;
    for (std::size_t l = 0; l < a.size(); ++l) {
      product.push_back(a[l].cwiseProduct(b[l]));
      inverse.push_back(a[l].cwiseInverse());
    }
    const Vector there = scaled(network, a, problem.w);
    EXPECT_LE(relative_distance<double>(scaled(network, inverse, there), problem.w), 1e-14);
    EXPECT_LE(relative_distance<double>(scaled(network, a, scaled(network, b, problem.w)),
                                        scaled(network, product, problem.w)),
              1e-14);
    if (spread == 0.0) {
      EXPECT_EQ(there, problem.w);
    }
  }
}

TEST(PositiveScaling, RefusesOtherActivationsByName) {
  expect_refuses(scalings,
                 {"tanh", "sigmoid", "asinh", "tanh_extended", "sigmoid_extended", "gelu"},
                 "sigma(s x) = s sigma(x)");
  const Rosenbrock other;
  EXPECT_THROW(scalings.orbit(other, Vector::Ones(2)), InvalidArgument);
}

TEST(PositiveScaling, RefusesScalesThatAreNotPositive) {
  const Mlp network({2, 2, 1}, Activation::parse("relu"));
  Vector w = Vector::Ones(network.parameters());
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(scalings.act(network, {Vector{{1.0, bad}}}, w), InvalidArgument) << bad;
  }
  EXPECT_THROW(scalings.act(network, {Vector::Ones(3)}, w), std::logic_error);
  EXPECT_THROW(scalings.act(network, {}, w), std::logic_error);
}

TEST(PositiveScaling, ClosedFormIsTheMaximumWithinTheBoundOfOneHiddenLayer) {
  Random random(3);
  const double kappa = 2.5;
  for (const bool biases : {false, true}) {
    const auto problem =
        random_problem<double>({4, 6, 3}, "leaky_relu", "cross_entropy", biases, 7, random);
    const Mlp& network = problem.objective.network();
    const auto orbit = scalings.orbit(problem.objective, problem.w);
    ASSERT_TRUE(go_to_candidate(*orbit, kappa));
    double best_corner = 0.0, best_inside = 0.0;
    for (unsigned corner = 0; corner < 64; ++corner) {
      Vector s(6);
      for (Index i = 0; i < 6; ++i) s[i] = (corner >> i) & 1U ? kappa : 1.0 / kappa;
      best_corner =
          std::max(best_corner, grad_sq_at(problem.objective, scaled(network, {s}, problem.w)));
      for (double& scale : s) scale = std::pow(kappa, random.uniform(-1.0, 1.0));
      best_inside =
          std::max(best_inside, grad_sq_at(problem.objective, scaled(network, {s}, problem.w)));
    }
    EXPECT_NEAR(orbit->grad_sq(), best_corner, 1e-10 * best_corner);
    EXPECT_GT(orbit->grad_sq(), best_inside);
  }
}

TEST(PositiveScaling, ClosedFormBeatsRandomElementsWithinTheBoundOfDeepNetworks) {
  Random random(4);
  const double kappa = 2.0;
  for (int network_number = 0; network_number < 5; ++network_number) {
    const auto problem =
        random_problem<double>({4, 6, 7, 5, 3}, "leaky_relu", "half_sum_squares", true, 7, random);
    const Mlp& network = problem.objective.network();
    const auto orbit = scalings.orbit(problem.objective, problem.w);
    ASSERT_TRUE(go_to_candidate(*orbit, kappa));
    EXPECT_LE(orbit->condition(), kappa * kappa * (1 + 1e-12));
    for (int i = 0; i < 200; ++i) {
      auto scales = random_scales(network, random, 1.0);
      for (Vector& s : scales) {
        for (double& scale : s) scale = scale > 1.0 ? kappa : 1.0 / kappa;
      }
      EXPECT_GT(orbit->grad_sq(),
                grad_sq_at(problem.objective, scaled(network, scales, problem.w)));
    }
  }
}

TEST(PositiveScaling, ClosedFormLeavesDeadUnitsAlone) {
  Random random(5);
  auto problem = random_problem<double>({3, 4, 2}, "relu", "half_sum_squares", true, 5, random);
  const Mlp& network = problem.objective.network();
  // Unit 1 is off for every sample.
  auto first = network.augmented(1, problem.w.data());
  first.row(1).setZero();
  first(1, 3) = -1.0;
  const auto orbit = scalings.orbit(problem.objective, problem.w);
  ASSERT_TRUE(go_to_candidate(*orbit, 4.0));
  Vector there(problem.w.size());
  orbit->commit(there);
  const Matrix before = network.augmented(1, problem.w.data()),
               after = network.augmented(1, there.data());
  EXPECT_EQ(after.row(1), before.row(1));
  EXPECT_NE(after.row(0), before.row(0));
}

// Scales at the current point, read off the committed weights.
std::vector<Vector> scales_of(Orbit& orbit, const Mlp& network, const Vector& w) {
  Vector there(w.size());
  dynamic_cast<BasicOrbit<double>&>(orbit).commit(there);
  std::vector<Vector> scales;
  Vector below = Vector::Ones(network.width(0));
  for (Index m = 1; m < network.layers(); ++m) {
    const Matrix ratio =
        network.weights(m, there.data()).cwiseQuotient(network.weights(m, w.data()));
    scales.push_back(ratio.col(0) * below[0]);
    below = scales.back();
  }
  return scales;
}

TEST(PositiveScaling, AscentFollowsTheGradientInLogScales) {
  Random random(6);
  const auto problem =
      random_problem<double>({3, 4, 3, 2}, "leaky_relu", "cross_entropy", true, 5, random);
  const Mlp& network = problem.objective.network();
  struct Weights {
    double grad_sq, curvature;
  };
  for (const Weights weights : {Weights{1.0, 0.0}, Weights{0.0, 1.0}, Weights{0.7, -0.2}}) {
    const auto orbit = scalings.orbit(problem.objective, problem.w);
    orbit->randomize(random, 0.5);
    const auto base = scales_of(*orbit, network, problem.w);
    const double norm = orbit->aim({weights.grad_sq, weights.curvature});
    ASSERT_TRUE(orbit->move(0.25));
    const auto there = scales_of(*orbit, network, problem.w);
    const auto target = [&](const std::vector<Vector>& scales) {
      const Vector at = scaled(network, scales, problem.w);
      return weights.grad_sq * grad_sq_at(problem.objective, at) +
             weights.curvature * curvature_at(problem.objective, at);
    };
    for (std::size_t l = 0; l < base.size(); ++l) {
      for (Index i = 0; i < base[l].size(); ++i) {
        auto up = base, down = base;
        const double e = 1e-5;
        up[l][i] *= std::exp(e);
        down[l][i] *= std::exp(-e);
        const double derivative = (target(up) - target(down)) / (2 * e);
        const double step = std::log(there[l][i] / base[l][i]);
        EXPECT_NEAR(step, 0.25 * derivative / norm, 1e-6);
      }
    }
    orbit->back();
    EXPECT_EQ(scales_of(*orbit, network, problem.w), base);
  }
}

TEST(PositiveScaling, OrbitAscentImprovesEveryObjective) {
  Random random(7);
  for (const ObjectiveKind kind : {ObjectiveKind::gradient_norm, ObjectiveKind::predicted_decrease,
                                   ObjectiveKind::decrement}) {
    auto problem =
        random_problem<double>({4, 6, 5, 3}, "leaky_relu", "half_sum_squares", true, 6, random);
    const auto orbit = scalings.orbit(problem.objective, problem.w);
    const CriterionOptions options{.objective = kind, .learning_rate = 1e-3};
    OrbitMeasures<double> measures(*orbit, options.learning_rate);
    Criterion criterion(options, measures);
    const double before = criterion.value();
    const Certificate certificate =
        teleport<double>(problem.objective, *orbit, OrbitAscent(), options, random, problem.w);
    EXPECT_TRUE(certificate.accepted) << certificate.reason;
    EXPECT_LE(certificate.drift, 1e-12);
    EXPECT_GT(criterion.value(), before);
  }
}

TEST(PositiveScaling, TeleportWithAGivenKappaEvaluatesTheStatesHereAndAGradientThere) {
  Random random(8);
  const auto problem =
      random_problem<double>({20, 30, 30, 5}, "leaky_relu", "cross_entropy", true, 4, random);
  struct Case {
    ObjectiveKind kind;
    double cap, at_most;
  };
  const double none = HUGE_VAL;
  for (const Case& c : {Case{ObjectiveKind::gradient_norm, none, 4.5},
                        Case{ObjectiveKind::predicted_decrease, none, 4.5},
                        Case{ObjectiveKind::decrement, none, 4.5},
                        // Up to twelve Lanczos steps and the next loss, here and there.
                        Case{ObjectiveKind::predicted_decrease, 1.5, 4.5 + 2 * (12 + 1) * 0.5}}) {
    const CountingObjective<double> counting(problem.objective);
    Vector w = problem.w;
    const auto orbit = scalings.orbit(counting, w);
    const Certificate certificate =
        teleport<double>(counting, *orbit, ClosedFormSearch({.kappa = 1.5}),
                         {.objective = c.kind, .learning_rate = 1e-3, .cap = c.cap}, random, w);
    ASSERT_TRUE(certificate.accepted) << certificate.reason;
    EXPECT_EQ(counting.count().gradients, 1) << "there; here the states do";
    EXPECT_EQ(counting.count().hessian_vectors, 0);
    EXPECT_EQ(counting.count().values, 0);
    EXPECT_EQ(counting.count().third_derivatives, 0);
    EXPECT_EQ(counting.count().curvatures, 1) << "there";
    EXPECT_NEAR(certificate.evaluations, counting.count().gradient_equivalents(), 1e-12);
    EXPECT_LT(certificate.evaluations, c.at_most);
  }
}

TEST(PositiveScaling, AutomaticKappaMakesTheNextStepBetter) {
  Random random(9);
  for (int run = 0; run < 10; ++run) {
    SCOPED_TRACE(run);
    auto problem =
        random_problem<double>({5, 6, 7, 8}, "leaky_relu", "half_sum_squares", false, 4, random);
    const double rate = 1e-3;
    const auto loss_after_step = [&](const Vector& w) {
      Vector gradient(w.size());
      problem.objective.gradient(w, gradient);
      return problem.objective.value(w - rate * gradient);
    };
    const double alone = loss_after_step(problem.w);
    const auto orbit = scalings.orbit(problem.objective, problem.w);
    const Certificate certificate = teleport<double>(problem.objective, *orbit, ClosedFormSearch(),
                                                     {.learning_rate = rate}, random, problem.w);
    ASSERT_TRUE(certificate.accepted) << certificate.reason;
    const double fall = certificate.loss_before - loss_after_step(problem.w);
    EXPECT_GT(fall, 2.0 * (certificate.loss_before - alone)) << certificate.reason;
  }
}

// The products of the two parts of hidden layer 1 are made once and serve every kappa; scales that
// are not constant on them in between must not.
TEST(PositiveScaling, CurvatureOfManyBoundsIsThatAtTheirPoints) {
  Random random(11);
  const std::vector<std::vector<Index>> shapes = {{4, 6, 3}, {4, 6, 5, 3}, {3, 7, 4, 5, 2}};
  for (const auto& shape : shapes) {
    for (const char* activation : {"leaky_relu:0.1", "relu"}) {
      auto problem = random_problem<double>(shape, activation, "cross_entropy", true, 5, random);
      const Mlp& network = problem.objective.network();
      // Unit 2 of the first layer is off for every sample; with relu it has no gradient.
      auto first = network.augmented(1, problem.w.data());
      first.row(2).setZero();
      first(2, shape[0]) = -1.0;
      const auto orbit = scalings.orbit(problem.objective, problem.w);
      Vector there(problem.w.size());
      const auto expect_curvature = [&](const std::string& where) {
        orbit->commit(there);
        const double wanted = curvature_at(problem.objective, there);
        EXPECT_NEAR(orbit->curvature(), wanted, 1e-10 * std::abs(wanted)) << activation << where;
      };
      expect_curvature(" at the start");
      for (const double kappa : {1.0, 1.3, 4.0, 30.0}) {
        ASSERT_TRUE(go_to_candidate(*orbit, kappa));
        expect_curvature(" kappa " + std::to_string(kappa));
        orbit->aim({1.0, 0.0});
        ASSERT_TRUE(orbit->move(0.1));
        expect_curvature(" beside kappa " + std::to_string(kappa));
      }
    }
  }
}

TEST(PositiveScaling, FurtherBoundsCostNoProductWithTheSecondLayer) {
  Random random(12);
  const auto problem =
      random_problem<double>({20, 60, 60, 5}, "leaky_relu", "cross_entropy", true, 3, random);
  const auto orbit = scalings.orbit(problem.objective, problem.w);
  const double set_up = (orbit->grad_sq(), orbit->evaluations());
  const double first = (orbit->curvature(), orbit->evaluations());
  ASSERT_TRUE(go_to_candidate(*orbit, 1.5));
  const double second = (orbit->curvature(), orbit->evaluations());
  EXPECT_GT(second, first);
  // 2 W_1 + 3 W_2 + 3 W_3 are a gradient.
  const double product = 60.0 * 60.0 / (2 * 20.0 * 60.0 + 3 * 60.0 * 60.0 + 3 * 60.0 * 5.0);
  EXPECT_GT(first - set_up, product);
  EXPECT_LT(second - first, product);
}

TEST(PositiveScaling, TransportsMomentumAsItMovesGradients) {
  Random random(10);
  auto problem =
      random_problem<double>({4, 6, 5, 3}, "leaky_relu", "half_sum_squares", true, 6, random);
  const Momentum<double> optimizer;
  OptimizerState<double> state = optimizer.init(problem.w.size());
  problem.objective.gradient(problem.w, state["velocity"]);
  const ClosedFormSearch search({.kappa = 2.0});
  const Certificate certificate = teleport_in_training<double>(
      problem.objective, optimizer, 1e-4,
      {.symmetry = &scalings, .search = &search, .state = StatePolicy::transport}, random, state,
      problem.w);
  ASSERT_TRUE(certificate.accepted) << certificate.reason;
  EXPECT_GT(certificate.grad_sq_after, 2.0 * certificate.grad_sq_before);
  Vector gradient(problem.w.size());
  problem.objective.gradient(problem.w, gradient);
  EXPECT_LE(relative_distance<double>(state["velocity"], gradient), 1e-12);
}

}  // namespace
}  // namespace symport::testing
