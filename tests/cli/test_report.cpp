// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/process.hpp"

namespace symport::cli::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

class ReportCommand : public ::testing::Test {
 protected:
  std::string made_run(const std::string& name, Words words = {"optimize", "booth"}) {
    const std::string out = directory_ / name;
    words.insert(words.end(), {"--out", out, "--quiet"});
    EXPECT_EQ(symport(words).exit_code, 0);
    return out;
  }
  std::string file() const { return directory_ / "report.html"; }
  Finished report(Words words) const {
    words.insert(words.begin(), "report");
    words.insert(words.end(), {"--out", file()});
    return symport(words);
  }
  /// The report is refused, with these words in the message, and nothing is written.
  void expect_refused(const Words& words, const Words& reasons) const {
    const Finished refused = report(words);
    EXPECT_EQ(refused.exit_code, 2) << refused.err;
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, StartsWith("symport report: "));
    for (const std::string& reason : reasons) EXPECT_THAT(refused.err, HasSubstr(reason));
    EXPECT_FALSE(std::filesystem::exists(file()));
  }
  const TemporaryDirectory directory_;
};

TEST_F(ReportCommand, WritesOnePageAndSaysWhatItShows) {
  const std::string plain = made_run("plain");
  const std::string teleport = made_run("teleport", {"optimize", "booth", "--teleport", "4"});
  const Finished run = report({plain, teleport, "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr(file()));
  const json result = json::parse(run.out);
  ASSERT_EQ(result["figures"].size(), 4u);
  EXPECT_EQ(result["figures"][0]["id"], "level-sets");
  EXPECT_EQ(result["figures"][1]["series"].size(), 2u);
  EXPECT_EQ(result["figures"][1]["series"][0]["points"], 11);
  // Lower in the end, for two thousand gradients; plain steps reach zero with as many.
  EXPECT_EQ(result["figures"][1]["verdict"], "partly");
  EXPECT_THAT(result["figures"][1]["finding"].get<std::string>(),
              HasSubstr("At equal cost teleportation did not help."));
  const json summary = json::parse(read_file(teleport + "/summary.json"));
  EXPECT_THAT(result["figures"][1]["finding"].get<std::string>(), HasSubstr("0.000945 with"));
  EXPECT_NEAR(summary["final_loss"].get<double>(), 0.000945, 1e-6);
  const std::string html = read_file(file());
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_THAT(html, HasSubstr(summary["machine"].get<std::string>()));
  EXPECT_THAT(html, HasSubstr("function = &quot;booth&quot;"));
}

TEST_F(ReportCommand, SaysWhenTeleportationDidNotHelp) {
  made_run("runs/plain", {"optimize", "rosenbrock"});
  made_run("runs/once", {"optimize", "rosenbrock", "--teleport", "0"});
  const Finished run = report({directory_ / "runs"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Teleportation did not help here."));
  EXPECT_THAT(run.out, HasSubstr("[not confirmed]"));
}

TEST_F(ReportCommand, SeedsBecomeOneSeriesAndProblemsSections) {
  for (const char* seed : {"0", "1", "2"}) {
    made_run(std::string("runs/s") + seed,
             {"train", "--data", "regression", "--steps", "20", "--seed", seed});
  }
  made_run("runs/booth");
  const json result = json::parse(report({directory_ / "runs", "--json"}).out);
  ASSERT_EQ(result["figures"].size(), 7u) << result;
  EXPECT_EQ(result["figures"][0]["section"], "booth");
  EXPECT_EQ(result["figures"][4]["section"],
            "regression, network 5-6-7-8, loss half_sum_squares:sum");
  EXPECT_EQ(result["figures"][4]["series"].size(), 1u);
  EXPECT_THAT(read_file(file()), HasSubstr("mean of 3 runs"));
}

TEST_F(ReportCommand, WritesTheFiguresAsSvg) {
  const std::string run = made_run("run"), pictures = directory_ / "pictures";
  ASSERT_EQ(report({run, "--figures", pictures}).exit_code, 0);
  for (const char* name :
       {"level-sets", "loss", "loss-seconds", "loss-evaluations", "gradient", "gradient-loss"}) {
    const std::string svg = read_file(pictures + "/" + name + ".svg");
    EXPECT_THAT(svg, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\"")) << name;
    EXPECT_THAT(svg, HasSubstr("</svg>")) << name;
  }
  const Finished again = report({run, "--figures", pictures, "--title", "x"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_EQ(report({run, "--figures", pictures, "--force"}).exit_code, 0);
  EXPECT_EQ(report({run, "--figures", run, "--force"}).exit_code, 2) << "not into a run directory";
  EXPECT_TRUE(std::filesystem::exists(run + "/summary.json"));
}

TEST_F(ReportCommand, DoesNotReplaceAPageWithoutForce) {
  const std::string run = made_run("run");
  write_file(file(), "mine");
  EXPECT_EQ(report({run}).exit_code, 2);
  EXPECT_EQ(read_file(file()), "mine");
  EXPECT_EQ(report({run, "--force"}).exit_code, 0);
  EXPECT_THAT(read_file(file()), StartsWith("<!doctype html>"));
}

TEST_F(ReportCommand, NamesWhatIsNoRunDirectory) {
  expect_refused({}, {"DIR", "missing"});
  expect_refused({directory_ / "none"}, {"none", "does not exist"});
  write_file(directory_ / "file", "x");
  expect_refused({directory_ / "file"}, {"not a directory"});
  std::filesystem::create_directory(directory_ / "empty");
  expect_refused({directory_ / "empty"}, {"not a run directory", "config.toml"});
}

TEST_F(ReportCommand, NamesTheFileThatIsMissingOrWrong) {
  const std::string run = made_run("run", {"optimize", "booth", "--teleport", "4"});
  const auto with = [&](const std::string& name, const std::string& text, const Words& reasons) {
    const std::string whole = read_file(run + "/" + name);
    write_file(run + "/" + name, text);
    expect_refused({run}, reasons);
    write_file(run + "/" + name, whole);
  };
  const std::string trace = read_file(run + "/trace.csv");
  std::string summary = read_file(run + "/summary.json");
  with("trace.csv", "", {"trace.csv:1", "'step' or 'epoch'"});
  with("trace.csv", "step,loss\n0,1\n", {"trace.csv:1", "'seconds'", "found are step, loss"});
  with("trace.csv", "step,loss,seconds\n", {"trace.csv", "no rows"});
  with("trace.csv", "step,loss,seconds\n0,1,0\n1,x,0\n", {"trace.csv:3: loss", "found 'x'"});
  with("trace.csv", "step,loss,seconds\n0,1\n", {"trace.csv:2", "found 2 cells"});
  with("trace.csv", "step,loss,seconds\n0,1,0,4\n", {"trace.csv:2", "found 4 cells"});
  with("trace.csv", "step,loss,seconds\n1,1,0\n1,1,0\n", {"trace.csv:3: step", "1 after 1"});
  with("trace.csv", "step,loss,loss,seconds\n0,1,1,0\n", {"trace.csv:1", "'loss'", "twice"});
  with("trace.csv", "step,loss,seconds,x2\n0,1,0,1\n", {"trace.csv:1", "no column 'x1'"});
  with("config.toml", "function = \"booth\"", {"config.toml", "command", "optimize, train"});
  with("config.toml", "command = \"optimize\"", {"config.toml", "no key"});
  with("config.toml", "=", {"config.toml:1"});
  with("summary.json", "{", {"summary.json", "not JSON"});
  with("summary.json", "[]", {"summary.json", "JSON object"});
  with("summary.json", "{}", {"summary.json", "'version'"});
  with("summary.json", R"({"version": 3})", {"summary.json: version", "found 3"});
  // Writing so deep a list into the message would exhaust the stack.
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  with("summary.json", R"({"version": )" + deep + "}", {"summary.json: version", "an array"});
  with("summary.json", R"({"version": "77.0.0", "status": "x"})",
       {"summary.json: version", "found '77.0.0'", "from 0.1"});
  const auto of_trace = [&](const char* found) {
    return fmt::format(R"({{"version": "0.1.0"{}, "status": "step_limit"}})", found);
  };
  with("summary.json", of_trace(""),
       {"summary.json: trace_version", "found 1 (Symport 0.1), allowed is 2", "repeat the run"});
  with("summary.json", of_trace(R"(, "trace_version": 3)"),
       {"summary.json: trace_version", "found 3, allowed is 2"});
  with("summary.json", of_trace(R"(, "trace_version": "2")"),
       {"summary.json: trace_version", "a whole number"});
  const std::string teleports = read_file(run + "/teleports.jsonl");
  const auto point = [&](const char* found) {
    json line = json::parse(teleports);
    line["x_before"] = json::parse(found);
    return line.dump() + "\n";
  };
  for (const char* found : {"[1]", "[1, 2, 3]", "[1, \"x\"]", "[1, [2]]", "3", "null"}) {
    with("teleports.jsonl", point(found),
         {"teleports.jsonl:1: x_before", "allowed is a list of 2 numbers"});
  }
  json without = json::parse(teleports);
  without.erase("x_after");
  with("teleports.jsonl", without.dump() + "\n", {"teleports.jsonl:1", "no field 'x_after'"});
  with("teleports.jsonl", "{}\n", {"teleports.jsonl:1", "'step'"});
  for (const char* step : {"1e300", "-1", "0.5", "\"nan\"", "18446744073709551615"}) {
    with("teleports.jsonl", fmt::format("{{\"step\": {}}}\n", step),
         {"teleports.jsonl:1: step", "a whole number >= 0"});
  }
  with("teleports.jsonl", "nonsense\n", {"teleports.jsonl:1", "not JSON"});
  for (const char* name : {"trace.csv", "teleports.jsonl", "summary.json"}) {
    const std::string whole = read_file(run + "/" + name);
    std::filesystem::remove(run + "/" + name);
    expect_refused({run}, {std::string(name), "missing"});
    write_file(run + "/" + name, whole);
  }
  EXPECT_EQ(report({run}).exit_code, 0);
}

TEST_F(ReportCommand, ADivergedRunIsReportedAsThat) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(symport({"optimize", "booth", "--lr", "10", "--steps", "5000", "--out", run}).exit_code,
            1);
  const Finished finished = report({run});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("diverged"));
  EXPECT_THAT(finished.out, HasSubstr("[not confirmed]"));
}

TEST_F(ReportCommand, AHostileNameIsText) {
  const std::string name = "a</script><img src=x onerror=alert(1)>";
  made_run(name);
  ASSERT_EQ(report({directory_ / name, "--title", name}).exit_code, 0);
  const std::string html = read_file(file());
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_THAT(html, HasSubstr("a&lt;/script&gt;&lt;img"));
}

}  // namespace
}  // namespace symport::cli::testing
