// SPDX-License-Identifier: MIT
// An objective of which only value and gradient are written.
#include <gtest/gtest.h>

#include "symport/symport.hpp"

namespace symport {
namespace {

class OnlyGradient final : public Objective {
 public:
  Index dimension() const override { return exact_.dimension(); }
  double value(In<double> w) const override { return exact_.value(w); }
  double gradient(In<double> w, Out<double> gradient) const override {
    return exact_.gradient(w, gradient);
  }

 private:
  Rosenbrock exact_;
};

TEST(Objective, ValueAndGradientAreEnough) {
  const OnlyGradient objective;
  const Rosenbrock exact;
  Random random(4);
  for (int i = 0; i < 10; ++i) {
    const Vector w = random.normal_matrix(2, 1), v = random.normal_matrix(2, 1);
    Vector Hv(2), expected(2);
    objective.hessian_vector(w, v, Hv);
    exact.hessian_vector(w, v, expected);
    EXPECT_LE((Hv - expected).norm(), 1e-7 * expected.norm());
    objective.third_derivative(w, v, Hv);
    exact.third_derivative(w, v, expected);
    EXPECT_LE((Hv - expected).norm(), 1e-3 * (1.0 + expected.norm()));
  }
  Vector zero = Vector::Zero(2), Hv(2);
  objective.hessian_vector(zero, zero, Hv);
  EXPECT_EQ(Hv, zero);
}

TEST(Objective, ValueAndGradientAreEnoughForTeleports) {
  const OnlyGradient objective;
  const auto symmetry = rosenbrock_rotation();
  Vector w{{-1.0, -1.0}}, plain = w;
  const RunSummary without =
      train(objective, GradientDescent{}, plain, {.max_steps = 500, .learning_rate = 1e-3});
  const RunSummary with = train(
      objective, GradientDescent{}, w,
      {.max_steps = 500, .learning_rate = 1e-3, .teleport = {&symmetry, nullptr, every(100)}});
  EXPECT_GE(with.accepted_teleports(), 1);
  EXPECT_LT(with.final_loss, 0.1 * without.final_loss);
}

}  // namespace
}  // namespace symport
