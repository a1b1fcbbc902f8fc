// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "core/dense.hpp"
#include "support/networks.hpp"
#include "support/one_step.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/optimizers/g_sgd.hpp"
#include "symport/optimizers/path_sgd.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::random_problem;

/// Calls use(entries) for every path that ends in an output: the indices of its parameters. With
/// biases a path may also begin with one.
void for_all_paths(const Mlp& network, const std::function<void(const std::vector<Index>&)>& use) {
  std::vector<Index> path;
  const std::function<void(Index, Index)> follow = [&](Index m, Index u) {
    if (m == network.layers()) return use(path);
    for (Index v = 0; v < network.width(m + 1); ++v) {
      path.push_back(network.offset(m + 1) + u * network.width(m + 1) + v);
      follow(m + 1, v);
      path.pop_back();
    }
  };
  for (Index m = 0; m < network.layers(); ++m) {
    const Index ones = network.width(m);
    for (Index u = 0; m == 0 && u < ones; ++u) follow(0, u);
    if (network.biases()) follow(m, ones);  // the row of ones
  }
}

TEST(PathSgd, ScalesByTheSumOverAllPathsThroughAWeight) {
  for (const bool biases : {false, true}) {
    Random random(61);
    const auto problem =
        random_problem<double>({3, 4, 2, 3}, "relu", "half_sum_squares", biases, 5, random);
    Vector expected = Vector::Zero(problem.w.size());
    for_all_paths(problem.objective.network(), [&](const std::vector<Index>& path) {
      for (const Index e : path) {
        double others = 1.0;
        for (const Index i : path) others *= i == e ? 1.0 : problem.w[i] * problem.w[i];
        expected[e] += others;
      }
    });
    const PathSgd<double> rule(problem.objective.network());
    EXPECT_LE((rule.scales(problem.w) - expected).norm(), tolerance::rounding * expected.norm());

    Vector w = problem.w, gradient(w.size());
    OptimizerState<double> state = rule.init(w.size());
    const double loss = problem.objective.gradient(w, gradient);
    testing::one_step(rule, problem.objective, loss, gradient, 0.1, state, w);
    const Vector there = problem.w - 0.1 * gradient.cwiseQuotient(expected);
    EXPECT_LE((w - there).norm(), tolerance::rounding * there.norm());
  }
}

/// Unit i of hidden layer m times scales[m][i], which the next layer takes back.
template <Real Scalar>
VectorOf<Scalar> rescaled(const Mlp& network, VectorOf<Scalar> w,
                          const std::vector<Vector>& scales) {
  for (Index m = 1; m < network.layers(); ++m) {
    const VectorOf<Scalar> s = scales[static_cast<std::size_t>(m)].template cast<Scalar>();
    auto rows = network.augmented(m, w.data());
    rows = s.asDiagonal() * rows;
    auto cols = network.weights(m + 1, w.data());
    cols = cols * s.cwiseInverse().asDiagonal();
  }
  return w;
}

template <Real Scalar>
VectorOf<Scalar> after_steps(const BasicOptimizer<Scalar>& rule,
                             const MlpObjective<Scalar>& objective, VectorOf<Scalar> w, double rate,
                             int steps) {
  VectorOf<Scalar> gradient(w.size());
  OptimizerState<Scalar> state = rule.init(w.size());
  for (int i = 0; i < steps; ++i) {
    const double loss = objective.gradient(w, gradient);
    testing::one_step(rule, objective, loss, gradient, rate, state, w);
  }
  return w;
}

template <Real Scalar>
std::vector<std::unique_ptr<BasicOptimizer<Scalar>>> rules_for(const Mlp& network) {
  std::vector<std::unique_ptr<BasicOptimizer<Scalar>>> rules;
  rules.push_back(std::make_unique<PathSgd<Scalar>>(network));
  if (network.biases()) return rules;
  rules.push_back(std::make_unique<Gsgd<Scalar>>(network));
  rules.push_back(std::make_unique<Gsgd<Scalar>>(
      network, GsgdOptions{.skeleton = Skeleton::diagonal, .relative_rate = false}));
  return rules;
}

template <class Scalar>
class PathOptimizers : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PathOptimizers, Scalars);

// Scales that are powers of two round nothing: the same bits, in another gauge.
TYPED_TEST(PathOptimizers, TakeTheSameStepsInEveryGauge) {
  using Scalar = TypeParam;
  for (const bool biases : {false, true}) {
    for (const char* activation : {"relu", "leaky_relu", "linear"}) {
      Random random(62);
      const auto problem =
          random_problem<Scalar>({3, 5, 5, 2}, activation, "cross_entropy", biases, 8, random);
      const Mlp& network = problem.objective.network();
      std::vector<Vector> scales(3);
      for (std::size_t m : {1u, 2u}) {
        scales[m].resize(5);
        for (double& s : scales[m]) s = std::exp2(static_cast<double>(random.below(9)) - 4.0);
      }
      const VectorOf<Scalar> moved = rescaled<Scalar>(network, problem.w, scales);
      for (const auto& rule : rules_for<Scalar>(network)) {
        const auto plain = after_steps<Scalar>(*rule, problem.objective, problem.w, 1e-2, 5);
        const auto there = after_steps<Scalar>(*rule, problem.objective, moved, 1e-2, 5);
        const VectorOf<Scalar> expected = rescaled<Scalar>(network, plain, scales);
        EXPECT_TRUE((expected.array() == there.array()).all()) << rule->name() << " " << activation;
        EXPECT_GT((plain - problem.w).norm(), Scalar(1e-4) * problem.w.norm()) << rule->name();
      }
    }
  }
}

TYPED_TEST(PathOptimizers, LowerTheLoss) {
  using Scalar = TypeParam;
  Random random(63);
  const auto problem =
      random_problem<Scalar>({4, 6, 6, 3}, "leaky_relu", "cross_entropy", false, 20, random);
  const double start = problem.objective.value(problem.w);
  auto rules = rules_for<Scalar>(problem.objective.network());
  rules.pop_back();  // as published, a rate of its own is needed for every network
  for (const auto& rule : rules) {
    const auto w = after_steps<Scalar>(*rule, problem.objective, problem.w, 1e-2, 100);
    EXPECT_LT(problem.objective.value(w), 0.95 * start) << rule->name();
  }
}

/// The basis paths at w: for each weight that is not fixed, the weights of its path.
struct Basis {
  std::vector<Index> weights;
  std::vector<std::vector<Index>> paths;
};

Basis basis_of(const Mlp& network, const Gsgd<double>::Edges& edges) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  const auto entry = [&](Index m, Index v, Index u) {
    return network.offset(m) + u * network.width(m) + v;
  };
  Basis basis;
  for (Index m = 1; m <= network.layers(); ++m) {
    for (Index u = 0; u < network.width(m - 1); ++u) {
      for (Index v = 0; v < network.width(m); ++v) {
        if (m > 1 && edges.out[at(m - 1)][at(u)] == v) continue;
        std::vector<Index> path{entry(m, v, u)};
        for (Index k = m - 1, unit = u; k >= 1; --k) {
          const Index source = edges.in[at(k)][at(unit)];
          path.push_back(entry(k, unit, source));
          unit = source;
        }
        for (Index k = m, unit = v; k < network.layers(); ++k) {
          const Index end = edges.out[at(k)][at(unit)];
          path.push_back(entry(k + 1, end, unit));
          unit = end;
        }
        basis.weights.push_back(path.front());
        basis.paths.push_back(path);
      }
    }
  }
  return basis;
}

Vector values_of(const Basis& basis, const Vector& w) {
  Vector values(static_cast<Index>(basis.paths.size()));
  for (std::size_t i = 0; i < basis.paths.size(); ++i) {
    double product = 1.0;
    for (const Index e : basis.paths[i]) product *= w[e];
    values[static_cast<Index>(i)] = product;
  }
  return values;
}

// The published definition, with a dense Jacobian in place of the inverse chain rule: v <- v - eta
// dL/dv in as many paths as there are weights less hidden units, with the fixed weights as they
// were.
TEST(Gsgd, IsGradientDescentOnTheValuesOfTheBasisPaths) {
  for (const auto& widths :
       std::vector<std::vector<Index>>{{3, 4, 4, 2}, {4, 3, 5, 2}, {2, 5, 3, 4, 3}}) {
    for (const Skeleton skeleton : {Skeleton::largest, Skeleton::diagonal}) {
      Random random(64);
      const auto problem =
          random_problem<double>(widths, "relu", "half_sum_squares:mean", false, 6, random);
      const Mlp& network = problem.objective.network();
      const Gsgd<double> rule(network, {.skeleton = skeleton, .relative_rate = false});
      const auto edges = rule.skeleton(problem.w);
      const Basis basis = basis_of(network, edges);
      Index hidden = 0;
      for (Index m = 1; m < network.layers(); ++m) hidden += network.width(m);
      const Index size = static_cast<Index>(basis.paths.size());
      ASSERT_EQ(size, network.parameters() - hidden);

      const Vector values = values_of(basis, problem.w);
      // J(i, j) = d value_i / d weight_j
      Matrix J = Matrix::Zero(size, size);
      for (Index i = 0; i < size; ++i) {
        const auto& path = basis.paths[static_cast<std::size_t>(i)];
        for (Index j = 0; j < size; ++j) {
          const Index e = basis.weights[static_cast<std::size_t>(j)];
          if (std::find(path.begin(), path.end(), e) != path.end())
            J(i, j) = values[i] / problem.w[e];
        }
      }
      Vector w = problem.w, gradient(w.size()), in_basis(size);
      const double loss = problem.objective.gradient(w, gradient);
      for (Index j = 0; j < size; ++j) {
        in_basis[j] = gradient[basis.weights[static_cast<std::size_t>(j)]];
      }
      const Vector slope = solve(J.transpose(), in_basis);
      // Small enough that no factor reaches its bounds.
      const double rate = 0.3 / slope.cwiseQuotient(values).cwiseAbs().maxCoeff();
      OptimizerState<double> state = rule.init(w.size());
      testing::one_step(rule, problem.objective, loss, gradient, rate, state, w);
      const Vector expected = values - rate * slope;
      EXPECT_LE((values_of(basis, w) - expected).norm(), 1e-10 * expected.norm())
          << to_string(skeleton);
      for (Index m = 1; m < network.layers(); ++m) {
        for (Index u = 0; u < network.width(m); ++u) {
          const Index v = edges.out[static_cast<std::size_t>(m)][static_cast<std::size_t>(u)];
          EXPECT_EQ(network.weights(m + 1, w.data())(v, u),
                    network.weights(m + 1, problem.w.data())(v, u));
        }
      }
    }
  }
}

TEST(PathRules, RefuseWhatTheyDoNotSuit) {
  const Mlp tanh({2, 3, 1}, Activation::parse("tanh"), false);
  const Mlp biased({2, 3, 1}, Activation::parse("relu"), true);
  EXPECT_THROW(PathSgd<double>{tanh}, InvalidArgument);
  EXPECT_THROW(Gsgd<double>{tanh}, InvalidArgument);
  EXPECT_THROW(Gsgd<double>{biased}, InvalidArgument);
  EXPECT_NO_THROW(PathSgd<double>{biased});
  EXPECT_THROW(PathSgd<double>(biased).init(3), InvalidArgument);
}

}  // namespace
}  // namespace symport
