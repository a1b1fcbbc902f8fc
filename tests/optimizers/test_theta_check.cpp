// SPDX-License-Identifier: MIT
#include "optimizers/theta_check.hpp"

#include <gtest/gtest.h>

namespace symport {
namespace {

/// After a first step from a loss of 1 to w = 1, which is the best point so far.
struct Begun {
  OptimizerState<double> state;
  Vector w = Vector::Ones(2);

  Begun() {
    state.add("velocity", StateKind::cotangent, 2);
    ThetaCheck<double>::add(state, 2);
    ThetaCheck<double> check = this->check();
    EXPECT_TRUE(check.is_due());
    EXPECT_EQ(check.shorten(1.0, [](double part) { return part > 0.3 ? 2.0 : 0.5; }), 3);
    EXPECT_EQ(check.part(), 0.25);
    EXPECT_EQ(check.finish(
                  1.0, [](In<double>) { return 1.0; }, w),
              0);
    w.setConstant(5.0);
    state["velocity"].setConstant(3.0);
  }
  ThetaCheck<double> check() { return {state, 1, 4}; }
};

TEST(ThetaCheck, GoesBackToTheBestPointWhereTheMeanLossHasRisen) {
  Begun run;
  // 0.8 + 0.2 * 10 is more than 1.5; this batch, too, is better off there.
  EXPECT_EQ(run.check().finish(
                10.0, [](In<double> w) { return w[0]; }, run.w),
            1);
  EXPECT_EQ(run.w, Vector::Ones(2));
  EXPECT_EQ(run.state["velocity"], Vector::Zero(2));
  EXPECT_EQ(run.state["theta_limit"][0], 0.5);
}

TEST(ThetaCheck, StaysWhereOnlyTheBatchIsHarder) {
  Begun run;
  EXPECT_EQ(run.check().finish(
                10.0, [](In<double>) { return 20.0; }, run.w),
            1);
  EXPECT_EQ(run.w, Vector::Constant(2, 5.0));
  EXPECT_EQ(run.state["theta_limit"][0], 1.0);
}

}  // namespace
}  // namespace symport
