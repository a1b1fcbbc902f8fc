// SPDX-License-Identifier: MIT
#include "commands/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "commands/data.hpp"
#include "lab/options/registry.hpp"
#include "lab/report/page.hpp"
#include "lab/report/pictures.hpp"
#include "lab/reproduce/experiment_report.hpp"
#include "lab/reproduce/reproduction.hpp"
#include "lab/runs/interruption.hpp"
#include "lab/runs/run_directory.hpp"
#include "lab/text/json_forms.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/search/teleport_tally.hpp"
#include "terminal/progress.hpp"
#include "terminal/terminal.hpp"
#include "terminal/text_table.hpp"

namespace symport::cli {

using namespace lab;

namespace fs = std::filesystem;

namespace {

constexpr const char* usual_out = "runs/reproduce";
/// Methods with more places than this are told by their expected numbers alone.
constexpr std::size_t rows_shown = 40;

/// Where the experiments are: ./experiments, else those this program was built with.
fs::path experiments_directory(const Given& given) {
  if (const auto path = given.text("experiments")) return *path;
  if (fs::is_directory("experiments")) return "experiments";
  return SYMPORT_EXPERIMENTS_DIR;
}

/// Fetches what an experiment needs, once; why not, if it cannot be had.
class DataFetcher {
 public:
  DataFetcher(std::optional<std::string> directory, bool shown)
      : place_(std::move(directory)), shown_(shown) {}

  /// Nothing: the data is there.
  std::optional<std::string> missing(const std::string& name) {
    if (name.empty()) return std::nullopt;
    const CatalogEntry& entry = find_entry(data_catalog(), name);
    const DataDirectory directory = data_directory(place_);
    if (directory.complete(entry)) return std::nullopt;
    if (const auto known = failed_.find(name); known != failed_.end()) return known->second;
    try {
      fetch_with_progress(entry, directory, false, shown_);
      return std::nullopt;
    } catch (const FetchError& error) {
      return failed_[name] = error.what();
    }
  }

  /// "symport data fetch mnist"
  std::string command(const std::string& name) const {
    return fmt::format("symport data fetch {}{}", name,
                       place_ ? " --data-dir " + *place_ : std::string());
  }

 private:
  std::optional<std::string> place_;
  bool shown_;
  std::map<std::string, std::string> failed_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2.0;
}

std::string as_text(const Reproduction& result, const Style& style) {
  const Experiment& experiment = result.experiment;
  std::string text =
      style.bold(experiment.name + ": " + experiment.title) + "\n" + experiment.see + "\n\n";
  TextTable table({{"method"}, {"runs"}, {"final loss"}, {"seconds"}, {"teleports"}, {"drift"}});
  for (const RunResults& one : result.results) {
    if (result.results.size() > rows_shown) break;
    std::vector<double> losses, seconds;
    TeleportTally tally;
    for (const report::Run& run : one.seeds) {
      losses.push_back(run.trace.loss().empty() ? std::nan("") : run.trace.loss().back());
      seconds.push_back(run.trace["seconds"].empty() ? 0.0 : run.trace["seconds"].back());
      for (const Certificate& c : run.teleports) tally.add(c);
    }
    table.add({one.run.name, fmt::format("{}", one.seeds.size()),
               fmt::format("{:.4g}", median(losses)), fmt::format("{:.3g}", median(seconds)),
               tally.total() == 0 ? "-" : fmt::format("{} of {}", tally.accepted, tally.total()),
               tally.accepted == 0 ? "-" : fmt::format("{:.2g}", tally.largest_drift)});
  }
  if (result.results.size() > rows_shown) {
    text += fmt::format("{} runs\n", result.results.size() * experiment.seeds.size());
  } else {
    text += table.text(style) + "\n";
  }
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
  const auto figures = given.text("figures");
  for (const Experiment& experiment : experiments) {
    require_places(experiment, out, given.origin("out"));
  }
  if (!go_on) {
    const bool force = given.is_on("force");
    const RunDirectory check(out, force, given.origin("out"));
    if (figures) RunDirectory(*figures, force, given.origin("figures"));
    for (const Experiment& experiment : experiments) remove_earlier_runs(experiment, out);
  }

  const bool shown = !given.is_on("quiet") && !given.is_on("no-progress");
  DataFetcher data(given.text("data-dir"), shown);
  Json list = Json::array(), without = Json::array();
  std::vector<std::string> failed, missing, commands;
  const auto interrupted_exit = [] {
    print_error("symport reproduce: interrupted; to go on, the same command with --continue\n");
    return exit_interrupted;
  };
  std::size_t missed = 0;
  for (const Experiment& experiment : experiments) {
    try {
      if (const auto why = data.missing(experiment.data)) {
        const std::string command = data.command(experiment.data);
        print_error(fmt::format("{}: {} cannot be fetched now ({}); later: {}\n", experiment.name,
                                experiment.data, *why, command));
        missing.push_back(experiment.name);
        if (std::find(commands.begin(), commands.end(), command) == commands.end()) {
          commands.push_back(command);
        }
        without.push_back({{"figure", experiment.name}, {"fetch", command}});
        continue;
      }
    } catch (const FetchInterrupted&) {
      return interrupted_exit();
    }
    Progress progress(experiment.name, 1);
    ReproductionOptions options{.out = out, .data_directory = given.text("data-dir")};
    options.warn = [](const std::string& text) { print_error(text + "\n"); };
    if (shown) {
      options.begins = [&](const std::string& what) {
        progress.message(experiment.name + ": " + what);
      };
    }
    const std::optional<Reproduction> result = reproduce(experiment, options);
    if (!result) return interrupted_exit();
    const auto wrong =
        static_cast<std::size_t>(std::count_if(result->outcomes.begin(), result->outcomes.end(),
                                               [](const Outcome& o) { return !o.met(); }));
    missed += wrong;
    if (wrong > 0) failed.push_back(experiment.name);
    if (!json) print(as_text(*result, Style::for_stdout()));
    list.push_back(as_json(*result));
    const report::Report page = experiment_report(*result);
    RunDirectory place(out, true, given.origin("out"));
    place.write(page_of(experiment), report::page(page));
    if (figures) {
      std::string prefix = experiment.name + "-";
      std::replace(prefix.begin(), prefix.end(), '/', '-');
      RunDirectory pictures(*figures, true, given.origin("figures"));
      for (const auto& [name, svg] : report::pictures(page)) pictures.write(prefix + name, svg);
    }
  }
  const bool good = missed == 0 && missing.empty();
  if (json) {
    print(json_text(Json{{"met", good}, {"figures", std::move(list)}, {"without", without}}));
  }
  if (!given.is_on("quiet")) print_error(fmt::format("Written to {}\n", out.string()));
  if (missed > 0) {
    print_error(fmt::format("symport reproduce: {} of the expected numbers {} outside, in {}\n",
                            missed, missed == 1 ? "is" : "are", join(failed)));
  }
  if (!missing.empty()) {
    print_error(
        fmt::format("symport reproduce: without data: {}; to make up for it: {} && symport "
                    "reproduce {}\n",
                    join(missing), join(commands, " && "), join(missing, " ")));
  }
  return good ? exit_done : exit_failed;
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
          "run has a directory\nof its own, each experiment a page (see symport report). Data sets "
          "are fetched; where one\ncannot be, the other experiments are run, and the exit code is "
          "1.",
      .examples =
          "symport reproduce\n"
          "symport reproduce fig2 fig8 --figures pictures\n"
          "symport reproduce fig4 --full --out runs/fig4\n"
          "symport reproduce fig4 --full --out runs/fig4 --continue",
      .positionals = {{"figure", "FIGURE...",
                       "directories below experiments/ (default: all of them)", "Options", true}},
      .options = {{"quick", "", "small sizes, minutes (the default)", run},
                  {"full", "", "the paper's sizes, hours", run},
                  {"continue", "", "keep the runs that are complete, go on with the others", run},
                  {"experiments", "DIR", "where experiments are (default ./experiments)", run},
                  {"data-dir", "DIR", "where fetched data sets are", run},
                  {"figures", "DIR", "write every figure as SVG into this directory too", output},
                  {"out", "DIR", fmt::format("(default {})", usual_out), output},
                  {"force", "",
                   "let --out and --figures replace the files of an earlier reproduction; all "
                   "others stay",
                   output},
                  common::json(),
                  common::quiet(),
                  common::no_progress()},
      .run = run_reproduce};
}

}  // namespace symport::cli
