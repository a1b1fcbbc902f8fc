// SPDX-License-Identifier: MIT
#include "symport/training/rehearsal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "symport/objectives/ellipse.hpp"
#include "symport/objectives/matrix_factorization.hpp"
#include "symport/objectives/rosenbrock.hpp"
#include "symport/optimizers/adagrad.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/optimizers/nesterov.hpp"
#include "symport/search/fixed_ascent.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "symport/search/random_search.hpp"
#include "symport/symmetries/factor_pair.hpp"
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
RehearsalOutcome rehearsed(Scripted::Losses losses, Outlook<double> outlook) {
  const Scripted objective(std::move(losses));
  const GradientDescent<double> optimizer;
  outlook.objective = [&](Index) -> const Objective& { return objective; };
  outlook.rate = [](Index) { return 1.0; };
  return rehearse<double>(outlook, optimizer, {Vector{{0.0, 0.0}}, {}}, {Vector{{1.0, 0.0}}, {}});
}

RehearsalOutcome rehearsed(Scripted::Losses losses, Index horizon = 1000, Index steps = 20) {
  return rehearsed(std::move(losses), Outlook<double>{.steps = steps, .horizon = horizon});
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

TEST(Rehearsal, RefusesABranchThatIsAheadOnAverageAndAtTwiceThePlainLossNowAndThen) {
  const auto peaks = [](double height) {
    return [=](double branch, double t) {
      if (branch == 0 || t == 0) return power(0.9, t);
      return power(0.9, t) * (std::fmod(t, 4.0) == 0.0 ? height : 0.3);
    };
  };
  EXPECT_THAT(rehearsed(peaks(3.0), 19).objection,
              HasSubstr("the loss may end at 3 times that of plain ones"));
  EXPECT_EQ(rehearsed(peaks(1.5), 19).objection, "");
  // On a batch of its own each loss says little.
  EXPECT_EQ(rehearsed(peaks(3.0), {.steps = 20, .horizon = 19, .noisy = true}).objection, "");
}

TEST(Rehearsal, GoesOnWhileTheLeadIsSmall) {
  const auto leads = [](double first, double then) {
    return [=](double branch, double t) {
      if (branch == 0 || t == 0) return power(0.9, t);
      return power(0.9, t) / (t < 30 ? first : then);
    };
  };
  EXPECT_EQ(rehearsed(leads(1.1, 0.8), 80).objection, "");
  const Outlook<double> longer{.steps = 20, .most = 80, .horizon = 80};
  const auto lost = rehearsed(leads(1.1, 0.8), longer);
  EXPECT_THAT(lost.objection, StartsWith("after 39 rehearsed steps"));
  EXPECT_EQ(lost.evaluations, 80.0);  // behind after twice as many
  const auto kept = rehearsed(leads(1.1, 1.2), longer);
  EXPECT_EQ(kept.objection, "");
  EXPECT_EQ(kept.evaluations, 160.0);
  // It is over where the branch is behind, or clearly ahead.
  EXPECT_EQ(rehearsed(leads(0.8, 2.0), longer).evaluations, 40.0);
  EXPECT_EQ(rehearsed(leads(20.0, 20.0), longer).evaluations, 40.0);
}

TEST(Rehearsal, BeyondTheNextTeleportObjectsToTwiceThePlainLossOnly) {
  const auto leads = [](double first, double then) {
    return [=](double branch, double t) {
      if (branch == 0 || t == 0) return power(0.9, t);
      return power(0.9, t) / (t <= 10 ? first : then);
    };
  };
  EXPECT_EQ(rehearsed(leads(1.1, 0.7), 10).objection, "");
  EXPECT_THAT(rehearsed(leads(1.1, 0.4), 10).objection, HasSubstr("may end at 2.5 times"));
  EXPECT_THAT(rehearsed(leads(0.9, 2.0), 10).objection, StartsWith("after 10 rehearsed steps"));
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

TEST(Rehearsal, LooksBeyondTheNextTeleportWhereGradientsAreRememberedForLong) {
  const Rosenbrock objective;
  const auto symmetry = rosenbrock_rotation();
  const auto cost = [&](const Optimizer& optimizer, double rate) {
    const auto first = [&](Index rehearsal) {
      Vector w = objective.start();
      const RunSummary run = train<double>(objective, optimizer, w,
                                           {.max_steps = 500,
                                            .learning_rate = rate,
                                            .teleport = {.symmetry = &symmetry,
                                                         .schedule = Schedule::parse("every:10"),
                                                         .rehearsal = rehearsal}});
      return run.teleports.at(0).evaluations;
    };
    return first(usual_rehearsal(optimizer)) - first(0);
  };
  EXPECT_GE(cost(Adam<double>(), 0.01), 200.0);
  EXPECT_GE(cost(AdaGrad<double>(), 0.1), 200.0);
  EXPECT_LE(cost(Momentum<double>(), 1e-4), 20.0);
}

/// The final loss with one teleport, rehearsed as usual, over that without.
double ratio(const TestFunction& objective, const Symmetry& symmetry, const Optimizer& optimizer,
             double rate, Index steps, const char* schedule, Index rehearsal) {
  const auto final_loss = [&](const char* when) {
    Random random(0);
    Vector w = objective.start();
    for (double& x : w) x += 0.1 * std::max(1.0, std::abs(x)) * random.normal();
    return train<double>(objective, optimizer, w,
                         {.max_steps = steps,
                          .learning_rate = rate,
                          .teleport = {.symmetry = &symmetry,
                                       .schedule = Schedule::parse(when),
                                       .rehearsal = rehearsal}})
        .final_loss;
  };
  return final_loss(schedule) / final_loss("never");
}

TEST(Rehearsal, IsTheDefaultWhereASearchCompares) {
  const GradientDescent<double> gd;
  const Adam<double> adam;
  const OrbitAscent ascent;
  const FixedAscent fixed;
  const RandomSearch best, blind({.keep_the_best = false});
  const auto steps = [](const Teleportation<double>& plan, const Optimizer& optimizer,
                        bool minibatches = false) {
    return rehearsal_of(plan, optimizer, minibatches);
  };
  EXPECT_EQ(steps({}, gd), 20);
  EXPECT_EQ(steps({}, adam), 100);
  EXPECT_EQ(steps({}, adam, true), 40);
  EXPECT_EQ(steps({.search = &ascent}, gd), 20);
  EXPECT_EQ(steps({.search = &best}, gd), 20);
  EXPECT_EQ(steps({.search = &fixed}, gd), 0);
  EXPECT_EQ(steps({.search = &blind}, gd), 0);
  EXPECT_EQ(steps({.schedule = Schedule::parse("auto")}, gd), 0);
  EXPECT_EQ(steps({.search = &fixed, .rehearsal = 5}, gd), 5);
  EXPECT_EQ(steps({.rehearsal = 0}, adam), 0);
}

// Both branches oscillate, and the teleported one is ahead on average.
TEST(Rehearsal, KeepsNesterovOnAnEllipseFromEndingAtTheWrongMoment) {
  const Ellipse objective;
  const auto symmetry = ellipse_rotation();
  const Nesterov<double> optimizer;
  EXPECT_GT(ratio(objective, symmetry, optimizer, 0.004, 200, "5", 0), 2.0);
  EXPECT_LE(ratio(objective, symmetry, optimizer, 0.004, 200, "5", 100), 1.0);
}

// After a hundred of a thousand steps the teleported branch is a little ahead.
TEST(Rehearsal, KeepsAdamOnAFactorizationFromALeadThatDoesNotLast) {
  const MatrixFactorization objective = MatrixFactorization::random(8, 6, 3, 0);
  const FactorPairSymmetry symmetry(objective);
  const Adam<double> optimizer;
  EXPECT_GT(ratio(objective, symmetry, optimizer, 0.001, 1000, "0", 0), 2.0);
  EXPECT_LE(ratio(objective, symmetry, optimizer, 0.001, 1000, "0", 100), 1.0);
}

}  // namespace
}  // namespace symport
