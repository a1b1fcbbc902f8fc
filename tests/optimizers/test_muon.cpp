// SPDX-License-Identifier: MIT
#include "symport/optimizers/muon.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/dense.hpp"
#include "support/networks.hpp"
#include "support/numbers.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/thread_scope.hpp"
#include "symport/optimizers/adamw.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/optimizers/round_trip.hpp"

// Its trajectories are in test_golden_trajectories.cpp.
namespace symport {
namespace {

/// A wide, a tall and a square matrix, a tensor, vectors between them, and a head.
ParameterLayout mixed_layout() {
  return ParameterLayout()
      .add("wide", 5, 9)
      .add("wide bias", 5)
      .add("tall", 8, 3)
      .add("square", 4, 4)
      .add("row", 1, 7)
      .add("tensor", {6, 2, 3, 3})
      .add("nothing", 0)
      .add("head", 3, 4)
      .add("head bias", 3);
}

/// The step from a zero state.
Vector first_step(const Muon<double>& muon, const Vector& w, const Vector& gradient, double rate) {
  OptimizerState<double> state = muon.init(w.size());
  Vector u(w.size());
  muon.update(w, gradient, rate, StateRange<double>(state, 0, w.size()), u);
  return u;
}

TEST(Muon, MakesTheSingularValuesOfMatricesAlike) {
  Random random(21);
  const ParameterLayout layout = mixed_layout();
  const Muon<double> muon(layout, {.weight_decay = 0.0});
  const Vector gradient = testing::random_vector(layout.size(), random);
  const Vector u = first_step(muon, Vector::Zero(layout.size()), gradient, 1.0);
  for (const char* name : {"wide", "tall", "square", "tensor"}) {
    const ParameterBlock& block = layout.block(name);
    const Matrix G = ParameterLayout::view(block, gradient.data());
    const Matrix X = ParameterLayout::view(block, u.data());
    const double scale = std::sqrt(std::max(1.0, double(block.rows) / double(block.cols)));
    const SingularValues of_gradient = singular_values(G), of_step = singular_values(X);
    EXPECT_LT(of_step.values.maxCoeff(), 1.3 * scale) << name;
    EXPECT_GT(of_step.values.minCoeff(), 0.6 * scale) << name;
    // The singular vectors stay: U' X V is diagonal and positive.
    const Matrix D = of_gradient.U.transpose() * X * of_gradient.V;
    const Matrix off = D - Matrix(D.diagonal().asDiagonal());
    EXPECT_LE(off.norm(), 1e-11 * D.norm()) << name;
    EXPECT_GT(D.diagonal().minCoeff(), 0.0) << name;
  }
}

TEST(Muon, LeavesTheHeadOrTheNamedMatricesToTheOtherRule) {
  Random random(22);
  const ParameterLayout layout = mixed_layout();
  const Vector w = testing::random_vector(layout.size(), random);
  const Vector gradient = testing::random_vector(layout.size(), random);
  const auto rest = std::make_shared<Momentum<double>>();
  struct Case {
    std::optional<std::vector<std::string>> others;
    std::vector<std::string> not_by_muon;
  };
  const std::vector<std::string> vectors{"wide bias", "row", "head bias"};
  for (const Case& one : {Case{std::nullopt, {"head"}}, Case{std::vector<std::string>{}, {}},
                          Case{std::vector<std::string>{"wide", "tall"}, {"wide", "tall"}}}) {
    const Muon<double> muon(layout, {.others = one.others, .rest_rate = 0.3}, rest);
    const Vector u = first_step(muon, w, gradient, 0.5);
    for (const ParameterBlock& block : layout.blocks()) {
      if (block.size() == 0) continue;
      // The first step of momentum is that of gradient descent.
      const bool plain =
          testing::identical(u.segment(block.offset, block.size()),
                             Vector((0.3 * 0.5) * gradient.segment(block.offset, block.size())));
      const auto in = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), block.name) != names.end();
      };
      EXPECT_EQ(plain, in(vectors) || in(one.not_by_muon)) << block.name;
    }
  }
}

TEST(Muon, StepsSlotsOneByOneAsItStepsThemTogether) {
  Random random(23);
  const ParameterLayout layout = mixed_layout();
  const Muon<double> muon(layout);
  Vector together = testing::random_vector(layout.size(), random), alone = together;
  OptimizerState<double> state = muon.init(layout.size()), alone_state = state;
  for (int step = 0; step < 3; ++step) {
    const Vector gradient = testing::random_vector(layout.size(), random);
    muon.step_range(0, gradient, 0.1, state, together);
    for (const ParameterBlock& block : layout.blocks()) {
      muon.step_range(block.offset, gradient.segment(block.offset, block.size()), 0.1, alone_state,
                      alone);
    }
    ++state.count;
    ++alone_state.count;
  }
  EXPECT_TRUE(testing::identical(together, alone));
  for (const auto& buffer : state.buffers) {
    EXPECT_TRUE(testing::identical(buffer.values, alone_state[buffer.name])) << buffer.name;
  }
}

TEST(Muon, RefusesRangesThatAreNotWholeSlots) {
  const ParameterLayout layout = mixed_layout();
  const Muon<double> muon(layout);
  OptimizerState<double> state = muon.init(layout.size());
  Vector w = Vector::Ones(layout.size());
  const Vector gradient = w;
  EXPECT_THROW(muon.step_range(1, gradient.segment(1, 49), 0.1, state, w), std::logic_error);
  EXPECT_THROW(muon.step_range(0, gradient.head(44), 0.1, state, w), std::logic_error);
  EXPECT_NO_THROW(muon.step_range(45, gradient.segment(45, 29), 0.1, state, w));
}

TEST(Muon, RefusesAnotherDimensionAndSaysWhichNamesThereAre) {
  const ParameterLayout layout = mixed_layout();
  EXPECT_THROW(Muon<double>(layout).init(layout.size() + 1), InvalidArgument);
  try {
    Muon<double>(layout, {.others = std::vector<std::string>{"embedding"}});
    ADD_FAILURE() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.field(), "others");
    EXPECT_NE(std::string(error.what()).find("wide bias"), std::string::npos) << error.what();
  }
}

TEST(Muon, SaysHowEverySlotDecays) {
  const ParameterLayout layout = mixed_layout();
  const Muon<double> muon(layout, {.weight_decay = 0.2, .rest_rate = 0.5},
                          std::make_shared<AdamW<double>>(AdamWOptions{.weight_decay = 0.3}));
  EXPECT_EQ(muon.decoupled_decay(layout.block("wide").offset), 0.2);
  EXPECT_EQ(muon.decoupled_decay(layout.block("wide bias").offset), 0.15);
  EXPECT_EQ(muon.decoupled_decay(layout.block("head").offset), 0.15);
  Random random(24);
  const Vector w = testing::random_vector(layout.size(), random);
  const Vector gradient = testing::random_vector(layout.size(), random);
  const Vector decay =
      first_step(muon, w, gradient, 0.1) - first_step(muon, Vector::Zero(w.size()), gradient, 0.1);
  for (const ParameterBlock& block : layout.blocks()) {
    const Vector expected =
        0.1 * muon.decoupled_decay(block.offset) * w.segment(block.offset, block.size());
    EXPECT_LE((decay.segment(block.offset, block.size()) - expected).norm(), 1e-14) << block.name;
  }
}

TEST(Muon, StaysWhereThereIsNoGradient) {
  const ParameterLayout layout = mixed_layout();
  const Muon<float> muon(layout, {.weight_decay = 0.0},
                         std::make_shared<AdamW<float>>(AdamWOptions{.weight_decay = 0.0}));
  VectorOf<float> w = VectorOf<float>::Ones(layout.size());
  OptimizerState<float> state = muon.init(w.size());
  muon.step_range(0, VectorOf<float>::Zero(w.size()), 0.1, state, w);
  EXPECT_TRUE((w.array() == 1.0F).all());
}

template <class Scalar>
class MuonOnNetworks : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MuonOnNetworks, Scalars);

/// Five steps on mini-batches.
template <class Scalar>
VectorOf<Scalar> after_five_steps(const testing::Problem<Scalar>& problem,
                                  const BasicOptimizer<Scalar>& optimizer) {
  VectorOf<Scalar> w = problem.w;
  OptimizerState<Scalar> state = optimizer.init(w.size());
  for (int step = 0; step < 5; ++step) {
    optimizer.minibatch_step(problem.objective, 0.02, state, w);
  }
  return w;
}

// The second layer is wide enough for products by halves and for several threads.
TYPED_TEST(MuonOnNetworks, IsTheSameForAllThreadsThatShareIt) {
  using Scalar = TypeParam;
  Random random(25);
  const auto problem = testing::random_problem<Scalar>({20, 90, 130, 4}, "tanh",
                                                       "mean_squares:mean", true, 9, random);
  const Muon<Scalar> muon(problem.objective.network().layout());
  const VectorOf<Scalar> expected = after_five_steps<Scalar>(problem, muon);
  std::vector<VectorOf<Scalar>> found(4);
  {
    std::vector<std::jthread> threads;
    for (auto& w : found) {
      threads.emplace_back([&] { w = after_five_steps<Scalar>(problem, muon); });
    }
  }
  for (const auto& w : found) EXPECT_TRUE((w.array() == expected.array()).all());
  const ThreadScope two(2, 2);
  const VectorOf<Scalar> once = after_five_steps<Scalar>(problem, muon);
  EXPECT_TRUE((once.array() == after_five_steps<Scalar>(problem, muon).array()).all());
}

TYPED_TEST(MuonOnNetworks, StepsInABorrowedGauge) {
  using Scalar = TypeParam;
  Random random(26);
  const auto problem =
      testing::random_problem<Scalar>({6, 7, 5, 3}, "tanh", "mean_squares:mean", true, 9, random);
  const RoundTrip<Scalar> trip(std::make_shared<Muon<Scalar>>(problem.objective.network().layout()),
                               {.refresh = 2});
  VectorOf<Scalar> by_minibatch = problem.w, by_step = problem.w;
  OptimizerState<Scalar> state = trip.init(by_step.size()), other = state;
  MeasuredPoint<Scalar> here;
  for (int t = 0; t < 5; ++t) {
    trip.minibatch_step(problem.objective, 0.02, state, by_minibatch);
    trip.measure(problem.objective, by_step, here);
    trip.step(problem.objective, here, 0.02, other, by_step);
  }
  EXPECT_LE((by_minibatch - by_step).norm(), Scalar(1e-3) * (problem.w - by_step).norm());
  EXPECT_LT(problem.objective.value(by_step), problem.objective.value(problem.w));
}

}  // namespace
}  // namespace symport
