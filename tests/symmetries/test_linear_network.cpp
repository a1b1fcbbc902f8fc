// SPDX-License-Identifier: MIT
#include "support/point_numbers.hpp"
#include "symport/symmetries/linear_network.hpp"

#include "core/dense.hpp"
#include "support/candidates.hpp"
#include "support/network_laws.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "symport/search/teleport.hpp"
#include "symport/symmetries/factor_pair.hpp"

namespace symport::testing {
namespace {

const LinearNetworkSymmetry<double> symmetry;

std::vector<Matrix> random_elements(const Mlp& network, Random& random, double spread) {
  std::vector<Matrix> g;
  for (Index m = 1; m < network.layers(); ++m) {
    g.push_back(
        matrix_exponential(spread * random.normal_matrix(network.width(m), network.width(m))));
  }
  return g;
}

Vector moved(const Mlp& network, const std::vector<Matrix>& g, Vector w) {
  LinearNetworkSymmetry<double>::act(network, g, w);
  return w;
}

TEST(LinearNetwork, KeepsTheFunctionOnAllData) { expect_laws<double>(symmetry, {"linear"}); }

TEST(LinearNetwork, KeepsTheFunctionOnAllDataInFloat) {
  expect_laws<float>(LinearNetworkSymmetry<float>(), {"linear"});
}

TEST(LinearNetwork, IsAGroupAction) {
  Random random(2);
  const auto problem =
      random_problem<double>({3, 5, 4, 2}, "linear", "half_sum_squares", true, 4, random);
  const Mlp& network = problem.objective.network();
  EXPECT_LE(
      relative_distance<double>(
          moved(network, {Matrix::Identity(5, 5), Matrix::Identity(4, 4)}, problem.w), problem.w),
      1e-15);
  for (const double spread : {1e-8, 0.1, 0.5}) {
    const auto a = random_elements(network, random, spread),
               b = random_elements(network, random, 0.3);
    std::vector<Matrix> product, inverse;
    for (std::size_t l = 0; l < a.size(); ++l) {
      product.push_back(a[l] * b[l]);
      inverse.push_back(symport::inverse(a[l]));
    }
    EXPECT_LE(relative_distance<double>(moved(network, a, moved(network, b, problem.w)),
                                        moved(network, product, problem.w)),
              1e-12);
    EXPECT_LE(
        relative_distance<double>(moved(network, inverse, moved(network, a, problem.w)), problem.w),
        1e-12);
  }
}

TEST(LinearNetwork, RefusesOtherActivationsByName) {
  expect_refuses(symmetry,
                 {"leaky_relu", "relu", "tanh", "sigmoid", "asinh", "tanh_extended",
                  "sigmoid_extended", "gelu"},
                 "a matrix does not commute");
}

TEST(LinearNetwork, RefusesSingularElements) {
  const Mlp network({2, 2, 1}, Activation::parse("linear"));
  Vector w = Vector::Ones(network.parameters());
  const Vector before = w;
  EXPECT_THROW(symmetry.act(network, {Matrix{{1, 2}, {2, 4}}}, w), InvalidArgument);
  EXPECT_THROW(symmetry.act(network, {Matrix{{1, 2}, {2, std::nan("")}}}, w), InvalidArgument);
  EXPECT_THROW(symmetry.act(network, {Matrix::Identity(3, 3)}, w), std::logic_error);
  EXPECT_THROW(symmetry.act(network, {Matrix::Ones(2, 3)}, w), std::logic_error);
  EXPECT_EQ(w, before);
}

// |Y - U V|^2 is twice the loss of the network U V on the unit vectors.
TEST(LinearNetwork, IsTheFactorPairSymmetryOnTwoLayers) {
  const auto factorization = MatrixFactorization::random(4, 5, 3, 7);
  const MlpObjective<double> network(Mlp({5, 3, 4}, Activation::parse("linear")),
                                     Loss::parse("half_sum_squares"), Matrix::Identity(5, 5),
                                     factorization.Y());
  Random random(8);
  const Vector w = random.normal_matrix(factorization.dimension(), 1);
  Vector w_network(w.size());
  w_network << factorization.V(w).reshaped(), factorization.U(w).reshaped();
  const FactorPairSymmetry pair(factorization);
  const auto pair_orbit = pair.orbit(factorization, w);
  const auto network_orbit = symmetry.orbit(network, w_network);
  for (const double kappa : {1.0, 1.5, 4.0}) {
    ASSERT_TRUE(go_to_candidate(*pair_orbit, kappa));
    ASSERT_TRUE(go_to_candidate(*network_orbit, kappa));
    EXPECT_LE(relative_distance(pair_orbit->grad_sq(), 4 * network_orbit->grad_sq()), 1e-12);
    EXPECT_LE(relative_distance(pair_orbit->curvature(), 8 * network_orbit->curvature()), 1e-12);
    EXPECT_LE(relative_distance(pair_orbit->condition(), network_orbit->condition()), 1e-12);
  }
  EXPECT_NEAR(network_orbit->condition(), 16.0, 1e-10);
}

TEST(LinearNetwork, ClosedFormBeatsRandomElementsWithinTheBound) {
  Random random(4);
  const double kappa = 2.0;
  for (const std::vector<Index>& widths :
       {std::vector<Index>{4, 5, 3}, std::vector<Index>{4, 5, 6, 5, 3}}) {
    const auto problem = random_problem<double>(widths, "linear", "cross_entropy", true, 7, random);
    const Mlp& network = problem.objective.network();
    const auto orbit = symmetry.orbit(problem.objective, problem.w);
    ASSERT_TRUE(go_to_candidate(*orbit, kappa));
    EXPECT_LE(orbit->condition(), kappa * kappa * (1 + 1e-12));
    for (int i = 0; i < 200; ++i) {
      // Random symmetric elements at the ends of the bound.
      std::vector<Matrix> g = random_elements(network, random, 0.3);
      for (Matrix& a : g) {
        const Matrix Q = orthogonal_factor(a);
        Vector ends(a.rows());
        for (double& end : ends) end = random.below(2) == 0 ? kappa : 1.0 / kappa;
        a = Q * ends.asDiagonal() * Q.transpose();
      }
      EXPECT_GT(orbit->grad_sq(), grad_sq_at(problem.objective, moved(network, g, problem.w)));
    }
  }
}

TEST(LinearNetwork, AscentFollowsTheGradient) {
  Random random(6);
  const auto problem =
      random_problem<double>({3, 3, 2, 2}, "linear", "cross_entropy", true, 5, random);
  const Mlp& network = problem.objective.network();
  struct Weights {
    double grad_sq, curvature;
  };
  for (const Weights weights : {Weights{1.0, 0.0}, Weights{0.0, 1.0}, Weights{0.7, -0.2}}) {
    const auto orbit = symmetry.orbit(problem.objective, problem.w);
    orbit->randomize(random, 0.5);
    Vector base(problem.w.size()), there(problem.w.size());
    orbit->commit(base);
    const double norm = orbit->aim({weights.grad_sq, weights.curvature});
    const double length = 0.25;
    ASSERT_TRUE(orbit->move(length));
    orbit->commit(there);
    const auto target = [&](const std::vector<Matrix>& T, double e) {
      std::vector<Matrix> g;
      for (const Matrix& t : T) g.push_back(matrix_exponential(e * t));
      const Vector at = moved(network, g, base);
      return weights.grad_sq * grad_sq_at(problem.objective, at) +
             weights.curvature * curvature_at(problem.objective, at);
    };
    // The whole gradient by central differences; the orbit must have gone along it.
    std::vector<Matrix> gradient{Matrix::Zero(3, 3), Matrix::Zero(2, 2)}, T = gradient;
    double sum = 0.0;
    for (std::size_t l = 0; l < T.size(); ++l) {
      for (Index k = 0; k < T[l].size(); ++k) {
        T[l](k) = 1.0;
        gradient[l](k) = (target(T, 1e-5) - target(T, -1e-5)) / 2e-5;
        T[l](k) = 0.0;
      }
      sum += gradient[l].squaredNorm();
    }
    EXPECT_LE(relative_distance(std::sqrt(sum), norm), 1e-7);
    std::vector<Matrix> step;
    for (const Matrix& part : gradient) {
      step.push_back(matrix_exponential(length / std::sqrt(sum) * part));
    }
    EXPECT_LE(relative_distance<double>(moved(network, step, base), there), 1e-7);
  }
}

TEST(LinearNetwork, SearchesImproveTheNextStep) {
  Random random(7);
  const ClosedFormSearch closed;
  const OrbitAscent ascent;
  for (const Search* search : std::initializer_list<const Search*>{&closed, &ascent}) {
    auto problem =
        random_problem<double>({4, 6, 5, 3}, "linear", "half_sum_squares", true, 6, random);
    const auto orbit = symmetry.orbit(problem.objective, problem.w);
    const double rate = 1e-3;
    Vector gradient(problem.w.size());
    problem.objective.gradient(problem.w, gradient);
    const double alone = problem.objective.value(problem.w - rate * gradient);
    const Certificate certificate = teleport<double>(problem.objective, *orbit, *search,
                                                     {.learning_rate = rate}, random, problem.w);
    ASSERT_TRUE(certificate.accepted) << certificate.reason;
    EXPECT_LE(certificate.drift, 1e-12);
    problem.objective.gradient(problem.w, gradient);
    EXPECT_LT(problem.objective.value(problem.w - rate * gradient), alone) << search->name();
  }
}

TEST(LinearNetwork, TeleportWithAGivenKappaEvaluatesOneGradientHereAndOneThere) {
  Random random(8);
  auto problem = random_problem<double>({5, 6, 6, 3}, "linear", "cross_entropy", true, 10, random);
  const CountingObjective<double> counting(problem.objective);
  const auto orbit = symmetry.orbit(counting, problem.w);
  const Certificate certificate =
      teleport<double>(counting, *orbit, ClosedFormSearch({.kappa = 1.5}),
                       {.objective = ObjectiveKind::gradient_norm}, random, problem.w);
  ASSERT_TRUE(certificate.accepted) << certificate.reason;
  EXPECT_EQ(counting.count().gradients, 2);
  EXPECT_EQ(counting.count().curvatures, 2);
  EXPECT_EQ(counting.count().hessian_vectors, 0);
}

}  // namespace
}  // namespace symport::testing
