// SPDX-License-Identifier: MIT
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "support/candidates.hpp"
#include "support/networks.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/search/measures.hpp"
#include "symport/symmetries/symmetry.hpp"

namespace symport::testing {

/// What a law may be off by, relative.
template <class Scalar>
struct LawTolerance {
  static constexpr bool is_double = std::same_as<Scalar, double>;
  static constexpr double drift = is_double ? 1e-10 : 1e-4;
  static constexpr double derivative = is_double ? 1e-9 : 2e-3;
};

template <class Scalar>
double relative_distance(const VectorOf<Scalar>& a, const VectorOf<Scalar>& b) {
  const Vector x = a.template cast<double>(), y = b.template cast<double>();
  const double scale = std::max(x.norm(), y.norm());
  return scale == 0.0 ? 0.0 : (x - y).norm() / scale;
}

inline double relative_distance(double a, double b) {
  const double scale = std::max(std::abs(a), std::abs(b));
  return scale == 0.0 ? 0.0 : std::abs(a - b) / scale;
}

/// The outputs of the network for other data than the objective's.
template <class Scalar>
VectorOf<Scalar> outputs_on(const MlpObjective<Scalar>& objective, const MatrixOf<Scalar>& X,
                            const VectorOf<Scalar>& w) {
  const Mlp& network = objective.network();
  const MlpObjective<Scalar> unseen(
      network, Loss::parse("half_sum_squares"), X,
      MatrixOf<Scalar>(MatrixOf<Scalar>::Zero(network.width(network.layers()), X.cols())));
  return unseen.outputs(w).reshaped();
}

/// Everything that must hold at the orbit's current point, against the objective itself. Returns
/// how far the point is from w.
template <class Scalar>
double expect_laws_at_current_point(const MlpObjective<Scalar>& objective,
                                    const VectorOf<Scalar>& w, const MatrixOf<Scalar>& unseen,
                                    BasicOrbit<Scalar>& orbit) {
  using Tolerance = LawTolerance<Scalar>;
  VectorOf<Scalar> there(w.size()), gradient(w.size()), moved_gradient(w.size());
  orbit.commit(there);
  const double loss = objective.gradient(w, gradient);
  const double loss_there = objective.gradient(there, moved_gradient);
  EXPECT_LE(std::abs(loss_there - loss), Tolerance::drift * std::abs(loss)) << "invariance";
  EXPECT_LE(relative_distance<Scalar>(outputs_on(objective, unseen, w),
                                      outputs_on(objective, unseen, there)),
            Tolerance::drift)
      << "outputs on unseen data";
  EXPECT_TRUE(orbit.transport(gradient));
  EXPECT_LE(relative_distance<Scalar>(gradient, moved_gradient), Tolerance::derivative)
      << "the gradient at the moved point is the transported one";
  EXPECT_LE(
      relative_distance(orbit.grad_sq(), moved_gradient.template cast<double>().squaredNorm()),
      Tolerance::derivative)
      << "J";
  VectorOf<Scalar> product(w.size());
  objective.hessian_vector(there, moved_gradient, product);
  const double scale =
      static_cast<double>(moved_gradient.norm()) * static_cast<double>(product.norm());
  EXPECT_LE(std::abs(orbit.curvature() - static_cast<double>(moved_gradient.dot(product))),
            Tolerance::derivative * scale)
      << "Phi";
  EXPECT_GE(orbit.condition(), 1.0);
  // The optimizer's next step from there, whatever it is.
  const auto step = [](const VectorOf<Scalar>& g) -> VectorOf<Scalar> {
    return Scalar(0.1) * g.array() / (Scalar(1) + g.array().abs());
  };
  OrbitMeasures<Scalar> measures(orbit, 0.1,
                                 [&](In<Scalar>, In<Scalar> g, Out<Scalar> u) { u = step(g); });
  const VectorOf<Scalar> u = step(moved_gradient);
  objective.hessian_vector(there, u, product);
  EXPECT_LE(relative_distance(measures.next_loss(), objective.value(there - u)),
            Tolerance::derivative)
      << "the loss after the next step";
  EXPECT_LE(
      relative_distance(measures.forecast().slope, static_cast<double>(moved_gradient.dot(u))),
      Tolerance::derivative)
      << "its slope";
  EXPECT_LE(std::abs(measures.forecast().bend - static_cast<double>(u.dot(product))),
            Tolerance::derivative * static_cast<double>(u.norm() * product.norm()))
      << "its bend";
  return relative_distance<Scalar>(w, there);
}

/// The law table of a data-independent symmetry: activation x loss x biases x depth 2 to 5 with
/// random widths and batches, at random elements, at the closed form and along an ascent direction.
template <class Scalar>
void expect_laws(const BasicSymmetry<Scalar>& symmetry, const std::vector<std::string>& activations,
                 double kappa = 3.0) {
  EXPECT_TRUE(symmetry.loss_invariant());
  EXPECT_TRUE(symmetry.transports(StateKind::cotangent));
  Random random(20220);
  double farthest = 0.0;
  for (const std::string& activation : activations) {
    for (const char* loss : {"half_sum_squares:sum", "mean_squares:mean", "cross_entropy:mean"}) {
      for (const bool biases : {false, true}) {
        for (Index depth = 2; depth <= 5; ++depth) {
          std::vector<Index> widths;
          for (Index m = 0; m <= depth; ++m) widths.push_back(1 + random.below(8));
          widths.back() += 1;  // cross-entropy of one class is always 0
          const Index samples = 1 + random.below(9);
          SCOPED_TRACE(::testing::Message()
                       << symmetry.name() << ", " << activation << ", " << loss << ", biases "
                       << biases << ", widths " << ::testing::PrintToString(widths) << ", samples "
                       << samples);
          const auto problem =
              random_problem<Scalar>(widths, activation, loss, biases, samples, random);
          const MatrixOf<Scalar> unseen = random_matrix<Scalar>(widths[0], 4, random);
          const auto orbit = symmetry.orbit(problem.objective, problem.w);
          const auto check = [&] {
            farthest = std::max(farthest, expect_laws_at_current_point<Scalar>(
                                              problem.objective, problem.w, unseen, *orbit));
          };
          EXPECT_EQ(
              expect_laws_at_current_point<Scalar>(problem.objective, problem.w, unseen, *orbit),
              0.0)
              << "the identity changes nothing";
          ASSERT_TRUE(orbit->randomize(random, 0.7));
          check();
          if (orbit->aim({1.0, 0.5}) > 0.0) {
            ASSERT_TRUE(orbit->move(0.3));
            check();
          }
          orbit->back();
          check();
          if (orbit->has_candidates()) {
            ASSERT_TRUE(go_to_candidate(*orbit, kappa));
            check();
          }
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(farthest, 0.3) << "the elements hardly moved anything";
}

/// `orbit` refuses these activations with InvalidArgument naming activation, symmetry and reason.
inline void expect_refuses(const BasicSymmetry<double>& symmetry,
                           const std::vector<std::string>& activations, const std::string& reason) {
  Random random(1);
  for (const std::string& activation : activations) {
    const auto problem =
        random_problem<double>({2, 3, 2}, activation, "half_sum_squares", false, 3, random);
    try {
      symmetry.orbit(problem.objective, problem.w);
      ADD_FAILURE() << symmetry.name() << " accepted " << activation;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.field(), "activation");
      EXPECT_THAT(error.what(), ::testing::HasSubstr(Activation::parse(activation).name()));
      EXPECT_THAT(error.what(), ::testing::HasSubstr(symmetry.name()));
      EXPECT_THAT(error.what(), ::testing::HasSubstr(reason));
    }
  }
  const auto shallow =
      random_problem<double>({2, 2}, "linear", "half_sum_squares", false, 3, random);
  EXPECT_THROW(symmetry.orbit(shallow.objective, shallow.w), InvalidArgument) << "no hidden layer";
  const auto deep =
      random_problem<double>({2, 2, 2}, "linear", "half_sum_squares", false, 3, random);
  EXPECT_THROW(symmetry.orbit(deep.objective, deep.w.head(3)), InvalidArgument)
      << "w of another size";
}

}  // namespace symport::testing
