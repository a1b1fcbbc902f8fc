// SPDX-License-Identifier: MIT
#include "lab/runs/own_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/report/run_report.hpp"
#include "lab/runs/run_reader.hpp"
#include "lab/text/errors.hpp"
#include "support/temporary_directory.hpp"
#include "symport/objectives/booth.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/symmetries/rotation.hpp"
#include "symport/training/train.hpp"

namespace symport::lab {
namespace {

using ::testing::HasSubstr;

RunSummary some_run(Vector& w) {
  const Booth booth;
  const auto symmetry = booth_rotation();
  return train<double>(
      booth, GradientDescent{}, w,
      {.max_steps = 20, .learning_rate = 0.01, .teleport = {&symmetry, nullptr, every(10)}});
}

TEST(OwnRun, IsReadBackAndDrawn) {
  const test::TemporaryDirectory directory;
  Vector w{{5.0, -5.0}};
  const RunSummary summary = some_run(w);
  const OwnRun own{.name = "my function", .learning_rate = 0.01, .teleport = "every:10", .x = w};
  write_own_run(directory / "own", own, summary);
  const RunRecord record = read_run(directory / "own");
  EXPECT_EQ(record.trace.loss().back(), summary.final_loss);
  EXPECT_EQ(record.teleports.size(), summary.teleports.size());
  const report::Report page = report::run_report({record}, "");
  ASSERT_FALSE(page.sections.empty());
  EXPECT_THAT(page.sections[0].title, HasSubstr("own:my function"));
}

TEST(OwnRun, WithAFormulaItHasLevelSets) {
  const test::TemporaryDirectory directory;
  Vector w{{5.0, -5.0}};
  const RunSummary summary = some_run(w);
  const auto figures = [&](const std::string& name, const std::string& formula) {
    write_own_run(directory / name, {.name = "f", .formula = formula, .x = w}, summary);
    return report::run_report({read_run(directory / name)}, "").sections.at(0).figures.size();
  };
  EXPECT_EQ(figures("with", "(x1 + 2*x2 - 7)^2 + (2*x1 + x2 - 5)^2"), figures("without", "") + 1);
}

TEST(OwnRun, SaysWhatIsWrong) {
  const test::TemporaryDirectory directory;
  const RunSummary summary;
  EXPECT_THROW(write_own_run(directory / "a", {.name = "f", .optimizer = "adma"}, summary),
               UsageError);
  EXPECT_THROW(write_own_run(directory / "b", {.name = "f", .teleport = "soon"}, summary),
               UsageError);
  EXPECT_THROW(write_own_run(directory / "c", {.name = "f", .formula = "x1 +"}, summary),
               UsageError);
  EXPECT_THROW(write_own_run(directory / "d", {.name = ""}, summary), UsageError);
  EXPECT_FALSE(std::filesystem::exists(directory / "a"));
}

}  // namespace
}  // namespace symport::lab
