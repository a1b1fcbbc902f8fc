// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/process.hpp"

namespace symport::cli::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// Bad usage: exit 2, nothing on stdout, nothing written, and a message with all of `expected`.
struct BadInput {
  const char* name;
  Words words;
  Words expected;
};

void PrintTo(const BadInput& bad, std::ostream* out) { *out << bad.name; }

class BadInputTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, IsExitTwoWithAMessageAndNothingWritten) {
  const TemporaryDirectory directory;
  Words words = GetParam().words;
  const std::string command = words.empty() ? "" : words.front();
  if (command == "optimize" || command == "compare") words.push_back("--out=result");
  const Finished run = symport(words, {.directory = directory.path()});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_EQ(run.out, "");
  for (const std::string& part : GetParam().expected) EXPECT_THAT(run.err, HasSubstr(part));
  EXPECT_EQ(directory.entries(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Names, BadInputTest,
    ::testing::Values(
        BadInput{"UnknownFunction",
                 {"optimize", "rosenbrok"},
                 {"FUNCTION: found 'rosenbrok'", "ellipse", "did you mean 'rosenbrock'?"}},
        BadInput{
            "FarFromEveryName", {"optimize", "xyzzy"}, {"found 'xyzzy'", "allowed is ellipse"}},
        BadInput{"UnknownOptimizer",
                 {"optimize", "booth", "--optimizer", "adma"},
                 {"--optimizer: found 'adma'", "gd, momentum", "did you mean 'adam'?"}},
        BadInput{"UnknownSearch",
                 {"optimize", "booth", "--search", "scna"},
                 {"--search: found 'scna'", "did you mean 'scan'?"}},
        BadInput{"UnknownObjective",
                 {"optimize", "booth", "--objective", "decrment"},
                 {"--objective: found 'decrment'", "did you mean 'decrement'?"}},
        BadInput{"UnknownState",
                 {"optimize", "booth", "--state", "keeep"},
                 {"--state: found 'keeep'", "keep, reset, transport", "did you mean 'keep'?"}},
        BadInput{"UnknownFlag",
                 {"optimize", "booth", "--step", "5"},
                 {"unknown flag '--step'", "did you mean '--steps'?"}},
        BadInput{"UnknownFlagWithValue",
                 {"optimize", "booth", "--optimzer=adam"},
                 {"unknown flag '--optimzer'", "did you mean '--optimizer'?"}},
        BadInput{"UnknownCommand",
                 {"optimise"},
                 {"unknown command 'optimise'", "did you mean 'optimize'?"}},
        BadInput{"FunctionAsCommand",
                 {"rosenbrock"},
                 {"unknown command 'rosenbrock'", "symport optimize rosenbrock"}},
        BadInput{"UnknownTopFlag", {"--versoin"}, {"unknown flag '--versoin'", "--version"}},
        BadInput{
            "TwoFunctions", {"optimize", "booth", "ellipse"}, {"unexpected argument 'ellipse'"}},
        BadInput{"NoFunction", {"optimize"}, {"FUNCTION: missing", "rosenbrock"}},
        BadInput{"EmptyFunction", {"optimize", ""}, {"FUNCTION: found ''"}}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Numbers, BadInputTest,
    ::testing::Values(
        BadInput{"StartTooShort",
                 {"optimize", "booth", "--start", "1"},
                 {"--start: found 1 number, allowed is 2", "booth"}},
        BadInput{"StartTooLong",
                 {"optimize", "rosenbrock:2", "--start", "1,2,3,4,5"},
                 {"--start: found 5 numbers, allowed is 4"}},
        BadInput{
            "StartNotANumber", {"optimize", "booth", "--start", "nan,1"}, {"--start", "'nan,1'"}},
        BadInput{"StartInfinite", {"optimize", "booth", "--start=-inf,1"}, {"--start", "'-inf,1'"}},
        BadInput{
            "StartWithGarbage", {"optimize", "booth", "--start", "1,2x"}, {"--start", "'1,2x'"}},
        BadInput{"StartWithEmptyPart", {"optimize", "booth", "--start", "1,"}, {"--start", "'1,'"}},
        BadInput{"StartTwoSigns", {"optimize", "booth", "--start=+-1,1"}, {"--start", "'+-1,1'"}},
        BadInput{"StartOverflow",
                 {"optimize", "booth", "--start", "1e999,0"},
                 {"--start", "beyond the range of a double"}},
        BadInput{"RateZero", {"optimize", "booth", "--lr", "0"}, {"--lr: found '0'", "> 0"}},
        BadInput{
            "RateNegative", {"optimize", "booth", "--lr", "-0.1"}, {"--lr: found '-0.1'", "> 0"}},
        BadInput{"RateNan", {"optimize", "booth", "--lr", "nan"}, {"--lr: found 'nan'", "> 0"}},
        BadInput{"RateInfinite", {"optimize", "booth", "--lr", "inf"}, {"--lr: found 'inf'"}},
        BadInput{"RateOverflow", {"optimize", "booth", "--lr", "1e999"}, {"--lr: found '1e999'"}},
        BadInput{
            "RateGarbage", {"optimize", "booth", "--lr", "fast"}, {"--lr: found 'fast'", "cosine"}},
        BadInput{"AutomaticRateOfAdam",
                 {"optimize", "booth", "--optimizer", "adam", "--lr", "auto"},
                 {"--lr: found 'auto'", "adam", "--optimizer gd"}},
        BadInput{"StepsNegative",
                 {"optimize", "booth", "--steps", "-5"},
                 {"--steps: found '-5', allowed is a whole number >= 0"}},
        BadInput{"StepsBroken", {"optimize", "booth", "--steps", "1.5"}, {"--steps: found '1.5'"}},
        BadInput{"StepsOverflow",
                 {"optimize", "booth", "--steps", "99999999999999999999"},
                 {"--steps", "too large a number"}},
        BadInput{
            "StepsMissing", {"optimize", "booth", "--steps"}, {"--steps: its value is missing"}},
        BadInput{"StepsMissingBeforeFlag",
                 {"optimize", "booth", "--steps", "--json"},
                 {"--steps: its value is missing"}},
        BadInput{
            "StepsEmpty", {"optimize", "booth", "--steps", ""}, {"--steps: its value is missing"}},
        BadInput{"StepsTwice",
                 {"optimize", "booth", "--steps", "1", "--steps", "2"},
                 {"--steps: given more than once"}},
        BadInput{"SeedNegative",
                 {"optimize", "booth", "--seed", "-1"},
                 {"--seed: found '-1', allowed is a whole number from 0"}},
        BadInput{"SeedOverflow",
                 {"optimize", "booth", "--seed", "18446744073709551616"},
                 {"--seed", "too large a number"}},
        BadInput{"BoundZero", {"optimize", "booth", "--bound", "0"}, {"--bound: found '0'", "> 0"}},
        BadInput{"CapNegative", {"optimize", "booth", "--cap", "-1"}, {"--cap: found '-1'", "> 0"}},
        BadInput{"SearchStepsZero",
                 {"optimize", "booth", "--search", "ascent", "--search-steps", "0"},
                 {"--search-steps: found '0'", ">= 1"}},
        BadInput{"SearchRateNegative",
                 {"optimize", "booth", "--search", "fixed", "--search-rate", "-1"},
                 {"--search-rate: found '-1'", "> 0"}},
        BadInput{
            "ParameterNegative", {"optimize", "ellipse:-3"}, {"'ellipse:-3'", "A is -3", "> 0"}},
        BadInput{
            "ParameterGarbage", {"optimize", "ellipse:big"}, {"'ellipse:big'", "A is no number"}},
        BadInput{"ParameterBroken",
                 {"optimize", "rosenbrock:1.5"},
                 {"PAIRS is 1.5", "a whole number from 1 to"}},
        BadInput{
            "ParameterHuge", {"optimize", "quadratic:1e9"}, {"N is 1000000000", "from 1 to 1000"}},
        BadInput{"ParameterTooMany", {"optimize", "booth:1"}, {"too many parameters", "booth"}}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Combinations, BadInputTest,
    ::testing::Values(
        BadInput{"ScheduleGarbage",
                 {"optimize", "booth", "--teleport", "0,1x"},
                 {"--teleport: found '0,1x'", "character 4", "every:100", "\n  0,1x\n     ^"}},
        BadInput{"ScheduleNegative",
                 {"optimize", "booth", "--teleport", "-5"},
                 {"--teleport: found '-5'", "character 1"}},
        BadInput{"ScheduleEmpty",
                 {"optimize", "booth", "--teleport="},
                 {"--teleport: its value is missing"}},
        BadInput{"ScheduleOverflow",
                 {"optimize", "booth", "--teleport", "99999999999999999999"},
                 {"--teleport", "too large"}},
        BadInput{
            "ScanOnQuadratic",
            {"optimize", "quadratic", "--search", "scan", "--teleport", "0"},
            {"--search: found 'scan'", "O(10)", "allowed is auto, ascent, fixed, closed, random"}},
        BadInput{
            "ClosedOnBooth",
            {"optimize", "booth", "--search", "closed", "--teleport", "0"},
            {"--search: found 'closed'", "SO(2)", "allowed is auto, scan, ascent, fixed, random"}},
        BadInput{"SearchStepsOfScan",
                 {"optimize", "booth", "--search", "scan", "--search-steps", "3"},
                 {"--search-steps", "'scan' has no such option", "ascent, fixed, random"}},
        BadInput{"SearchRateOfScan",
                 {"optimize", "booth", "--search", "scan", "--search-rate", "0.1"},
                 {"--search-rate", "'scan' has no such option", "ascent, fixed"}},
        BadInput{"NewtonTooLarge",
                 {"optimize", "quadratic:600", "--optimizer", "newton"},
                 {"--optimizer", "600"}},
        BadInput{"NoConfig",
                 {"optimize", "--config", "none.toml"},
                 {"--config: none.toml: no such file"}},
        BadInput{"SwitchWithValue",
                 {"optimize", "booth", "--json=x"},
                 {"--json: found 'x', allowed is true or false"}},
        BadInput{"JsonAlone", {"--json"}, {"--json"}},
        BadInput{"DemoSeed", {"demo", "--seed", "x"}, {"--seed: found 'x'"}}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Comparisons, BadInputTest,
    ::testing::Values(
        BadInput{
            "UnknownProblem",
            {"compare", "rosenbrok"},
            {"PROBLEM: found 'rosenbrok'", "regression", "mnist", "did you mean 'rosenbrock'?"}},
        BadInput{
            "ProblemTwice", {"compare", "booth", "booth"}, {"'booth' is given more than once"}},
        BadInput{
            "BadParameter", {"compare", "quadratic:0"}, {"PROBLEM: found 'quadratic:0' (N is 0)"}},
        BadInput{"UnknownOptimizer",
                 {"compare", "booth", "--method", "adma"},
                 {"--method 'adma': found 'adma'", "did you mean 'adam'?"}},
        BadInput{"UnknownSymmetry",
                 {"compare", "booth", "--method", "gd+rescle:at=0"},
                 {"found 'rescle'", "teleport, random, gl", "did you mean 'rescale'?"}},
        BadInput{"UnknownOption",
                 {"compare", "booth", "--method", "gd+teleport:evry=5"},
                 {"found 'evry'", "did you mean 'every'?"}},
        BadInput{"UnknownState",
                 {"compare", "booth", "--method", "adagrad+teleport:at=0,state=restart"},
                 {"state: found 'restart'", "keep, reset, transport"}},
        BadInput{"UnknownSearch",
                 {"compare", "booth", "--method", "gd+teleport:at=0,search=scna"},
                 {"search: found 'scna'", "did you mean 'scan'?"}},
        BadInput{"NoSchedule",
                 {"compare", "booth", "--method", "gd+teleport"},
                 {"does not say when to teleport", "every:50"}},
        BadInput{"TwoSchedules",
                 {"compare", "booth", "--method", "gd+teleport:at=0,every=5"},
                 {"'every' is given more than once"}},
        BadInput{"BadSchedule",
                 {"compare", "booth", "--method", "gd+teleport:every=x"},
                 {"--method 'gd+teleport:every=x': every: found"}},
        BadInput{"NoValue",
                 {"compare", "booth", "--method", "gd+teleport:every="},
                 {"found 'every='", "OPTION=VALUE"}},
        BadInput{"NothingBehindThePlus", {"compare", "booth", "--method", "gd+"}, {"OPTIMIZER"}},
        BadInput{"EmptyMethod", {"compare", "booth", "--method", "+teleport:at=0"}, {"OPTIMIZER"}},
        BadInput{"OptimizerOption",
                 {"compare", "booth", "--method", "gd:rate=1"},
                 {"found 'rate', allowed is lr"}},
        BadInput{"BadRate",
                 {"compare", "booth", "--method", "gd:lr=fast", "--seeds", "1"},
                 {"--method 'gd:lr=fast': lr: found 'fast'"}},
        BadInput{"AutomaticRate",
                 {"compare", "booth", "--method", "adam:lr=auto", "--seeds", "1"},
                 {"lr: found 'auto'", "auto needs --optimizer gd"}},
        BadInput{"SymmetryOfNetworks",
                 {"compare", "booth", "--method", "gd+gl:at=0", "--lr", "0.1"},
                 {"booth has the symmetry SO(2), not gl"}},
        BadInput{"OptionOfNetworks",
                 {"compare", "booth", "--method", "gd+teleport:at=0,kappa=2", "--lr", "0.1"},
                 {"kappa: booth has no such option"}},
        BadInput{"RandomHasNoSearch",
                 {"compare", "booth", "--method", "gd+random:at=0,search=scan"},
                 {"found 'search'"}},
        BadInput{"BadBudget",
                 {"compare", "booth", "--budget", "5"},
                 {"--budget: found '5'", "2000evals", "5s"}},
        BadInput{"ZeroBudget", {"compare", "booth", "--budget", "0s"}, {"--budget: found '0s'"}},
        BadInput{"BadTarget",
                 {"compare", "booth", "--target", "low"},
                 {"--target: found 'low'", "rel:"}},
        BadInput{"TargetAboveStart",
                 {"compare", "booth", "--target", "rel:2"},
                 {"--target: found 'rel:2'"}},
        BadInput{"BadGrid",
                 {"compare", "booth", "--grid", "1..2..3"},
                 {"--grid: found '1..2..3'", "1e-5..10:3"}},
        BadInput{"GridTurnedAround",
                 {"compare", "booth", "--grid", "1..0.1:2"},
                 {"--grid: found '1..0.1:2'"}},
        BadInput{
            "HugeGrid", {"compare", "booth", "--grid", "1e-300..1e300:10"}, {"at most 1000 rates"}},
        BadInput{"TuneAndRate",
                 {"compare", "booth", "--tune", "--lr", "0.1"},
                 {"--lr: cannot be combined with --tune"}},
        BadInput{"NoSeeds", {"compare", "booth", "--seeds", "0"}, {"--seeds: found '0'"}},
        BadInput{"BadConfidence", {"compare", "booth", "--confidence", "95"}, {"between 0 and 1"}},
        BadInput{"LayersOfAFunction",
                 {"compare", "booth", "--layers", "2,3"},
                 {"--layers: applies to data only"}},
        BadInput{"MinibatchWithoutTarget",
                 {"compare", "regression", "--batch", "5"},
                 {"--target: mini-batches on regression need a loss"}},
        BadInput{"NotFetched",
                 {"compare", "mnist", "--data-dir", "nowhere", "--layers", "784,8,10", "--seeds",
                  "1", "--method", "gd"},
                 {"mnist", "symport data fetch mnist"}},
        BadInput{
            "UnknownFlag", {"compare", "booth", "--methd", "gd"}, {"did you mean '--method'?"}}),
    [](const auto& info) { return info.param.name; });

struct BadConfig {
  const char* name;
  std::string text;
  Words expected;
  const char* command = "optimize";
};
void PrintTo(const BadConfig& bad, std::ostream* out) { *out << bad.name; }
class BadConfigTest : public ::testing::TestWithParam<BadConfig> {};

TEST_P(BadConfigTest, IsExitTwoNamingFileAndLine) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "run.toml", GetParam().text);
  const Finished run = symport({GetParam().command, "--config", "run.toml", "--out", "result"},
                               {.directory = directory.path()});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_EQ(run.out, "");
  for (const std::string& part : GetParam().expected) EXPECT_THAT(run.err, HasSubstr(part));
  EXPECT_EQ(directory.entries(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadConfigTest,
    ::testing::Values(
        BadConfig{"UnknownKey",
                  "function = \"booth\"\nstep = 5\n",
                  {"run.toml:2: step: unknown key", "did you mean 'steps'?"}},
        BadConfig{"NotToml", "function = \"booth\"\nsteps = = 5\n", {"run.toml:2"}},
        BadConfig{"DuplicateKey", "steps = 5\nsteps = 6\n", {"run.toml:2"}},
        BadConfig{"BadValue",
                  "function = \"booth\"\n\nsteps = -5\n",
                  {"run.toml:3: steps: found '-5', allowed is a whole number >= 0"}},
        BadConfig{
            "Table", "function = \"booth\"\n[steps]\na = 1\n", {"run.toml:2: steps", "allowed is"}},
        BadConfig{"ListOfStrings",
                  "function = \"booth\"\nstart = [\"1\", \"2\"]\n",
                  {"run.toml:2: start"}},
        BadConfig{"OtherCommand", "command = \"train\"\n", {"run.toml:1: command: found 'train'"}},
        BadConfig{"ConfigInConfig", "config = \"run.toml\"\n", {"run.toml:1: config: unknown key"}},
        BadConfig{
            "BadSwitch", "function = \"booth\"\nquiet = 3\n", {"run.toml:2: quiet: found '3'"}},
        BadConfig{"UnknownFunction",
                  "steps = 5\nfunction = \"bo# oth\"\n",
                  {"run.toml:2: function: found 'bo# oth'", "did you mean 'booth'?"}},
        BadConfig{"EmptyPath",
                  "data = \"digits\"\nweights = \"\"\n",
                  {"run.toml:2: weights: found '', allowed is the path of a file"},
                  "train"},
        BadConfig{"StartOfOtherLength",
                  "function = \"booth\"\nstart = [1.0]\n",
                  {"run.toml:2: start: found 1 number, allowed is 2"}},
        BadConfig{"ListsInLists",
                  "start = " + std::string(400'000, '[') + std::string(400'000, ']') + "\n",
                  {"run.toml:1", "depth of 256"}}),
    [](const auto& info) { return info.param.name; });

TEST(BadConfigTest, KeysOfVeryManyPartsDoNotExhaustTheStack) {
  std::string dotted = "a", digits = "1", quoted = "\"=\"";
  for (int i = 0; i < 150'000; ++i) {
    dotted += ".a";
    digits += ".1";
    quoted += i % 2 == 0 ? " . 'a.1'" : ".\"=\"";
  }
  const TemporaryDirectory directory;
  const std::string file = directory / "run.toml";
  for (const std::string& text : {dotted + " = 1\n", digits + " = 1\n", quoted + " = 1\n",
                                  "[" + dotted + "]\n", "a = [{ " + dotted + " = 1 }]\n"}) {
    write_file(file, text);
    const Finished run = symport({"optimize", "--config", file});
    EXPECT_EQ(run.exit_code, 2) << text.substr(0, 20);
    EXPECT_THAT(run.err, HasSubstr("more than 1000 dots")) << text.substr(0, 20);
  }
  // The dots of numbers are no parts of keys.
  std::string start = "0.5";
  for (int i = 1; i < 2000; ++i) start += ", -1.25e-3";
  write_file(file, "function = \"rosenbrock\"\nstart = [" + start + "]\n");
  EXPECT_THAT(symport({"optimize", "--config", file}).err,
              HasSubstr("run.toml:2: start: found 2000 numbers"));
}

TEST(BadConfigTest, DirectoryAndHugeFileAreRefused) {
  const TemporaryDirectory directory;
  EXPECT_THAT(symport({"optimize", "--config", directory.path().string()}).err,
              HasSubstr("a directory"));
  write_file(directory.path() / "huge.toml", std::string(2'000'000, '#'));
  const Finished run = symport({"optimize", "--config", directory / "huge.toml"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("larger than a megabyte"));
}

}  // namespace
}  // namespace symport::cli::testing
