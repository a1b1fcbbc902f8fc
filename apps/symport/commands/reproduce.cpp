// SPDX-License-Identifier: MIT
#include "commands/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "commands/optimize.hpp"
#include "commands/train.hpp"
#include "experiment.hpp"
#include "interruption.hpp"
#include "json_forms.hpp"
#include "nearest_name.hpp"
#include "progress.hpp"
#include "registry.hpp"
#include "report/page.hpp"
#include "report/run_reader.hpp"
#include "report/run_report.hpp"
#include "text_table.hpp"

namespace symport::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* usual_out = "runs/reproduce";

/// The runs of one method, one for every seed.
struct MethodRuns {
  std::string name;
  std::vector<report::Run> runs;
};

/// An expectation, met or not.
struct Outcome {
  Expectation expected;
  double found = 0.0;
  bool met() const { return found >= expected.low && found <= expected.high; }
};

struct Reproduction {
  Experiment experiment;
  std::vector<MethodRuns> methods;
  std::vector<Outcome> outcomes;
  double seconds = 0.0;
};

/// Where the experiments are: ./experiments, else those this program was built with.
fs::path experiments_directory(const Given& given) {
  if (const auto path = given.text("experiments")) return *path;
  if (fs::is_directory("experiments")) return "experiments";
  return SYMPORT_EXPERIMENTS_DIR;
}

bool is_complete(const fs::path& folder) {
  if (!fs::exists(folder / "summary.json")) return false;
  return report::read_runs({folder.string()}).at(0).status != "interrupted";
}

/// Runs one method with one seed into its folder; false when it was interrupted.
bool run_one(const Experiment& experiment, const Given& options, const fs::path& folder) {
  const bool resume = fs::exists(folder / "config.toml");
  std::unique_ptr<RunDirectory> directory =
      resume ? RunDirectory::of_earlier_run(folder, "--out")
             : std::make_unique<RunDirectory>(folder, true, "--out");
  if (experiment.command == "optimize") {
    Optimization run(read_optimize_options(options), options);
    run.run(true, [](const TraceRow&) { return !interrupted(); });
    write_run(run, *directory);
    return run.summary().status != RunStatus::interrupted;
  }
  const TrainingResult result =
      train_network(read_training_options(options), options,
                    [&] {
                      return TrainingPlace{directory.get(), resume};
                    },
                    {.watch = [](const TrainingProgress&) { return !interrupted(); },
                     .epoch_done = [](const TrainingRow&) {},
                     .warn = [](const std::string& text) { print_error(text + "\n"); }});
  write_training(result, *directory);
  return result.status != RunStatus::interrupted;
}

double statistic_of(std::vector<double> values, Expectation::Statistic statistic) {
  using Statistic = Expectation::Statistic;
  std::sort(values.begin(), values.end());
  if (std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); })) {
    return std::nan("");
  }
  const std::size_t n = values.size();
  switch (statistic) {
    case Statistic::mean:
      return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
    case Statistic::largest:
      return values.back();
    case Statistic::smallest:
      return values.front();
    case Statistic::median:
      break;
  }
  return (values[(n - 1) / 2] + values[n / 2]) / 2.0;
}

/// The number that an expectation is about, of one run; NaN where the run did not get there.
double number_of(const report::Run& run, const Expectation& expectation) {
  if (!run.trace.has(expectation.column)) {
    throw UsageError(expectation.origin,
                     fmt::format("column: there is no '{}' in the traces", expectation.column));
  }
  const std::vector<double>& index = run.trace[run.trace.index];
  const std::vector<double>& values = run.trace[expectation.column];
  if (values.empty()) return std::nan("");
  if (!expectation.at) return values.back();
  const auto found = std::find(index.begin(), index.end(), static_cast<double>(*expectation.at));
  return found == index.end() ? std::nan("")
                              : values[static_cast<std::size_t>(found - index.begin())];
}

Outcome outcome_of(const Expectation& expectation, const std::vector<MethodRuns>& methods) {
  const auto runs_of = [&](const std::string& name) -> const std::vector<report::Run>& {
    return std::find_if(methods.begin(), methods.end(),
                        [&](const MethodRuns& m) { return m.name == name; })
        ->runs;
  };
  const std::vector<report::Run>& runs = runs_of(expectation.run);
  std::vector<double> numbers;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    numbers.push_back(number_of(runs[i], expectation));
    // Seeds are paired: each run is compared with the other method's of the same seed.
    if (!expectation.relative_to.empty()) {
      numbers.back() /= number_of(runs_of(expectation.relative_to)[i], expectation);
    }
  }
  return {expectation, statistic_of(std::move(numbers), expectation.statistic)};
}

/// Runs an experiment below `out`; nothing when it was interrupted.
std::optional<Reproduction> reproduce(const Experiment& experiment, const fs::path& out,
                                      const Given& given, Progress& progress) {
  const auto began = std::chrono::steady_clock::now();
  Reproduction result{experiment, {}, {}, 0.0};
  const std::size_t all = experiment.runs.size() * experiment.seeds.size();
  std::size_t done = 0;
  for (const ExperimentRun& run : experiment.runs) {
    result.methods.push_back({run.name, {}});
    for (const std::uint64_t seed : experiment.seeds) {
      const fs::path folder = out / experiment.name / fmt::format("{}-{}", run.folder(), seed);
      if (!given.is_on("quiet") && !given.is_on("no-progress")) {
        progress.message(fmt::format("{}: {}, seed {} ({} of {})", experiment.name, run.name, seed,
                                     ++done, all));
      }
      Given options = run.options;
      options.set("seed", {fmt::format("{}", seed), "seeds"});
      if (const auto place = given.text("data-dir"); place && experiment.command == "train") {
        options.set("data-dir", {*place, "--data-dir"});
      }
      if (!is_complete(folder) && !run_one(experiment, options, folder)) return std::nullopt;
      result.methods.back().runs.push_back(report::read_runs({folder.string()}).at(0));
      result.methods.back().runs.back().name = run.name;
    }
  }
  for (const Expectation& expectation : experiment.expectations) {
    result.outcomes.push_back(outcome_of(expectation, result.methods));
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

std::string as_text(const Reproduction& result, const Style& style) {
  const Experiment& experiment = result.experiment;
  std::string text =
      style.bold(experiment.name + ": " + experiment.title) + "\n" + experiment.see + "\n\n";
  TextTable table({{"method"}, {"runs"}, {"final loss"}, {"seconds"}, {"teleports"}, {"drift"}});
  for (const MethodRuns& method : result.methods) {
    std::vector<double> losses, seconds;
    std::size_t teleports = 0, accepted = 0;
    double drift = 0.0;
    for (const report::Run& run : method.runs) {
      losses.push_back(run.trace.loss().empty() ? std::nan("") : run.trace.loss().back());
      seconds.push_back(run.trace["seconds"].empty() ? 0.0 : run.trace["seconds"].back());
      teleports += run.teleports.size();
      for (const Certificate& c : run.teleports) {
        accepted += c.accepted ? 1 : 0;
        if (c.accepted) drift = std::max(drift, c.drift);
      }
    }
    table.add({method.name, fmt::format("{}", method.runs.size()),
               fmt::format("{:.4g}", statistic_of(losses, Expectation::Statistic::median)),
               fmt::format("{:.3g}", statistic_of(seconds, Expectation::Statistic::median)),
               teleports == 0 ? "-" : fmt::format("{} of {}", accepted, teleports),
               accepted == 0 ? "-" : fmt::format("{:.2g}", drift)});
  }
  text += table.text(style) + "\n";
  for (const Outcome& outcome : result.outcomes) {
    text += fmt::format("{} {}: {:.4g}, expected {:.4g} to {:.4g}\n",
                        outcome.met() ? "ok    " : "FAILED", outcome.expected.text(), outcome.found,
                        outcome.expected.low, outcome.expected.high);
  }
  return text + fmt::format("{} s\n\n", std::lround(result.seconds));
}

Json as_json(const Reproduction& result) {
  Json json{{"figure", result.experiment.name},
            {"title", result.experiment.title},
            {"see", result.experiment.see},
            {"seconds", result.seconds},
            {"expected", Json::array()}};
  for (const Outcome& outcome : result.outcomes) {
    json["expected"].push_back({{"what", outcome.expected.text()},
                                {"found", json_number(outcome.found)},
                                {"low", json_number(outcome.expected.low)},
                                {"high", json_number(outcome.expected.high)},
                                {"met", outcome.met()}});
  }
  return json;
}

std::vector<Experiment> chosen(const Given& given, const fs::path& directory, bool quick) {
  const std::vector<std::string> names = experiment_names(directory);
  std::vector<std::string> wanted;
  for (const std::string& word : given.list("figure")) {
    const std::size_t before = wanted.size();
    std::copy_if(names.begin(), names.end(), std::back_inserter(wanted),
                 [&](const auto& name) { return name == word || name.starts_with(word + "/"); });
    if (wanted.size() == before) {
      throw UsageError("FIGURE", fmt::format("found '{}', allowed is {}{}", word, join(names),
                                             did_you_mean(word, names)));
    }
  }
  if (given.list("figure").empty()) wanted = names;
  if (wanted.empty()) {
    throw UsageError(given.origin("experiments"),
                     fmt::format("there are no experiments in '{}'", directory.string()));
  }
  std::vector<Experiment> list;
  for (const std::string& name : wanted) list.push_back(read_experiment(directory, name, quick));
  return list;
}

int run_reproduce(const Given& given) {
  const bool full = given.is_on("full"), json = given.is_on("json");
  if (full && given.is_on("quick")) throw UsageError("--full", "goes without --quick");
  const std::vector<Experiment> experiments = chosen(given, experiments_directory(given), !full);
  const fs::path out = given.text("out").value_or(usual_out);
  const bool go_on = given.is_on("continue");
  if (go_on && given.is_on("force")) throw UsageError("--continue", "goes without --force");
  if (!go_on) {
    const RunDirectory check(out, given.is_on("force"), given.origin("out"));
    for (const Experiment& experiment : experiments) fs::remove_all(out / experiment.name);
  }

  Json list = Json::array();
  std::string text;
  std::size_t missed = 0;
  for (const Experiment& experiment : experiments) {
    Progress progress(experiment.name, 1);
    const std::optional<Reproduction> result = reproduce(experiment, out, given, progress);
    if (!result) {
      print_error(fmt::format(
          "symport reproduce: interrupted; to go on, the same command with --continue\n"));
      return exit_interrupted;
    }
    for (const Outcome& outcome : result->outcomes) missed += outcome.met() ? 0 : 1;
    if (!json) print(as_text(*result, Style::for_stdout()));
    list.push_back(as_json(*result));
    std::vector<report::Run> runs;
    for (const MethodRuns& method : result->methods) {
      runs.insert(runs.end(), method.runs.begin(), method.runs.end());
    }
    RunDirectory place(out, true, given.origin("out"));
    report::Report page = report::run_report(runs, experiment.name + ": " + experiment.title);
    page.text = experiment.see;
    place.write(experiment.name + ".html", report::page(page));
  }
  if (json) print(json_text(Json{{"met", missed == 0}, {"figures", std::move(list)}}));
  if (!given.is_on("quiet")) print_error(fmt::format("Written to {}\n", out.string()));
  if (missed == 0) return exit_done;
  print_error(fmt::format("symport reproduce: {} of the expected numbers {} outside\n", missed,
                          missed == 1 ? "is" : "are"));
  return exit_failed;
}

}  // namespace

Command reproduce_command() {
  const std::string run = "Run", output = "Output";
  return {
      .name = "reproduce",
      .summary = "run the experiments of the paper, and compare what comes out",
      .details =
          "Runs every method of an experiment with every seed, prints what came out beside "
          "what was\nexpected, and exits with 1 when a number is outside its interval. Each "
          "run has a directory\nof its own, each experiment a page (see symport report).",
      .examples =
          "symport reproduce fig4 decrement\n"
          "symport reproduce fig4 --full --out runs/fig4\n"
          "symport reproduce fig4 --full --out runs/fig4 --continue",
      .positionals = {{"figure", "FIGURE...",
                       "directories below experiments/ (default: all of them)", "Options", true}},
      .options = {{"quick", "", "small sizes, minutes (the default)", run},
                  {"full", "", "the paper's sizes, hours", run},
                  {"continue", "", "keep the runs that are complete, go on with the others", run},
                  {"experiments", "DIR", "where experiments are (default ./experiments)", run},
                  {"data-dir", "DIR", "where fetched data sets are", run},
                  {"out", "DIR", fmt::format("(default {})", usual_out), output},
                  common::force(),
                  common::json(),
                  common::quiet(),
                  common::no_progress()},
      .run = run_reproduce};
}

}  // namespace symport::cli
