// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "lab/benchmark/benchmark.hpp"
#include "lab/benchmark/output.hpp"

namespace symport::lab::benchmark {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

Arguments arguments(const std::vector<std::pair<std::string, std::string>>& given) {
  Arguments all;
  for (const auto& [name, text] : given) all.add({name, text, "--" + name});
  return all;
}

/// Runs that reach a loss of 1e-4 from 1 after so many evaluations, a second for every ten; 0: they
/// stay at 0.5.
RecordedRun run_that_needs(double evaluations, std::uint64_t seed) {
  RecordedRun run{
      .seed = seed, .start = 1.0, .evaluations = {1.0}, .seconds = {0.1}, .losses = {1.0}};
  if (evaluations > 0.0) {
    run.evaluations.push_back(evaluations);
    run.seconds.push_back(evaluations / 10.0);
  } else {
    run.evaluations.push_back(2.0);
    run.seconds.push_back(0.2);
  }
  run.losses.push_back(evaluations > 0.0 ? 1e-4 : 0.5);
  run.last_loss = run.losses.back();
  run.spent = {1000.0, 1000.0, 100.0};
  return run;
}

/// A benchmark with planted costs: problems x methods, the same for both seeds.
Benchmark planted(const Words& methods, const std::vector<std::vector<double>>& costs) {
  Benchmark result;
  for (const std::string& text : methods) {
    result.options.methods.push_back(compare::parse_method(text));
  }
  result.options.seeds = 2;
  result.options.tuning_seeds = 1;
  result.options.grid = RateGrid{.lowest = 0.01, .highest = 1.0, .per_decade = 1};
  result.options.budget = compare::Budget{Unit::evaluations, 1000.0};
  for (const std::vector<double>& row : costs) {
    ProblemCells problem{find_problem("ellipse")};
    for (const double cost : row) {
      Cell& cell = problem.cells.emplace_back();
      for (const char* rate : {"0.01", "0.1", "1"}) {
        // The middle rate needs `cost`, the last ten times as much, the first does not get there.
        const double needs = std::string(rate) == "0.1" ? cost : rate[0] == '1' ? 10.0 * cost : 0.0;
        cell.tuning.push_back({rate, {run_that_needs(needs, 1'000'000)}});
      }
      cell.chosen = 1;
      cell.runs = {run_that_needs(cost, 0), run_that_needs(cost, 1)};
    }
    result.problems.push_back(std::move(problem));
  }
  return result;
}

TEST(RecordedRun, KeepsTheLowestLossesAndEveryBitInJson) {
  compare::Trial trial;
  trial.points = {{0, 1, 0.1}, {1, 2, 0.2}, {2, 3, 0.3}, {3, 4, 1.0 / 3.0}};
  trial.losses = {4.0, 5.0, 2.0, 1.0 / 3.0};
  trial.last_loss = infinity;
  trial.status = RunStatus::diverged;
  const RecordedRun run = recorded(trial, 7, {4.0, 0.0});
  EXPECT_THAT(run.losses, ElementsAre(4.0, 2.0, 1.0 / 3.0));
  EXPECT_EQ(run.reached(2.5)->evaluations, 3.0);
  EXPECT_EQ(run.reached(4.0)->evaluations, 1.0);
  EXPECT_FALSE(run.reached(0.3).has_value());
  EXPECT_EQ(run.best(), 1.0 / 3.0);
  const RecordedRun again = recorded_run(nlohmann::ordered_json::parse(run_json(run).dump()));
  EXPECT_EQ(again.losses, run.losses);
  EXPECT_EQ(again.seconds, run.seconds);
  EXPECT_EQ(again.last_loss, infinity);
  EXPECT_EQ(again.status, RunStatus::diverged);
  EXPECT_EQ(run_json(again), run_json(run));
  auto damaged = run_json(run);
  damaged["losses"].erase(0);
  EXPECT_THROW(recorded_run(damaged), InvalidArgument);
}

TEST(BenchmarkTarget, IsAPartOfTheWayToTheBestLossKnown) {
  const RecordedRun far{.start = 3.0, .losses = {3.0, 1.0}}, near{.start = 3.0, .losses = {2.0}};
  const std::vector<RecordedRun> one{far}, other{near};
  // A test function has its minimum; other problems what was found.
  EXPECT_THAT(targets_of(find_problem("ellipse"), {&one, &other}, 0.1),
              ElementsAre(::testing::DoubleEq(0.3)));
  EXPECT_THAT(targets_of(find_problem("regression"), {&one, &other}, 0.1),
              ElementsAre(::testing::DoubleEq(1.2)));
  const std::vector<RecordedRun> worse{{.start = 3.0, .losses = {}}};
  EXPECT_THAT(targets_of(find_problem("regression"), {&worse}, 0.1), ElementsAre(-infinity));
}

TEST(BenchmarkStandings, AreThoseThatOneComputesByHand) {
  // adam is best on two problems and does not solve the third.
  const Benchmark result =
      planted({"gd", "adam", "newton:lr=1"}, {{20, 10, 40}, {15, 10, 0}, {30, 0, 10}});
  const Costs costs = costs_of(result, 1e-3);
  ASSERT_EQ(costs.evaluations.rows(), 6);
  EXPECT_EQ(costs.evaluations(0, 0), 20.0);
  EXPECT_EQ(costs.seconds(0, 0), 2.0);
  EXPECT_EQ(costs.evaluations(2, 2), infinity);
  const std::vector<Standing> standings = standings_of(result, costs);
  EXPECT_DOUBLE_EQ(standings[0].evaluations.efficiency, (0.5 + 2.0 / 3.0 + 1.0 / 3.0) / 3.0);
  EXPECT_DOUBLE_EQ(standings[1].evaluations.efficiency, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(standings[2].evaluations.efficiency, (0.25 + 0.0 + 1.0) / 3.0);
  EXPECT_EQ(standings[1].evaluations.rank, 1u);
  EXPECT_EQ(standings[0].evaluations.rank, 2u);
  EXPECT_EQ(standings[2].evaluations.rank, 3u);
  EXPECT_EQ(standings[0].evaluations.near, 1u);  // 15 <= 1.5 times 10
  EXPECT_EQ(standings[0].evaluations.best, 0u);
  EXPECT_EQ(standings[1].evaluations.best, 2u);
  EXPECT_EQ(standings[1].solved, 2u);
  EXPECT_EQ(standings[1].solved_runs, 4u);
  EXPECT_THAT(ranking(standings, Unit::evaluations), ElementsAre(1, 0, 2));
  // One of three rates is within twice the best.
  EXPECT_DOUBLE_EQ(standings[0].good_decades, 1.0);
  const Sensitivity sensitivity = sensitivity_of(result, 0);
  EXPECT_THAT(sensitivity.factor, ElementsAre(0.1, 1.0, 10.0));
  EXPECT_THAT(sensitivity.efficiency, ElementsAre(0.0, 1.0, ::testing::DoubleNear(0.1, 1e-12)));
}

TEST(BenchmarkVerdict, CanBeThatAMethodWins) {
  const Words methods{"gd", "newton:lr=1", "gd+teleport:every:10"};
  const std::vector<std::vector<double>> clear(8, {30.0, 10.0, 20.0});
  const Benchmark result = planted(methods, clear);
  const Findings findings(result);
  EXPECT_TRUE(findings.evaluations.won);
  EXPECT_THAT(findings.evaluations.leaders, ElementsAre("newton:lr=1"));
  EXPECT_THAT(findings.evaluations.text, HasSubstr("newton:lr=1 wins"));
  EXPECT_THAT(findings.evaluations.text, HasSubstr("within 1.5 times the best on 8 of 8"));
  EXPECT_THAT(findings.evaluations.text, HasSubstr("Teleportation did not help"));
  EXPECT_EQ(findings.evaluations.teleportation, compare::Effect::did_not_help);
  EXPECT_THAT(findings.seconds.text, HasSubstr("In seconds newton:lr=1 wins"));
}

TEST(BenchmarkVerdict, CanBeThatNoMethodWins) {
  const Words methods{"gd", "adam"};
  std::vector<std::vector<double>> mixed(4, {29.0, 10.0});
  mixed.insert(mixed.end(), 4, {10.0, 30.0});
  const Findings open(planted(methods, mixed));
  EXPECT_FALSE(open.evaluations.won);
  EXPECT_THAT(open.evaluations.text, HasSubstr("no method wins: gd is ahead"));
  EXPECT_THAT(open.evaluations.text, HasSubstr("adam may be as good"));
  const Findings none(planted(methods, {{0.0, 0.0}}));
  EXPECT_THAT(none.evaluations.text, HasSubstr("none solved a problem"));
  const Findings tied(planted(methods, {{10.0, 10.0}, {20.0, 20.0}}));
  EXPECT_THAT(tied.evaluations.text, HasSubstr("gd and adam tie"));
  EXPECT_EQ(tied.standings[1].evaluations.rank, 1u);
}

/// Where teleports were made: twice as high, lost, half as high.
TEST(BenchmarkHarm, ComparesWithThePlainFormOfTheSameOptimizer) {
  Benchmark result = planted({"gd", "gd+teleport:every:10"}, {{10, 10}, {10, 10}, {10, 10}});
  const auto end = [&](std::size_t problem, double plain, double other) {
    for (int seed = 0; seed < 2; ++seed) {
      result.problems[problem].cells[0].runs[seed].last_loss = plain;
      RecordedRun& run = result.problems[problem].cells[1].runs[seed];
      run.last_loss = other;
      run.accepted = 1;
      if (std::isinf(other)) run.status = RunStatus::diverged;
    }
  };
  end(0, 1e-3, 2.5e-3);
  end(1, 1e-3, infinity);
  end(2, 1e-3, 1e-4);
  result.problems[0].cells[1].runs[1].accepted = 0;  // no pair
  const Harm harm = Findings(result).standings[1].harm;
  EXPECT_EQ(harm.pairs, 5u);
  EXPECT_EQ(harm.harmed, 3u);
  EXPECT_EQ(harm.serious, 2u);
  EXPECT_EQ(harm.helped, 2u);
}

TEST(BenchmarkOutput, HasALinePerRunAndAllSections) {
  Benchmark result = planted({"gd", "adam"}, {{20, 10}, {15, 10}});
  result.problems[1].cells[1] = Cell{.misfit = "it does not fit"};
  const Findings findings(result);
  const std::string csv = results_csv(result);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3 * 2);
  EXPECT_THAT(csv, HasSubstr("ellipse,adam,1,0.1,1,10,1.000000000,1,"));
  const auto json = nlohmann::json::parse(benchmark_json(result, findings));
  EXPECT_EQ(json["standings"].size(), 2u);
  EXPECT_EQ(json["problems"][1]["methods"][1]["misfit"], "it does not fit");
  EXPECT_EQ(json["profiles"].size(), 3u);
  const report::Report page = benchmark_report(result, findings);
  Words titles;
  for (const auto& section : page.sections) {
    for (const auto& table : section.tables) titles.push_back(table.title);
  }
  EXPECT_THAT(titles, Contains("Methods over all problems"));
  EXPECT_THAT(titles, Contains("Methods that do not fit a problem"));
}

TEST(BenchmarkOutput, DrawsTheBestMethodThatTeleports) {
  Words methods{"gd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw", "lbfgs"};
  methods.insert(methods.end(), {"gd+teleport:every:10", "gd+random:every:10"});
  const Benchmark result = planted(methods, {{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}});
  const report::Report page = benchmark_report(result, Findings(result));
  const auto& figure = std::get<report::CurveFigure>(page.sections.at(0).figures.at(0));
  Words names;
  for (const report::Series& series : figure.series) names.push_back(series.name);
  EXPECT_THAT(names, ElementsAre("gd", "momentum", "nesterov", "adagrad", "rmsprop", "adam",
                                 "gd+teleport:every:10"));
}

TEST(BenchmarkSuites, NameKnownProblemsAndMethods) {
  for (const Suite& suite : suites()) {
    SCOPED_TRACE(suite.name);
    EXPECT_GE(suite.problems.size(), 6u) << "fewer give no interval at 95 %";
    for (const std::string& name : suite.problems) EXPECT_EQ(find_problem(name).name, name);
    for (const std::string& text : suite.methods) {
      // A suite's method is written as the table shows it.
      EXPECT_EQ(compare::parse_method(text).text, text);
    }
  }
  EXPECT_THROW(find_problem("nothing"), UsageError);
}

TEST(BenchmarkOptions, NamesTheCommandThatFetchesWhatIsMissing) {
  try {
    read_benchmark_options(arguments(
        {{"suite", "tabular"}, {"problems", "iris"}, {"problems", "wine"}, {"data-dir", "/none"}}));
    FAIL() << "nothing is there";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("symport data fetch iris wine --data-dir /none"));
  }
}

/// Cells in memory, and a stop after some of them.
struct Memory {
  std::map<std::string, std::string> files{};
  std::size_t stop_after = 1'000'000;

  Benchmark run(const BenchmarkOptions& options) {
    std::mutex guard;
    std::size_t written = 0;
    DataCache data;
    return run_benchmark(options, data,
                         {.read = [&](const std::string& name) -> std::optional<std::string> {
                            const std::scoped_lock lock(guard);
                            const auto found = files.find(name);
                            return found == files.end() ? std::nullopt
                                                        : std::optional(found->second);
                          },
                          .write =
                              [&](const std::string& name, const std::string& text) {
                                const std::scoped_lock lock(guard);
                                files[name] = text;
                                ++written;
                              }},
                         {.keep_going = [&] {
                           const std::scoped_lock lock(guard);
                           return written < stop_after;
                         }});
  }
};

BenchmarkOptions small(const Words& methods, const std::string& jobs = "2") {
  std::vector<std::pair<std::string, std::string>> given{
      {"problems", "ellipse"},    {"problems", "quadratic:4,10"},
      {"problems", "regression"}, {"seeds", "2"},
      {"tuning-seeds", "1"},      {"grid", "1e-3..0.1:1"},
      {"budget", "150evals"},     {"jobs", jobs}};
  for (const std::string& method : methods) given.emplace_back("methods", method);
  return read_benchmark_options(arguments(given));
}

/// The results without their times.
std::string timeless(Benchmark result) {
  for (ProblemCells& problem : result.problems) {
    for (Cell& cell : problem.cells) {
      for (RecordedRun& run : cell.runs) {
        run.spent.seconds = 0.0;
        for (double& seconds : run.seconds) seconds = 0.0;
      }
    }
  }
  return results_csv(result);
}

/// The smoke test of the whole: a copy ties, and random directions rank last.
TEST(BenchmarkRun, TiesACopyAndRanksAPlantedBadMethodLast) {
  const Words methods{"gd", "sgd", "momentum", "newton:lr=1", "random_direction"};
  const Benchmark result = Memory().run(small(methods));
  ASSERT_EQ(result.problems.size(), 3u);
  const Findings findings(result);
  const auto standing = [&](const std::string& method) {
    return *std::find_if(findings.standings.begin(), findings.standings.end(),
                         [&](const Standing& one) { return one.method == method; });
  };
  EXPECT_EQ(standing("sgd").evaluations.efficiency, standing("gd").evaluations.efficiency);
  EXPECT_EQ(standing("sgd").evaluations.rank, standing("gd").evaluations.rank);
  EXPECT_EQ(standing("random_direction").evaluations.rank, methods.size());
  EXPECT_EQ(standing("random_direction").seconds.rank, methods.size());
  EXPECT_EQ(standing("newton:lr=1").evaluations.rank, 1u);
}

TEST(BenchmarkRun, DoesNotDependOnTheNumberOfJobs) {
  const Words methods{"gd", "adam", "gd+teleport:every:10"};
  EXPECT_EQ(timeless(Memory().run(small(methods, "1"))),
            timeless(Memory().run(small(methods, "3"))));
}

TEST(BenchmarkRun, GoesOnWhereItWasInterrupted) {
  const Words methods{"gd", "adam", "gd+teleport:every:10"};
  const BenchmarkOptions options = small(methods);
  const std::string whole = timeless(Memory().run(options));
  for (const std::size_t stop : {1u, 5u, 8u}) {
    SCOPED_TRACE(stop);
    Memory memory{.stop_after = stop};
    const Benchmark part = memory.run(options);
    EXPECT_TRUE(part.interrupted);
    EXPECT_LT(part.problems.size(), 3u);
    const std::size_t there = memory.files.size();
    memory.stop_after = 1'000'000;
    const Benchmark rest = memory.run(options);
    EXPECT_EQ(rest.kept, there);
    EXPECT_EQ(timeless(rest), whole);
    // Once complete nothing runs again, and the times are those of the files.
    const Benchmark again = memory.run(options);
    EXPECT_EQ(again.kept, memory.files.size());
    EXPECT_EQ(results_csv(again), results_csv(rest));
  }
}

TEST(BenchmarkRun, AnotherMethodRunsAlone) {
  Memory memory;
  memory.run(small({"gd"}));
  const std::size_t before = memory.files.size();
  const Benchmark more = memory.run(small({"gd", "gd:lr=1e-12"}));
  EXPECT_EQ(more.kept, before) << "a hopeless method changes nobody's target";
  EXPECT_EQ(memory.files.size(), 2 * before);
}

TEST(BenchmarkRun, MakesDamagedFilesAgain) {
  Memory memory;
  const BenchmarkOptions options = small({"gd"});
  const std::string whole = timeless(memory.run(options));
  memory.files.begin()->second = "{\"rates\": [";
  const Benchmark again = memory.run(options);
  EXPECT_EQ(again.kept, memory.files.size() - 1);
  EXPECT_EQ(timeless(again), whole);
}

TEST(BenchmarkRun, RefusesAMethodThatFitsNowhere) {
  EXPECT_THROW(Memory().run(small({"gd+SO(4):every:5"})), UsageError);
}

// As in the suite of tables: all have too many parameters for its Newton's method.
TEST(BenchmarkRun, ListsAMethodOfTheSuiteThatFitsNowhere) {
  BenchmarkOptions options = small({"gd", "newton"});
  options.suite = "functions";
  options.problem_names = {"quadratic:600,10"};
  options.problems = {find_problem("quadratic:600,10")};
  const Benchmark result = Memory().run(options);
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_TRUE(result.problems[0].cells[0].fits());
  EXPECT_THAT(result.problems[0].cells[1].misfit, HasSubstr("parameters"));
  EXPECT_EQ(Findings(result).standings[1].fits, 0u);
  options.methods.erase(options.methods.begin());
  EXPECT_THROW(Memory().run(options), UsageError);
}

}  // namespace
}  // namespace symport::lab::benchmark
