// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>

#include "support/networks.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/search/fixed_ascent.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/paper_action.hpp"
#include "symport/training/teleportation.hpp"

namespace symport {
namespace {

/// A network and a batch of 5 samples of which one is the sum of two others.
struct Dependent : ::testing::Test {
  Random random{61};
  testing::Problem<double> problem = testing::random_problem<double>(
      {10, 8, 9, 3}, "leaky_relu:0.1", "half_sum_squares", false, 5, random);
  GradientDescent<double> optimizer;
  OptimizerState<double> state = optimizer.init(problem.w.size());
  OrbitAscent search{{.max_steps = 3}};

  Dependent() {
    Matrix X = random.normal_matrix(10, 5);
    X.col(4) = X.col(0) + X.col(1);
    problem.objective.bind(X, problem.objective.targets());
  }

  Certificate teleport(const BasicSymmetry<double>& symmetry, const Search& by, double tolerance,
                       Vector& w) {
    const Teleportation<double> plan{.symmetry = &symmetry,
                                     .search = &by,
                                     .objective = ObjectiveKind::gradient_norm,
                                     .drift_tolerance = tolerance};
    return teleport_in_training<double>(problem.objective, optimizer, 1e-3, plan, random, state, w);
  }
};

TEST_F(Dependent, BatchIsRefusedWithItsNumbersAndTheParametersStay) {
  Vector w = problem.w;
  const Certificate c = teleport(GeneralLinear<double>(), search, 0.0, w);
  EXPECT_FALSE(c.accepted);
  EXPECT_NE(c.reason.find("5 samples have rank 4 in the 10 input features"), std::string::npos)
      << c.reason;
  EXPECT_EQ(c.loss_before, problem.objective.value(problem.w));
  EXPECT_EQ(w, problem.w);
}

TEST_F(Dependent, BatchIsNotTeleportedInPartAtTheExpenseOfTheWhole) {
  Vector w = problem.w;
  const Certificate c =
      teleport(GeneralLinear<double>({.allow_partial_batch = true}), search, 0.0, w);
  EXPECT_LE(c.drift, 1e-10);                                     // on the part
  EXPECT_LT(c.loss_before, problem.objective.value(problem.w));  // of four samples
  EXPECT_EQ(c.scope.samples, 4);
  EXPECT_EQ(c.scope.of, 5);
  EXPECT_EQ(c.scope.checked, 5);
  EXPECT_EQ(c.scope.loss_before, problem.objective.value(problem.w));
  EXPECT_GT(c.scope.loss_after, c.scope.loss_before);
  EXPECT_FALSE(c.accepted);
  EXPECT_NE(c.reason.find("the loss on the whole batch would rise"), std::string::npos) << c.reason;
  EXPECT_NE(c.reason.find("on 4 of 5 samples"), std::string::npos) << c.reason;
  EXPECT_EQ(w, problem.w);
}

TEST_F(Dependent, PaperActionSaysInItsCertificateThatItIsNotLossInvariant) {
  Vector w = problem.w;
  const FixedAscent fixed({.steps = 2, .rate = 1e-4});
  const Certificate refused = teleport(PaperAction<double>(), fixed, 1e-8, w);
  EXPECT_FALSE(refused.accepted);
  EXPECT_EQ(w, problem.w);
  const Certificate c =
      teleport(PaperAction<double>(), fixed, std::numeric_limits<double>::infinity(), w);
  EXPECT_TRUE(c.accepted) << c.reason;
  EXPECT_NE(c.reason.find("not loss-invariant"), std::string::npos) << c.reason;
  EXPECT_GT(c.drift, 1e-6);
}

}  // namespace
}  // namespace symport
