// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/process.hpp"
#include "compare/method.hpp"
#include "compare/trial.hpp"
#include "errors.hpp"
#include "registry.hpp"

namespace symport::cli::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

struct BadComparison {
  const char* name;
  Words words;
  Words expected;
};

void PrintTo(const BadComparison& bad, std::ostream* out) { *out << bad.name; }

class BadComparisonTest : public ::testing::TestWithParam<BadComparison> {};

TEST_P(BadComparisonTest, IsExitTwoWithAMessageAndNothingWritten) {
  const TemporaryDirectory directory;
  Words words{"compare"};
  words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
  words.insert(words.end(), {"--out", "result"});
  const Finished run = symport(words, {.directory = directory.path()});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_EQ(run.out, "");
  for (const std::string& part : GetParam().expected) EXPECT_THAT(run.err, HasSubstr(part));
  EXPECT_EQ(directory.entries(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Words, BadComparisonTest,
    ::testing::Values(
        BadComparison{
            "UnknownProblem",
            {"rosenbrok"},
            {"PROBLEM: found 'rosenbrok'", "regression", "mnist", "did you mean 'rosenbrock'?"}},
        BadComparison{"ProblemTwice", {"booth", "booth"}, {"'booth' is given more than once"}},
        BadComparison{"BadParameter", {"quadratic:0"}, {"PROBLEM: found 'quadratic:0' (N is 0)"}},
        BadComparison{"UnknownOptimizer",
                      {"booth", "--method", "adma"},
                      {"--method 'adma': found 'adma'", "did you mean 'adam'?"}},
        BadComparison{"UnknownSymmetry",
                      {"booth", "--method", "gd+rescle:at=0"},
                      {"found 'rescle'", "teleport, random, gl", "did you mean 'rescale'?"}},
        BadComparison{"UnknownOption",
                      {"booth", "--method", "gd+teleport:evry=5"},
                      {"found 'evry'", "did you mean 'every'?"}},
        BadComparison{"UnknownState",
                      {"booth", "--method", "adagrad+teleport:at=0,state=restart"},
                      {"state: found 'restart'", "keep, reset, transport"}},
        BadComparison{"UnknownSearch",
                      {"booth", "--method", "gd+teleport:at=0,search=scna"},
                      {"search: found 'scna'", "did you mean 'scan'?"}},
        BadComparison{"NoSchedule",
                      {"booth", "--method", "gd+teleport"},
                      {"does not say when to teleport", "every=50"}},
        BadComparison{"TwoSchedules",
                      {"booth", "--method", "gd+teleport:at=0,every=5"},
                      {"'every' is given more than once"}},
        BadComparison{"BadSchedule",
                      {"booth", "--method", "gd+teleport:every=x"},
                      {"--method 'gd+teleport:every=x': every: found"}},
        BadComparison{"NoValue",
                      {"booth", "--method", "gd+teleport:every="},
                      {"found 'every='", "OPTION=VALUE"}},
        BadComparison{"NothingBehindThePlus", {"booth", "--method", "gd+"}, {"OPTIMIZER"}},
        BadComparison{"EmptyMethod", {"booth", "--method", "+teleport:at=0"}, {"OPTIMIZER"}},
        BadComparison{
            "OptimizerOption", {"booth", "--method", "gd:rate=1"}, {"found 'rate', allowed is lr"}},
        BadComparison{"BadRate",
                      {"booth", "--method", "gd:lr=fast", "--seeds", "1"},
                      {"--method 'gd:lr=fast': lr: found 'fast'"}},
        BadComparison{"AutomaticRate",
                      {"booth", "--method", "adam:lr=auto", "--seeds", "1"},
                      {"lr: found 'auto'", "auto needs --optimizer gd"}},
        BadComparison{"SymmetryOfNetworks",
                      {"booth", "--method", "gd+gl:at=0", "--lr", "0.1"},
                      {"booth has the symmetry SO(2), not gl"}},
        BadComparison{"OptionOfNetworks",
                      {"booth", "--method", "gd+teleport:at=0,kappa=2", "--lr", "0.1"},
                      {"kappa: booth has no such option"}},
        BadComparison{"RandomHasNoSearch",
                      {"booth", "--method", "gd+random:at=0,search=scan"},
                      {"found 'search'"}},
        BadComparison{
            "BadBudget", {"booth", "--budget", "5"}, {"--budget: found '5'", "2000evals", "5s"}},
        BadComparison{"ZeroBudget", {"booth", "--budget", "0s"}, {"--budget: found '0s'"}},
        BadComparison{"BadTarget", {"booth", "--target", "low"}, {"--target: found 'low'", "rel:"}},
        BadComparison{
            "TargetAboveStart", {"booth", "--target", "rel:2"}, {"--target: found 'rel:2'"}},
        BadComparison{
            "BadGrid", {"booth", "--grid", "1..2..3"}, {"--grid: found '1..2..3'", "1e-5..10:3"}},
        BadComparison{
            "GridTurnedAround", {"booth", "--grid", "1..0.1:2"}, {"--grid: found '1..0.1:2'"}},
        BadComparison{"HugeGrid", {"booth", "--grid", "1e-300..1e300:10"}, {"at most 1000 rates"}},
        BadComparison{
            "TuneAndRate", {"booth", "--tune", "--lr", "0.1"}, {"--lr: goes without --tune"}},
        BadComparison{"NoSeeds", {"booth", "--seeds", "0"}, {"--seeds: found '0'"}},
        BadComparison{"BadConfidence", {"booth", "--confidence", "95"}, {"between 0 and 1"}},
        BadComparison{
            "LayersOfAFunction", {"booth", "--layers", "2,3"}, {"--layers: goes with data"}},
        BadComparison{"MinibatchWithoutTarget",
                      {"regression", "--batch", "5"},
                      {"--target: mini-batches on regression need a loss"}},
        BadComparison{"NotFetched",
                      {"mnist", "--data-dir", "nowhere", "--layers", "784,8,10", "--seeds", "1",
                       "--method", "gd"},
                      {"mnist", "symport data fetch mnist"}},
        BadComparison{"UnknownFlag", {"booth", "--methd", "gd"}, {"did you mean '--method'?"}}),
    [](const auto& info) { return info.param.name; });

TEST(CompareMethod, IsParsedToTheOptionsOfTheCommands) {
  const auto method =
      compare::parse_method("gd:lr=auto+rescale:every=100+99,kappa=2,state=reset,search-steps=3");
  EXPECT_EQ(method.optimizer, "gd:lr=auto");
  EXPECT_EQ(method.kind, "rescale");
  EXPECT_EQ(method.options.text("optimizer"), "gd");
  EXPECT_EQ(method.options.text("lr"), "auto");
  EXPECT_EQ(method.options.text("teleport"), "every:100+99");
  EXPECT_EQ(method.options.text("kappa"), "2");
  EXPECT_EQ(method.options.text("state"), "reset");
  EXPECT_EQ(method.options.text("search-steps"), "3");
  EXPECT_EQ(compare::parse_method("gd+teleport:at=0/10/20").options.text("teleport"), "0,10,20");
  EXPECT_EQ(compare::parse_method("gd+random:at=1").options.text("search"), "blind");
  EXPECT_FALSE(compare::parse_method("adam").teleports());
}

TEST(CompareMethod, PlainFormsAreAddedOnceAndComeFirst) {
  const auto names = [](const std::vector<compare::Method>& methods) {
    Words list;
    for (const auto& method : methods) list.push_back(method.text);
    return list;
  };
  const auto parsed = [](const Words& texts) {
    std::vector<compare::Method> methods;
    for (const std::string& text : texts) methods.push_back(compare::parse_method(text));
    return methods;
  };
  EXPECT_EQ(names(compare::with_baselines(
                parsed({"gd+teleport:at=0", "adam", "adam+teleport:at=0", "gd+random:at=0"}))),
            (Words{"adam", "gd", "gd+teleport:at=0", "adam+teleport:at=0", "gd+random:at=0"}));
  EXPECT_EQ(names(compare::with_baselines(parsed({"newton"}))), (Words{"newton"}));
}

TEST(CompareBudget, HasTwoUnits) {
  EXPECT_EQ(compare::parse_budget("2000evals").text(), "2000evals");
  EXPECT_EQ(compare::parse_budget("500ms").text(), "0.5s");
  EXPECT_EQ(compare::parse_budget("1.5s").amount, 1.5);
  EXPECT_EQ(compare::parse_target("rel:0.01").text(), "rel:0.01");
  EXPECT_EQ(compare::parse_target("-0.5").value, -0.5);
}

/// Starts of different seeds differ by what was asked for, whatever the problem's size.
TEST(CompareStart, IsSpreadAroundTheUsualOne) {
  const compare::Problem problem{.name = "quadratic:100,10"};
  const Vector usual = make_problem(problem.name).function->start();
  const double distance = (usual - make_problem(problem.name).function->minimizer()).norm();
  double sum = 0.0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    sum += (compare::start_at(problem, seed, 0.3) - usual).squaredNorm();
  }
  // 2000 squared normal numbers: their mean is known to about 3 per cent.
  EXPECT_NEAR(std::sqrt(sum / 20.0), 0.3 * distance, 0.03 * distance);
  EXPECT_EQ(compare::start_at(problem, 4, 0.3), compare::start_at(problem, 4, 0.3));
}

}  // namespace
}  // namespace symport::cli::testing
