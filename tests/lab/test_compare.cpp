// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "lab/compare/comparison.hpp"
#include "lab/compare/judgement.hpp"
#include "support/temporary_directory.hpp"

namespace symport::lab {
namespace {

using Words = std::vector<std::string>;

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
  // The schedules of the other commands; a list has slashes for its commas.
  EXPECT_EQ(compare::parse_method("SGD+teleport:every:100+99,state=keep").options.text("teleport"),
            "every:100+99");
  EXPECT_EQ(compare::parse_method("sgd+GL:0/10/20").options.text("teleport"), "0,10,20");
  EXPECT_EQ(compare::parse_method("sgd+GL:5").options.text("optimizer"), "gd");
  EXPECT_EQ(compare::parse_method("sgd+GL:5").kind, "gl");
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

TEST(ComparePairs, AreCountedInWords) {
  const double inf = std::numeric_limits<double>::infinity();
  using List = std::vector<Bounds>;
  const List at_ten{{10, 10}, {10, 10}, {10, 10}};
  EXPECT_EQ(compare::PairCounts({{20, 20}, {100, inf}, {11, 11}}, at_ten).text("seeds"),
            "slower on all 3 seeds");
  EXPECT_EQ(compare::PairCounts({{20, 20}, {9, 9}, {10, 10}}, at_ten).text("problems"),
            "faster on 1 and slower on 1 of 3 problems");
  // Neither has finished: nobody knows.
  EXPECT_EQ(compare::PairCounts(List{{100, inf}, {5, 5}}, List{{100, inf}, {9, 9}}).text("seeds"),
            "faster on 1 of 2 seeds");
  EXPECT_EQ(compare::PairCounts(at_ten, at_ten).text("seeds"),
            "neither is ahead on any of 3 seeds");
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
  const std::string name = "quadratic:100,10";
  const FunctionProblem problem = make_problem(name);
  const Vector usual = problem.function->start();
  const double distance = (usual - problem.function->minimizer()).norm();
  double sum = 0.0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    sum += (compare::start_at(name, seed, 0.3) - usual).squaredNorm();
  }
  // 2000 squared normal numbers: their mean is known to about 3 per cent.
  EXPECT_NEAR(std::sqrt(sum / 20.0), 0.3 * distance, 0.03 * distance);
  EXPECT_EQ(compare::start_at(name, 4, 0.3), compare::start_at(name, 4, 0.3));
}

/// Tuning, thresholds and trials together are dozens of runs.
TEST(CompareData, IsReadOnceForAllRuns) {
  const test::TemporaryDirectory directory;
  test::put_file(directory / "t.csv", "a,b,k\n1,2,0\n3,1,1\n0,2,0\n2,2,1\n");
  Arguments arguments;
  const auto give = [&](const std::string& name, const std::string& text) {
    arguments.add({name, text, "--" + name});
  };
  give("problem", "csv:" + (directory / "t.csv").string());
  give("label", "k");
  give("layers", "2,3,2");
  give("method", "gd+rescale:at=1");
  give("method", "adam");
  give("grid", "1e-3..1e-1:1");
  give("seeds", "2");
  give("budget", "8evals");
  DataCache data;
  const compare::Comparison result =
      compare::run_comparison(compare::read_compare_options(arguments), data, {});
  std::size_t runs = 0;
  for (const compare::Entry& entry : result.problems.at(0).entries) {
    EXPECT_TRUE(entry.fits()) << entry.misfit;
    runs += entry.tuning.runs + entry.trials.size();
  }
  EXPECT_EQ(runs, 3u * (3 * 3 + 2));
  EXPECT_EQ(data.reads(), 1u);
}

}  // namespace
}  // namespace symport::lab
