// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "support/numbers.hpp"
#include "symport/optimizers/adagrad.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/adamw.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/optimizers/nesterov.hpp"
#include "symport/optimizers/rmsprop.hpp"

namespace symport {
namespace {

TEST(FirstOrderOptimizer, DependsOnTheWeightsByItsDecoupledDecayAlone) {
  std::vector<std::unique_ptr<FirstOrderOptimizer<double>>> rules;
  rules.push_back(std::make_unique<Momentum<double>>());
  rules.push_back(std::make_unique<Nesterov<double>>());
  rules.push_back(std::make_unique<AdaGrad<double>>());
  rules.push_back(std::make_unique<RmsProp<double>>());
  rules.push_back(std::make_unique<Adam<double>>());
  rules.push_back(std::make_unique<AdamW<double>>());
  Random random(144);
  const Index n = 20;
  const Vector w = testing::random_vector(n, random), gradient = testing::random_vector(n, random);
  for (const auto& rule : rules) {
    OptimizerState<double> state = rule->init(n), other = state;
    Vector u(n), at_zero(n);
    rule->update(w, gradient, 0.1, StateRange<double>(state, 0, n), u);
    rule->update(Vector::Zero(n), gradient, 0.1, StateRange<double>(other, 0, n), at_zero);
    const Vector decay = 0.1 * rule->decoupled_decay(0) * w;
    EXPECT_LE((u - at_zero - decay).norm(), 1e-15 * n) << rule->name();
    EXPECT_TRUE(rule->entry_by_entry()) << rule->name();
  }
}

// Ranges are as long as the caller likes, and stepped several entries to an instruction.
TEST(FirstOrderOptimizer, StepsAnEntryOfALongRangeAsItStepsItAlone) {
  std::vector<std::unique_ptr<FirstOrderOptimizer<double>>> rules;
  rules.push_back(std::make_unique<Momentum<double>>());
  rules.push_back(std::make_unique<Nesterov<double>>());
  rules.push_back(std::make_unique<AdaGrad<double>>());
  rules.push_back(std::make_unique<RmsProp<double>>());
  rules.push_back(std::make_unique<Adam<double>>());
  rules.push_back(std::make_unique<AdamW<double>>());
  Random random(143);
  const Index n = 5000;
  for (const auto& rule : rules) {
    Vector together = testing::random_vector(n, random), alone = together;
    OptimizerState<double> state = rule->init(n), alone_state = state;
    for (int step = 0; step < 3; ++step) {
      const Vector gradient = testing::random_vector(n, random);
      rule->step_range(0, gradient, 0.1, state, together);
      for (Index i = 0; i < n; ++i) {
        rule->step_range(i, gradient.segment(i, 1), 0.1, alone_state, alone);
      }
      ++state.count;
      ++alone_state.count;
    }
    EXPECT_TRUE(testing::identical(together, alone)) << rule->name();
    for (const auto& buffer : state.buffers) {
      EXPECT_TRUE(testing::identical(buffer.values, alone_state[buffer.name]))
          << rule->name() << "'s " << buffer.name;
    }
  }
}

}  // namespace
}  // namespace symport
