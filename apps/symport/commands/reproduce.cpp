// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/output_options.hpp"
#include "commands/all.hpp"
#include "commands/data_fetch.hpp"
#include "lab/report/page.hpp"
#include "lab/report/pictures.hpp"
#include "lab/reproduce/experiment_file.hpp"
#include "lab/reproduce/experiment_report.hpp"
#include "lab/reproduce/reproduction.hpp"
#include "lab/runs/run_directory.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/search/teleport_tally.hpp"
#include "symport/statistics/quantile.hpp"
#include "terminal/interruption.hpp"
#include "terminal/progress.hpp"
#include "terminal/text_table.hpp"

namespace symport::cli {

using namespace lab;

namespace fs = std::filesystem;

namespace {

constexpr const char* usual_out = "runs/reproduce";
/// Methods with more places than this are told by their expected numbers alone.
constexpr std::size_t rows_shown = 40;

struct ReproduceOptions {
  std::vector<std::string> figures{};
  bool quick = false, full = false;
  bool resume = false;
  std::optional<std::string> experiments = std::nullopt;
  std::optional<std::string> data_dir = std::nullopt;

  /// Where the experiments are: ./experiments, else where they came with the program
  /// (installed: ../share/symport; in a build tree: at its root), else those this program was built
  /// with.
  fs::path directory() const {
    if (experiments) return *experiments;
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const fs::path& place : {fs::path("experiments"), program / "../share/symport/experiments",
                                  program / "../../../../experiments"}) {
      if (fs::is_directory(place, ignored)) return place.lexically_normal();
    }
    return SYMPORT_EXPERIMENTS_DIR;
  }
};

const OptionTable<ReproduceOptions>& reproduce_options() {
  using S = ReproduceOptions;
  static const OptionTable<S> table(
      "Run",
      {row({.name = "figure",
            .value = "FIGURE...",
            .help = "directories below experiments/ (default: all of them)",
            .positional = true,
            .many = true},
           &S::figures, as_text()),
       row({"quick", "", "small sizes, minutes (the default)"}, &S::quick, as_switch()),
       row({"full", "", "the paper's sizes, hours"}, &S::full, as_switch()),
       row({"continue", "", "keep the runs that are complete, go on with the others"}, &S::resume,
           as_switch()),
       row({"experiments", "DIR",
            "where experiments are (default ./experiments, else those that came with the program)"},
           &S::experiments, as_text()),
       row({"data-dir", "DIR", "where fetched data sets are"}, &S::data_dir, as_text())});
  return table;
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

std::string reproduction_text(const Reproduction& result, const Style& style) {
  const Experiment& experiment = result.experiment;
  std::string text =
      style.bold(experiment.name + ": " + experiment.title) + "\n" + finding_text(result) + "\n\n";
  TextTable table({{"method"},
                   {"runs"},
                   {"final loss"},
                   {"evaluations"},
                   {"seconds"},
                   {"teleports"},
                   {"drift"},
                   {"loss is kept"}});
  for (const RunResults& one : result.results) {
    if (result.results.size() > rows_shown) break;
    std::vector<double> losses, evaluations, seconds;
    std::size_t diverged = 0;
    TeleportTally tally;
    for (const RunRecord& run : one.seeds) {
      const bool empty = run.trace.rows() == 0;
      const double loss = empty ? std::nan("") : run.trace.loss().back();
      diverged += run.status == RunStatus::diverged ? 1 : 0;
      losses.push_back(std::isnan(loss) ? HUGE_VAL : loss);
      evaluations.push_back(empty ? 0.0 : run.trace["evaluations"].back());
      seconds.push_back(empty ? 0.0 : run.trace["seconds"].back());
      for (const Certificate& certificate : run.teleports) tally.add(certificate);
    }
    std::string loss = fmt::format("{:.4g}", median(losses));
    if (diverged == one.seeds.size()) {
      loss = "diverged";
    } else if (diverged > 0) {
      loss += fmt::format(" ({} diverged)", diverged);
    }
    table.add({one.run.name, fmt::format("{}", one.seeds.size()), loss,
               fmt::format("{:.6g}", median(evaluations)), fmt::format("{:.3g}", median(seconds)),
               tally.total() == 0 ? "-" : fmt::format("{} of {}", tally.accepted, tally.total()),
               tally.accepted == 0 ? "-" : fmt::format("{:.2g}", tally.largest_drift),
               tally.narrowest_scope ? tally.narrowest_scope->text() : "-"});
  }
  if (result.results.size() > rows_shown) {
    text += fmt::format("{} runs\n", result.results.size() * experiment.seeds.size());
  } else {
    text += table.text(style);
    text += fmt::format(
        "Final loss, evaluations (gradients, teleports included) and seconds are medians of the "
        "runs.\n\n");
  }
  for (const Outcome& outcome : result.outcomes) {
    text += fmt::format("{} {}: {:.4g}, expected {:.4g} to {:.4g}\n",
                        outcome.met() ? "ok    " : "FAILED", outcome.expected.text(), outcome.found,
                        outcome.expected.low, outcome.expected.high);
  }
  return text + fmt::format("{} s\n\n", std::lround(result.seconds));
}

Json reproduction_json(const Reproduction& result) {
  Json json{{"figure", result.experiment.name}, {"title", result.experiment.title},
            {"see", result.experiment.see},     {"seeds", result.experiment.seeds},
            {"finding", finding_text(result)},  {"seconds", result.seconds},
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

std::vector<Experiment> chosen(const ReproduceOptions& options) {
  const fs::path directory = options.directory();
  const std::vector<std::string> names = experiment_names(directory);
  std::vector<std::string> wanted;
  for (const std::string& word : options.figures) {
    const std::size_t before = wanted.size();
    std::copy_if(names.begin(), names.end(), std::back_inserter(wanted),
                 [&](const auto& name) { return name == word || name.starts_with(word + "/"); });
    if (wanted.size() == before) {
      throw OptionError("figure", fmt::format("found '{}', allowed is {}{}", word, join(names),
                                              did_you_mean(word, names)));
    }
  }
  if (options.figures.empty()) wanted = names;
  if (wanted.empty()) {
    throw OptionError("experiments",
                      fmt::format("there are no experiments in '{}'", directory.string()));
  }
  std::vector<Experiment> list;
  for (const std::string& name : wanted) {
    list.push_back(read_experiment(directory, name, !options.full));
  }
  return list;
}

/// Runs experiments one after the other and gathers what there is to say about them.
class Reproducer {
 public:
  Reproducer(const ReproduceOptions& options, const OutputOptions& output)
      : options_(options),
        output_(output),
        out_(output.out.value_or(usual_out)),
        fetcher_(options.data_dir, output.shows_progress()) {}

  /// Makes room for the runs. Until the end, another reproduction is refused there.
  void prepare(const std::vector<Experiment>& experiments) {
    for (const Experiment& experiment : experiments) require_places(experiment, out_, "--out");
    const bool replaces = output_.force || options_.resume;
    std::error_code ignored;
    if (!replaces && fs::is_directory(out_, ignored) && !RunDirectory::is_free(out_)) {
      throw OptionError(
          "out", fmt::format("{} has files in it already: --continue keeps the runs that are "
                             "complete and makes the others, --force makes all of them again, "
                             "--out DIR takes another place",
                             out_.string()));
    }
    place_ = std::make_shared<RunDirectory>(out_, replaces, "--out");
    if (output_.figures) {
      std::error_code missing;
      figures_ = fs::equivalent(out_, *output_.figures, missing)
                     ? place_
                     : std::make_shared<RunDirectory>(*output_.figures, replaces, "--figures");
    }
    if (options_.resume) return;
    for (const Experiment& experiment : experiments) remove_earlier_runs(experiment, out_);
  }

  /// False when it was interrupted.
  bool run(const Experiment& experiment) {
    try {
      if (const auto why = fetcher_.missing(experiment.data)) {
        skip(experiment, *why);
        return true;
      }
    } catch (const FetchInterrupted&) {
      return false;
    }
    const std::optional<Reproduction> result = run_with_progress(experiment);
    if (!result) return false;
    const auto wrong = std::count_if(result->outcomes.begin(), result->outcomes.end(),
                                     [](const Outcome& outcome) { return !outcome.met(); });
    missed_ += static_cast<std::size_t>(wrong);
    if (wrong > 0) failed_.push_back(experiment.name);
    if (!output_.json) print(reproduction_text(*result, Style::for_stdout()));
    list_.push_back(reproduction_json(*result));
    write_page(*result);
    return true;
  }

  int finish() {
    const bool good = missed_ == 0 && missing_.empty();
    if (output_.json) {
      print(json_text(
          Json{{"met", good}, {"figures", std::move(list_)}, {"without", std::move(without_)}}));
    }
    if (!output_.quiet) print_error(fmt::format("Written to {}\n", out_.string()));
    if (missed_ > 0) {
      print_error(fmt::format("symport reproduce: {} of the expected numbers {} outside, in {}\n",
                              missed_, missed_ == 1 ? "is" : "are", join(failed_)));
    }
    if (!missing_.empty()) {
      print_error(
          fmt::format("symport reproduce: skipped, data unavailable: {}. To run them: {} && "
                      "symport reproduce {}\n",
                      join(missing_), join(commands_, " && "), join(missing_, " ")));
    }
    return good ? exit_done : exit_failed;
  }

 private:
  void skip(const Experiment& experiment, const std::string& why) {
    const std::string command = fetcher_.command(experiment.data);
    print_error(fmt::format("{}: {} cannot be fetched now ({}); later: {}\n", experiment.name,
                            experiment.data, why, command));
    missing_.push_back(experiment.name);
    if (std::find(commands_.begin(), commands_.end(), command) == commands_.end()) {
      commands_.push_back(command);
    }
    without_.push_back({{"figure", experiment.name}, {"fetch", command}});
  }

  std::optional<Reproduction> run_with_progress(const Experiment& experiment) {
    Progress progress({.shown = output_.shows_progress()});
    ReproductionOptions options{.out = out_, .data_directory = options_.data_dir};
    options.keep_going = [] { return !interrupted(); };
    options.warn = [](const std::string& text) { print_error(text + "\n"); };
    options.begins = [&](const std::string& what) {
      if (progress.shown()) progress.message(experiment.name + ": " + what);
    };
    return reproduce(experiment, data_, options);
  }

  void write_page(const Reproduction& result) const {
    const std::string& name = result.experiment.name;
    const report::Report page = experiment_report(result);
    place_->write(page_of(result.experiment), report::page(page));
    if (!figures_) return;
    std::string prefix = name + "-";
    std::replace(prefix.begin(), prefix.end(), '/', '-');
    for (const auto& [file, svg] : report::pictures(page)) figures_->write(prefix + file, svg);
  }

  const ReproduceOptions& options_;
  const OutputOptions& output_;
  fs::path out_;
  std::shared_ptr<RunDirectory> place_{}, figures_{};
  DataFetcher fetcher_;
  DataCache data_{};
  Json list_ = Json::array(), without_ = Json::array();
  std::vector<std::string> failed_{}, missing_{}, commands_{};
  std::size_t missed_ = 0;
};

int run_reproduce(const Arguments& arguments) {
  const OutputOptions output = read_output_options(arguments);
  const ReproduceOptions options = reproduce_options().read(arguments);
  if (options.full && options.quick) throw OptionError("full", "cannot be combined with --quick");
  if (options.resume && output.force) {
    throw OptionError("continue", "cannot be combined with --force");
  }
  const std::vector<Experiment> experiments = chosen(options);
  const GracefulStop graceful;
  Reproducer reproducer(options, output);
  reproducer.prepare(experiments);
  for (const Experiment& experiment : experiments) {
    if (reproducer.run(experiment)) continue;
    print_error("symport reproduce: interrupted; to go on, run the same command with --continue\n");
    return exit_interrupted;
  }
  return reproducer.finish();
}

}  // namespace

Command reproduce_command() {
  return {
      .name = "reproduce",
      .summary = "run the experiments of the paper, and compare what comes out",
      .details =
          "Runs every method of an experiment with every seed, prints the numbers it found next "
          "to\n"
          "those expected, and exits with 1 when one is outside its interval. Each run has a\n"
          "directory of its own, each experiment a page (see symport report). Data sets are "
          "fetched;\n"
          "where one cannot be, the other experiments are run, and the exit code is 1.",
      .examples =
          "symport reproduce\n"
          "symport reproduce fig2 fig8 --figures pictures\n"
          "symport reproduce fig4 --full --out runs/fig4\n"
          "symport reproduce fig4 --full --out runs/fig4 --continue",
      .options = joined({reproduce_options().options(),
                         output_flags({"figures",
                                       {"out", fmt::format("(default {})", usual_out)},
                                       {"force",
                                        "let --out and --figures replace the files of an earlier "
                                        "reproduction; all others stay"},
                                       "json",
                                       "quiet",
                                       "no-progress"})}),
      .run = run_reproduce};
}

}  // namespace symport::cli
