// SPDX-License-Identifier: MIT
// The paper's regression (section 6.1): exact GL teleportation against plain optimizers on the five
// golden data sets and on ten of our own. The numbers and their commands: experiments/regression.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "support/network_golden.hpp"
#include "support/networks.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/objectives/initialization.hpp"
#include "symport/optimizers/adagrad.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/search/fixed_ascent.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/paper_action.hpp"
#include "symport/training/train.hpp"

namespace symport {
namespace {

struct Problem {
  MlpObjective<double> objective;
  Vector start;
};

Mlp regression_network() { return Mlp({5, 6, 7, 8}, Activation::parse("leaky_relu:0.1")); }

std::vector<Problem> golden_problems() {
  std::vector<Problem> problems;
  const auto golden = testing::read_network_golden("mlp_regression.json");
  for (const auto& run : golden.at("runs")) {
    problems.push_back(
        {MlpObjective<double>(regression_network(), Loss(Loss::Kind::half_sum_squares),
                              testing::golden_matrix(run.at("X")),
                              Targets<double>(testing::golden_matrix(run.at("Y")))),
         testing::flatten(testing::golden_matrices(run.at("W")))});
  }
  return problems;
}

std::vector<Problem> own_problems() {
  std::vector<Problem> problems;
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    const SampleSet<> data = regression_data({.seed = seed});
    Random random(seed, 1);
    problems.push_back(
        {MlpObjective<double>(regression_network(), Loss(Loss::Kind::half_sum_squares), data.X,
                              Targets<double>(data.Y)),
         initialize<double>(regression_network(), Initialization::unit, random)});
  }
  return problems;
}

struct RegressionSetting {
  double learning_rate = 1e-4;
  Schedule schedule = never();
  StatePolicy state = StatePolicy::keep;
  const Search* search = nullptr;
};

/// Loss at every one of 0 ... 300 for each problem.
struct Curves {
  std::vector<RunSummary> runs;

  double loss(std::size_t run, Index step) const {
    return runs[run].trace.rows.at(static_cast<std::size_t>(step)).loss;
  }
  double mean(Index step) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < runs.size(); ++i) sum += loss(i, step);
    return sum / static_cast<double>(runs.size());
  }
  double median(Index step) const {
    std::vector<double> losses;
    for (const RunSummary& run : runs) {
      // A run that has converged stays where it is.
      const auto row = std::min(static_cast<std::size_t>(step), run.trace.rows.size() - 1);
      losses.push_back(run.trace.rows[row].loss);
    }
    std::sort(losses.begin(), losses.end());
    return losses[losses.size() / 2];
  }
  double largest_drift() const {
    double largest = 0.0;
    for (const RunSummary& run : runs) {
      for (const Certificate& c : run.teleports) {
        if (c.accepted) largest = std::max(largest, c.drift);
      }
    }
    return largest;
  }
  bool any_diverged() const {
    return std::any_of(runs.begin(), runs.end(),
                       [](const RunSummary& run) { return run.status == RunStatus::diverged; });
  }
};

/// The next step alone decides about a teleport, as in the paper.
Curves run_all(const std::vector<Problem>& problems, const Optimizer& optimizer,
               const RegressionSetting& setting) {
  const GeneralLinear<double> symmetry;
  Curves curves;
  for (const Problem& problem : problems) {
    Vector w = problem.start;
    curves.runs.push_back(train<double>(problem.objective, optimizer, w,
                                        {.max_steps = 300,
                                         .learning_rate = setting.learning_rate,
                                         .teleport = {.symmetry = &symmetry,
                                                      .search = setting.search,
                                                      .schedule = setting.schedule,
                                                      .state = setting.state,
                                                      .rehearsal = 0}}));
  }
  return curves;
}

TEST(Regression, OneExactTeleportSpeedsUpGradientDescent) {
  const GradientDescent<double> gd;
  for (const auto& problems : {golden_problems(), own_problems()}) {
    const Curves plain = run_all(problems, gd, {});
    const Curves teleported = run_all(problems, gd, {.schedule = at({5})});
    EXPECT_FALSE(teleported.any_diverged());
    EXPECT_LE(teleported.mean(50), 3.0);
    EXPECT_GT(plain.mean(50), 15.0);
    EXPECT_LE(teleported.largest_drift(), 1e-12);
    RecordProperty("plain", std::to_string(plain.mean(50)));
    RecordProperty("teleported", std::to_string(teleported.mean(50)));
    std::cout << "GD 1e-4, loss at step 50: alone " << plain.mean(50) << ", one teleport "
              << teleported.mean(50) << ", drift " << teleported.largest_drift() << '\n';
  }
}

// All other defaults: the white gauge, with layer scales that suit the rate.
TEST(Regression, OneWhiteGaugeAndOneStepSolveIt) {
  const GradientDescent<double> gd;
  for (const auto& problems : {golden_problems(), own_problems()}) {
    const Curves curves = run_all(problems, gd, {.schedule = at({5})});
    EXPECT_FALSE(curves.any_diverged());
    EXPECT_LE(curves.mean(6), 1e-2);
    EXPECT_LE(curves.mean(15), 1e-20);
    EXPECT_LE(curves.largest_drift(), 1e-12);
    double cost = 0.0;
    for (const RunSummary& run : curves.runs) {
      EXPECT_EQ(run.teleports.at(0).reason, "white gauge");
      cost = std::max(cost, run.teleports.at(0).evaluations);
    }
    EXPECT_LE(cost, 30.0);
    std::cout << "GD 1e-4, one white gauge at step 5: loss " << curves.mean(6) << " at step 6, "
              << curves.mean(15) << " at step 15, drift " << curves.largest_drift() << ", cost "
              << cost << '\n';
  }
}

TEST(Regression, MeasuredStepsWithWhiteGaugesNeedTensOfEvaluations) {
  const CurvatureDescent<double> descent;
  for (const auto& problems : {golden_problems(), own_problems()}) {
    const Curves curves = run_all(problems, descent, {.schedule = every(1)});
    Index most_steps = 0;
    double most = 0.0;
    for (const RunSummary& run : curves.runs) {
      const auto there = std::find_if(run.trace.rows.begin(), run.trace.rows.end(),
                                      [](const TraceRow& row) { return row.loss <= 1e-20; });
      ASSERT_NE(there, run.trace.rows.end());
      most_steps = std::max(most_steps, there->step);
      most = std::max(most, there->evaluations);
    }
    EXPECT_LE(most_steps, 10);
    EXPECT_LE(most, 100.0);
    std::cout << "GD auto, white gauges: 1e-20 after at most " << most_steps << " steps and "
              << most << " evaluations\n";
  }
}

// At other rates, with biases, another activation and cross-entropy: better than plain descent.
TEST(Regression, WhiteGaugesHelpGradientDescentElsewhereToo) {
  const GradientDescent<double> gd;
  Random random(77);
  const GeneralLinear<double> symmetry;
  for (const char* activation : {"leaky_relu:0.1", "asinh"}) {
    for (const char* loss : {"half_sum_squares:sum", "half_sum_squares:mean", "cross_entropy:sum",
                             "cross_entropy:mean"}) {
      for (const bool biases : {false, true}) {
        for (const double rate : {1e-4, 1e-3}) {
          SCOPED_TRACE(std::string(activation) + " " + loss + (biases ? " biases " : " ") +
                       std::to_string(rate));
          const auto problem =
              testing::random_problem<double>({8, 9, 10, 4}, activation, loss, biases, 6, random);
          const auto run = [&](const Schedule& schedule) {
            Vector w = problem.w;
            return train<double>(problem.objective, gd, w,
                                 {.max_steps = 10,
                                  .learning_rate = rate,
                                  .teleport = {.symmetry = &symmetry, .schedule = schedule}});
          };
          const RunSummary plain = run(never()), moved = run(at({0}));
          ASSERT_TRUE(moved.teleports.at(0).accepted) << moved.teleports.at(0).reason;
          EXPECT_LE(moved.teleports.at(0).drift, 1e-10);
          // Scales commute with Leaky ReLU; elsewhere there is less to choose from.
          const bool homogeneous =
              problem.objective.network().activation().positively_homogeneous();
          EXPECT_LE(moved.final_loss, (homogeneous ? 0.5 : 1.0) * plain.final_loss);
        }
      }
    }
  }
}

TEST(Regression, RepeatedTeleportsAtAFixedRateNeverDiverge) {
  const GradientDescent<double> gd;
  for (const auto& problems : {golden_problems(), own_problems()}) {
    for (const Index period : {20, 50}) {
      const Curves curves = run_all(problems, gd, {.schedule = every(period)});
      EXPECT_FALSE(curves.any_diverged()) << "every " << period;
      EXPECT_LE(curves.largest_drift(), 1e-10);
      std::cout << "GD 1e-4, every " << period << ": median loss at 300 " << curves.median(300)
                << '\n';
    }
  }
}

TEST(Regression, AdaGradGainsWithItsStateKept) {
  const AdaGrad<double> adagrad;
  for (const auto& problems : {golden_problems(), own_problems()}) {
    const Curves plain = run_all(problems, adagrad, {.learning_rate = 0.1});
    const Curves kept = run_all(problems, adagrad, {.learning_rate = 0.1, .schedule = at({5})});
    const Curves reset =
        run_all(problems, adagrad,
                {.learning_rate = 0.1, .schedule = at({5}), .state = StatePolicy::reset});
    // The reset alone: the same state policy without a move.
    Curves reset_only;
    for (const Problem& problem : problems) {
      Vector w = problem.start;
      RunSummary before =
          train<double>(problem.objective, adagrad, w, {.max_steps = 5, .learning_rate = 0.1});
      const RunSummary after =
          train<double>(problem.objective, adagrad, w, {.max_steps = 295, .learning_rate = 0.1});
      before.trace.rows.pop_back();
      before.trace.rows.insert(before.trace.rows.end(), after.trace.rows.begin(),
                               after.trace.rows.end());
      reset_only.runs.push_back(std::move(before));
    }
    EXPECT_LE(kept.mean(100), 2.2);
    EXPECT_LT(kept.mean(100), plain.mean(100));
    EXPECT_LE(kept.largest_drift(), 1e-10);
    std::cout << "AdaGrad 0.1, loss at step 100: alone " << plain.mean(100) << ", state kept "
              << kept.mean(100) << ", reset with teleport " << reset.mean(100)
              << ", reset without teleport " << reset_only.mean(100) << '\n';
  }
}

TEST(Regression, TheDecrementMakesGradientDescentConvergeLikeNewton) {
  const CurvatureDescent<double> descent;
  const OrbitAscent one_step({.max_steps = 1});
  for (const auto& problems : {golden_problems(), own_problems()}) {
    const Curves plain = run_all(problems, descent, {});
    const Curves teleported =
        run_all(problems, descent, {.schedule = every(2), .search = &one_step});
    EXPECT_LE(teleported.median(299), 1e-8);
    EXPECT_GT(plain.median(299), 1e-3);
    EXPECT_LE(teleported.largest_drift(), 1e-8);
    std::cout << "GD auto, loss at step 299: alone " << plain.median(299)
              << ", one ascent step every second step " << teleported.median(299) << '\n';
  }
}

TEST(Regression, PaperModeShowsItsDriftAndSaysSo) {
  const Problem problem = golden_problems().front();
  const PaperAction<double> symmetry;
  const FixedAscent search({.steps = 8, .rate = 1e-7});
  Vector w = problem.start;
  const RunSummary run = train<double>(problem.objective, GradientDescent<double>{}, w,
                                       {.max_steps = 50,
                                        .learning_rate = 1e-4,
                                        .teleport = {.symmetry = &symmetry,
                                                     .search = &search,
                                                     .schedule = at({5}),
                                                     .objective = ObjectiveKind::gradient_norm}});
  ASSERT_EQ(run.teleports.size(), 1U);
  const Certificate& c = run.teleports.front();
  std::cout << "paper mode, seed 0: " << c.loss_before << " -> " << c.loss_after << ", loss at 50 "
            << run.final_loss << '\n';
  EXPECT_TRUE(c.accepted);
  EXPECT_GT(c.drift, 0.1);
  EXPECT_NE(c.reason.find("not loss-invariant"), std::string::npos) << c.reason;
}

}  // namespace
}  // namespace symport
