// SPDX-License-Identifier: MIT
// The paper's settings on its test functions (section 6.1, appendix D).
#include <gtest/gtest.h>

#include <algorithm>

#include "support/symmetries.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/search/angle_scan.hpp"
#include "symport/search/fixed_ascent.hpp"
#include "symport/training/train.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using Plan = Teleportation<double>;

const GradientDescent<double> paper_descent;

struct Setting {
  std::string name;
  std::shared_ptr<const TestFunction> function;
  RotationSymmetry symmetry;
};

Setting rosenbrock() {
  return {"rosenbrock", std::make_shared<Rosenbrock>(), rosenbrock_rotation()};
}
Setting booth() { return {"booth", std::make_shared<Booth>(), booth_rotation()}; }
Setting ellipse() { return {"ellipse", std::make_shared<Ellipse>(), ellipse_rotation()}; }

/// A run at the function's usual rate and steps. Every accepted teleport keeps the loss.
RunSummary run(const Setting& setting, Vector w, const Plan& plan, std::uint64_t seed = 0) {
  const UsualRun usual = setting.function->usual_run();
  RunSummary summary = train<double>(*setting.function, paper_descent, w,
                                     {.max_steps = usual.steps,
                                      .learning_rate = usual.learning_rate,
                                      .teleport = plan,
                                      .seed = seed,
                                      .trace = false});
  for (const Certificate& c : summary.teleports) {
    if (c.accepted) {
      EXPECT_LE(c.drift, tolerance::drift_near_a_minimum) << setting.name;
    }
  }
  return summary;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<double> final_losses_of_fixed_search(const Setting& setting, Schedule schedule,
                                                 double search_rate) {
  const FixedAscent search({.steps = 10, .rate = search_rate});
  std::vector<double> losses;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const RunSummary summary = run(setting, setting.function->start(),
                                   {.symmetry = &setting.symmetry,
                                    .search = &search,
                                    .schedule = schedule,
                                    .objective = ObjectiveKind::gradient_norm},
                                   seed);
    losses.push_back(std::isfinite(summary.final_loss) ? summary.final_loss : 1e300);
  }
  return losses;
}

TEST(PaperSettings, RosenbrockWithoutTeleportation) {
  EXPECT_NEAR(run(rosenbrock(), Vector{{-1.0, -1.0}}, {}).final_loss, 0.11134, 5e-6);
}

TEST(PaperSettings, RosenbrockWithThePapersSearch) {
  EXPECT_LT(median(final_losses_of_fixed_search(rosenbrock(), every(100, 99), 0.1)), 1e-6);
}

TEST(PaperSettings, RosenbrockWithTheScan) {
  const Setting setting = rosenbrock();
  const AngleScan scan;
  const RunSummary summary =
      run(setting, setting.function->start(),
          {.symmetry = &setting.symmetry, .search = &scan, .schedule = every(100, 99)});
  EXPECT_LT(summary.final_loss, 1e-20);
}

TEST(PaperSettings, BoothWithoutTeleportation) {
  EXPECT_NEAR(run(booth(), Vector{{5.0, -5.0}}, {}).final_loss, 2.2025, 5e-5);
}

TEST(PaperSettings, BoothWithThePapersSearch) {
  const auto losses = final_losses_of_fixed_search(booth(), at({4}), 1e-3);
  EXPECT_LT(*std::max_element(losses.begin(), losses.end()), 2e-3);
}

TEST(PaperSettings, BoothWithTheScan) {
  const Setting setting = booth();
  const AngleScan scan;
  const RunSummary summary =
      run(setting, setting.function->start(),
          {.symmetry = &setting.symmetry, .search = &scan, .schedule = at({4})});
  EXPECT_LT(summary.final_loss, 2e-3);
}

struct ScheduleRow {
  Setting setting;
  std::string schedule;
};

// From 100 starts the default search never loses to plain gradient paper_descent.
TEST(PaperSettings, DefaultSearchIsNeverWorseThanGradientDescent) {
  const std::vector<ScheduleRow> table = {
      {rosenbrock(), "every:100+99"}, {rosenbrock(), "every:100"},
      {rosenbrock(), "every:50"},     {booth(), "4"},
      {booth(), "every:100"},         {booth(), "every:2"},
      {ellipse(), "every:100"},       {ellipse(), "every:50"},
      {ellipse(), "every:10"}};
  for (const ScheduleRow& row : table) {
    const TestFunction& f = *row.setting.function;
    Random random(171);
    for (int i = 0; i < 100; ++i) {
      const double x = random.uniform(-1.5, 1.5), y = random.uniform(-1.5, 1.5);
      const Vector start{{x, y}};
      const RunSummary plain = run(row.setting, start, {});
      const RunSummary teleported =
          run(row.setting, start,
              {.symmetry = &row.setting.symmetry, .schedule = Schedule::parse(row.schedule)});
      EXPECT_NE(teleported.status, RunStatus::diverged);
      // At the rounding of the parameters two minima are equally good.
      EXPECT_LE(teleported.final_loss, std::max(plain.final_loss * (1.0 + 1e-12), 1e-28))
          << f.name() << " " << row.schedule << " from " << start.transpose() << ": "
          << teleported.brief_report();
    }
  }
}

}  // namespace
}  // namespace symport
