// SPDX-License-Identifier: MIT
#include "symport/optimizers/scaled_gd.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <memory>

#include "support/objectives.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/round_trip.hpp"
#include "symport/symmetries/factor_pair.hpp"
#include "symport/training/train.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

TEST(ScaledGd, TakesTheStepOfARoundTripWithoutDamping) {
  const auto pair = MatrixFactorization::conditioned(12, 9, 3, 100.0, 5, 4.0);
  const ScaledGd<double> scaled;
  const RoundTrip<double> trip(pair, std::make_shared<GradientDescent<double>>(),
                               {.gauge = {.damping = 0.0}, .check_every = 0});
  Vector w = pair.start(), v = w, g(w.size());
  auto state = scaled.init(w.size()), trip_state = trip.init(w.size());
  for (int step = 0; step < 20; ++step) {
    double loss = pair.gradient(w, g);
    scaled.step(pair, loss, g, 0.25, state, w);
    loss = pair.gradient(v, g);
    trip.step(pair, loss, g, 0.25, trip_state, v);
    ASSERT_LE(distance(w, v), tolerance::accumulated) << step;
    v = w;  // step by step: what is left over grows with the condition
  }
}

TEST(ScaledGd, StepsTheSameInEveryGauge) {
  const auto pair = MatrixFactorization::conditioned(8, 7, 3, 10.0, 6);
  const FactorPairSymmetry symmetry(pair);
  Random random(182);
  const Matrix element = symmetry.random_element(random, 1.0);
  const ScaledGd<double> scaled;
  Vector w = pair.start(), v = w, g(w.size());
  symmetry.act(element, v);
  auto state = scaled.init(w.size());
  for (int step = 0; step < 10; ++step) {
    double loss = pair.gradient(w, g);
    scaled.step(pair, loss, g, 0.25, state, w);
    loss = pair.gradient(v, g);
    scaled.step(pair, loss, g, 0.25, state, v);
  }
  symmetry.act(element, w);
  EXPECT_LE(distance(w, v), tolerance::accumulated);
}

TEST(ScaledGd, NeedsTheSameNumberOfStepsForEveryCondition) {
  std::vector<Index> steps;
  for (const double condition : {1.0, 10.0, 100.0, 1e3, 1e4}) {
    const auto pair = MatrixFactorization::conditioned(40, 30, 5, condition, 7);
    // Near a solution: every factor is off by a part of its own size, which is what theory assumes.
    Vector w = pair.minimizer();
    Random random(183);
    Matrix U = pair.U(w), V = pair.V(w);
    for (Index k = 0; k < 5; ++k) {
      U.col(k) += 0.02 * U.col(k).norm() * testing::random_vector(40, random);
      V.row(k) += 0.02 * V.row(k).norm() * testing::random_vector(30, random).transpose();
    }
    Out<double> out(w);
    pair.U(out) = U;
    pair.V(out) = V;
    const double start = pair.value(w);
    const RunSummary run = train<double>(pair, ScaledGd<double>(), w,
                                         {.max_steps = 500,
                                          .learning_rate = ScaledGd<double>::usual_rate,
                                          .stop = {.loss_below = 1e-16 * start}});
    std::cout << "condition " << condition << ": " << run.steps << " steps\n";
    EXPECT_LE(run.final_loss, 1e-16 * start) << condition;
    steps.push_back(run.steps);
  }
  EXPECT_LE(*std::max_element(steps.begin(), steps.end()),
            *std::min_element(steps.begin(), steps.end()) + 3);
}

TEST(ScaledGd, IsForFactorPairsOnly) {
  const Booth booth;
  Vector w = booth.start();
  EXPECT_THROW(train<double>(booth, ScaledGd<double>(), w, {.max_steps = 1}), InvalidArgument);
}

}  // namespace
}  // namespace symport
