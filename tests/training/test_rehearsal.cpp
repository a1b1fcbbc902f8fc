// SPDX-License-Identifier: MIT
#include "symport/training/rehearsal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "symport/objectives/rosenbrock.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/symmetries/rotation.hpp"
#include "symport/training/train.hpp"

namespace symport {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A loss of its own kind for each branch: w[0] says which one it is, and w[1] counts the steps,
/// since its derivative is always -1 and gradient descent at rate 1 adds 1 to it.
class Scripted final : public Objective {
 public:
  using Losses = std::function<double(double branch, double step)>;
  explicit Scripted(Losses losses) : losses_(std::move(losses)) {}

  Index dimension() const override { return 2; }
  double value(In<double> w) const override { return losses_(w[0], w[1]); }
  double gradient(In<double> w, Out<double> g) const override {
    g[0] = 0.0;
    g[1] = -1.0;
    return value(w);
  }
  void hessian_vector(In<double>, In<double>, Out<double> Hv) const override { Hv.setZero(); }

 private:
  Losses losses_;
};

/// Branch 0 is the plain one, branch 1 the teleported one.
RehearsalOutcome rehearsed(Scripted::Losses losses, Index horizon = 1000, Index steps = 20) {
  const Scripted objective(std::move(losses));
  const GradientDescent<double> optimizer;
  const Outlook<double> outlook{.steps = steps,
                                .horizon = horizon,
                                .objective = [&](Index) -> const Objective& { return objective; },
                                .rate = [](Index) { return 1.0; }};
  return rehearse<double>(outlook, optimizer, {Vector{{0.0, 0.0}}, {}}, {Vector{{1.0, 0.0}}, {}});
}

double power(double base, double exponent) { return std::pow(base, exponent); }

TEST(Rehearsal, AcceptsABranchThatFallsFasterToTheEnd) {
  const auto outcome =
      rehearsed([](double branch, double t) { return power(branch > 0 ? 0.8 : 0.9, t); });
  EXPECT_EQ(outcome.objection, "");
  EXPECT_EQ(outcome.evaluations, 40.0);
}

TEST(Rehearsal, JudgesLossesBelowZeroByTheirDifferences) {
  const auto moved_by = [](double offset, double faster) {
    return [=](double branch, double t) { return power(branch > 0 ? faster : 0.9, t) - offset; };
  };
  for (const double offset : {0.5, 1.5, 1000.0}) {
    EXPECT_EQ(rehearsed(moved_by(offset, 0.8), 20).objection, "") << offset;
    EXPECT_EQ(rehearsed(moved_by(offset, 0.95), 20).objection,
              "after 19 rehearsed steps the loss would be above that of plain ones")
        << offset;
  }
}

TEST(Rehearsal, RefusesABranchThatIsAheadAndSlower) {
  const auto losses = [](double branch, double t) {
    if (t == 0) return 1.0;
    return branch > 0 ? 0.01 * power(0.99, t) : power(0.9, t);
  };
  EXPECT_THAT(rehearsed(losses).objection, StartsWith("plain steps catch up"));
  // Unless it will teleport again before they do.
  EXPECT_EQ(rehearsed(losses, 25).objection, "");
}

TEST(Rehearsal, RefusesABranchThatIsBehindWhenTheNextTeleportComes) {
  const auto losses = [](double branch, double t) { return branch > 0 ? 1.0 : power(0.9, t); };
  EXPECT_THAT(rehearsed(losses, 20).objection, HasSubstr("times that of plain ones"));
}

TEST(Rehearsal, EndsEarlyWhereABranchIsFarAhead) {
  const auto outcome =
      rehearsed([](double branch, double t) { return branch > 0 && t > 0 ? 1e-4 : 1.0; });
  EXPECT_EQ(outcome.objection, "");
  EXPECT_EQ(outcome.evaluations, 4.0);
  // A thousandth at the end is enough too, however slowly the rest of it falls.
  EXPECT_EQ(rehearsed([](double branch, double t) {
              return branch > 0 ? std::max(1e-9, power(0.1, t)) : power(0.9, t);
            }).objection,
            "");
}

TEST(Rehearsal, RefusesWhatDivergesOrRisesAndAcceptsWherePlainStepsDiverge) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(rehearsed([=](double branch, double t) {
                return branch > 0 && t > 5 ? infinity : 1.0;
              }).objection,
              HasSubstr("raise the loss to inf"));
  EXPECT_THAT(
      rehearsed([](double branch, double t) { return branch > 0 && t > 5 ? 20.0 : 1.0; }).objection,
      HasSubstr("raise the loss to 20"));
  EXPECT_EQ(rehearsed([=](double branch, double t) {
              return branch == 0 && t > 5 ? infinity : 1.0;
            }).objection,
            "");
}

TEST(Rehearsal, OfNoStepsSaysNothing) {
  const auto outcome = rehearsed([](double, double) { return 1.0; }, 1000, 0);
  EXPECT_EQ(outcome.objection, "");
  EXPECT_EQ(outcome.evaluations, 0.0);
}

TEST(Rehearsal, KeepsRosenbrockFromAJumpThatLosesTheRun) {
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  const Momentum<double> optimizer;
  const auto run = [&](const char* schedule, Index rehearsal) {
    Vector w = objective.start();
    return train<double>(objective, optimizer, w,
                         {.max_steps = 500,
                          .learning_rate = 1e-4,
                          .teleport = {.symmetry = &symmetry,
                                       .schedule = Schedule::parse(schedule),
                                       .rehearsal = rehearsal}});
  };
  const RunSummary plain = run("never", 0), greedy = run("5", 0), careful = run("5", 100);
  ASSERT_TRUE(greedy.teleports.at(0).accepted);
  EXPECT_GT(greedy.final_loss, 2.0 * plain.final_loss);
  EXPECT_LE(careful.final_loss, plain.final_loss);
  EXPECT_FALSE(careful.teleports.at(0).accepted);
  EXPECT_GE(careful.evaluations, plain.evaluations + 100.0);
}

}  // namespace
}  // namespace symport
