// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "commands/all.hpp"
#include "commands/report_file.hpp"
#include "commands/run_output.hpp"
#include "commands/texts.hpp"
#include "lab/config/config_reader.hpp"
#include "lab/report/run_report.hpp"
#include "lab/runs/run_writer.hpp"
#include "lab/text/parse_numbers.hpp"
#include "symport/core/counted.hpp"
#include "terminal/interruption.hpp"
#include "terminal/progress.hpp"

namespace symport::cli {

using namespace lab;

namespace {

constexpr const char* examples =
    "symport train --data regression --teleport 5\n"
    "symport train --data regression --lr auto --teleport every:2 --search-steps 1\n"
    "symport train --data regression --optimizer adagrad --lr 0.1 --teleport 5 --state reset\n"
    "symport train --data mnist --layers 784,512,512,10 --batch 20 --epochs 4 --lr 0.002 \\\n"
    "              --validation 12000 --precision float --teleport 1 --symmetry rescale \\\n"
    "              --out runs/mnist\n"
    "symport train --resume runs/mnist --epochs 8\n"
    "symport train --data digits.npz --layers 64,32,10 --batch 20 --epochs 10 --validation 200 \\\n"
    "              --lr 0.02 --teleport 1 --symmetry rescale --out runs/digits";

constexpr const char* resume_option = "resume";

struct SeedsOption {
  std::optional<Index> seeds = std::nullopt;
};
const OptionTable<SeedsOption>& seeds_option() {
  static const OptionTable<SeedsOption> table(
      "Run", {row({"seeds", "N",
                   "the same run N times, with the seeds from --seed on; a table of all of them. "
                   "--out DIR then has a directory seed-K for each"},
                  &SeedsOption::seeds, as_whole(1, 10000))
                  .in_role(Role::execution)});
  return table;
}

std::vector<Option> train_command_options() {
  return joined(
      {network_run_options().options(),
       seeds_option().options(),
       {config_flag("a run's config.toml", "Run"),
        {.name = resume_option,
         .value = "DIR",
         .help = "go on with the run in this directory from its last checkpoint; --epochs "
                 "(or --steps) may make it longer",
         .group = "Run",
         .role = Role::execution}},
       output_flags({"out", "report", "force", "json", "quiet", "no-progress"})});
}

/// The options of the run in `directory`, with what may be changed when it goes on.
Arguments resumed(const Arguments& arguments, const std::string& directory) {
  std::vector<std::string> fixed{"out"};
  for (const Option& option : network_run_options().options()) {
    if (option.role == Role::identity) fixed.push_back(option.name);
  }
  for (const std::string& name : fixed) {
    if (!arguments.has(name)) continue;
    throw OptionError(name, "cannot be combined with --resume; it is taken from config.toml");
  }
  Arguments all = arguments;
  const std::string file = (std::filesystem::path(directory) / "config.toml").string();
  const bool longer = arguments.has("steps") || arguments.has("epochs");
  // A length that is given replaces the old one, by whichever of its two names.
  const Arguments earlier = parse_config(read_config_text(file, "--resume"), file, "train",
                                         network_run_options().options());
  Arguments rest;
  for (const Argument& argument : earlier) {
    const bool length = argument.name == "steps" || argument.name == "epochs";
    if (!(longer && length)) rest.add(argument);
  }
  all.merge(rest);
  return all;
}

/// Reports progress on stderr: a bar on a terminal, a line per epoch elsewhere.
class TrainingReporter {
 public:
  explicit TrainingReporter(const OutputOptions& options)
      : quiet_(options.quiet), progress_({.shown = options.shows_progress(), .first = 0.5}) {}

  bool watch(const NetworkProgress& at) {
    const Index now = at.epoch * at.steps + at.step;
    if (first_step_ < 0) first_step_ = now;
    samples_ = (now - first_step_) * at.samples_a_step;
    progress_.update([&] { return line(at); }, !at.minibatch);
    return !interrupted();
  }

  void epoch_done(const TraceRow& row, Index epochs) {
    if (!progress_.shown() || progress_.on_terminal()) return;
    std::string text = row.epoch == 0 ? std::string("before training")
                                      : fmt::format("epoch {} of {}", row.epoch, epochs);
    if (!std::isnan(row.loss) || row.epoch > 0) text += fmt::format(": loss {:.4g}", row.loss);
    if (!std::isnan(row.valid_loss)) text += fmt::format(", validation {:.4g}", row.valid_loss);
    if (!std::isnan(row.valid_accuracy)) {
      text += fmt::format(" ({:.2f} % right)", 100.0 * row.valid_accuracy);
    }
    if (row.epoch > 0) text += fmt::format(", {:.0f} samples/s", samples_a_second());
    progress_.message(text + fmt::format(", {} so far", duration_text(progress_.seconds())));
  }

  void warn(const std::string& text) {
    if (!quiet_) progress_.message("symport train: " + text);
  }

 private:
  double samples_a_second() const { return static_cast<double>(samples_) / progress_.seconds(); }

  std::string line(const NetworkProgress& at) const {
    const Index now = at.epoch * at.steps + at.step, all = at.epochs * at.steps;
    const double part = static_cast<double>(now) / static_cast<double>(std::max<Index>(all, 1));
    const auto done = static_cast<double>(now - first_step_);
    const double left =
        done > 0.0 ? progress_.seconds() * static_cast<double>(all - now) / done : 0.0;
    const std::string where = at.minibatch ? fmt::format("epoch {}/{}", at.epoch + 1, at.epochs)
                                           : fmt::format("step {}/{}", at.step, at.steps);
    return fmt::format("{} {} {:3.0f} %  loss {:.4g}  {:.0f} samples/s  {} left", where,
                       Progress::bar(part), 100.0 * part, at.loss, samples_a_second(),
                       duration_text(left));
  }

  bool quiet_;
  Progress progress_;
  Index first_step_ = -1;
  Index samples_ = 0;  ///< seen since
};

/// What to try next, where the rate was too large.
std::string divergence_advice(const NetworkResult& result) {
  const NetworkRunSpec& spec = result.spec;
  std::string advice = "; try a smaller --lr";
  if (const auto rate = spec.learning_rate->constant()) {
    advice += fmt::format(" than {}", exact_text(*rate));
  }
  const bool measured = spec.optimizer == "gd" && !spec.minibatch() && !spec.trip.on();
  if (measured) advice += ", or --lr auto, which measures the step";
  if (spec.loss->reduction() == Loss::Reduction::sum) {
    advice += fmt::format(
        "\n  The loss {} is a sum over the samples, so the rate that works shrinks with their "
        "number;\n  --loss {} does not depend on it",
        spec.loss->name(), spec.loss->categorical() ? "cross_entropy" : "mse");
  }
  return advice;
}

int report_end(const NetworkResult& result, const RunDirectory* directory) {
  const RunSummary& summary = result.summary;
  if (summary.status == RunStatus::diverged) {
    print_error(fmt::format("symport train: diverged at step {}{}\n", summary.steps,
                            divergence_advice(result)));
    return exit_failed;
  }
  if (summary.status == RunStatus::interrupted) {
    print_error(
        fmt::format("symport train: interrupted after {}; {}\n", counted(summary.steps, "step"),
                    directory ? "to resume it: symport train --resume " + directory->path().string()
                              : "nothing is kept without --out DIR"));
    return exit_interrupted;
  }
  return exit_done;
}

NetworkResult train_with_progress(NetworkRun& run, const RunPlace& place,
                                  const OutputOptions& options) {
  TrainingReporter reporter(options);
  const Index epochs = run.spec().epochs.value_or(1);
  return run.train(place,
                   {.watch = [&](const NetworkProgress& at) { return reporter.watch(at); },
                    .epoch_done = [&](const TraceRow& row) { reporter.epoch_done(row, epochs); },
                    .warn = [&](const std::string& text) { reporter.warn(text); },
                    .keep_going = [] { return !interrupted(); }});
}

int run_training(const Arguments& arguments, RunOutput& output, const OutputOptions& options,
                 bool resume) {
  const NetworkRunSpec spec = network_run_options().read(arguments);
  if (spec.checkpoint_every && !options.out && !resume) {
    throw OptionError("checkpoint-every", "needs --out DIR");
  }
  DataCache data;
  const std::unique_ptr<NetworkRun> run = load(spec, data);
  const GracefulStop graceful;
  if (!resume) output.open_directory();
  const NetworkResult result = train_with_progress(*run, {output.directory(), resume}, options);
  output.deliver([&](RunDirectory& directory) { write_results(result, directory); },
                 options.json ? json_of(result) : train_text(result, Style::for_stdout()),
                 [&] { return record_of(result); });
  if (!result.loss_invariant && !result.summary.teleports.empty()) {
    print_error(
        "warning: the symmetry 'paper' is not loss-invariant: its teleports change the loss\n");
  }
  return report_end(result, output.directory());
}

/// One run for every seed, and all of them in a table.
int run_seeds(const Arguments& arguments, const OutputOptions& options, Index seeds) {
  NetworkRunSpec spec = network_run_options().read(arguments);
  const std::optional<ReportFile> page = ReportFile::asked_for(options);
  DataCache data;
  std::vector<NetworkResult> results;
  std::vector<RunRecord> records;
  int worst = exit_done;
  for (Index k = 0; k < seeds && worst != exit_interrupted; ++k, ++spec.seed) {
    const std::unique_ptr<NetworkRun> run = load(spec, data);
    std::unique_ptr<RunDirectory> directory;
    if (options.out) {
      const auto place = std::filesystem::path(*options.out) / fmt::format("seed-{}", spec.seed);
      directory = std::make_unique<RunDirectory>(place, options.force, "--out");
    }
    results.push_back(train_with_progress(*run, {directory.get(), false}, options));
    if (directory) write_results(results.back(), *directory);
    if (page) records.push_back(record_of(results.back()));
    worst = std::max(worst, report_end(results.back(), directory.get()));
  }
  print(options.json ? json_of_seeds(results) : seeds_text(results, Style::for_stdout()));
  if (options.out && !options.quiet) print_error(fmt::format("Written to {}\n", *options.out));
  if (page) {
    page->write(report::run_report(records, ""));
    if (!options.quiet) print_error(fmt::format("Written to {}\n", page->path().string()));
  }
  return worst;
}

int run_train(const Arguments& arguments) {
  const OutputOptions options = read_output_options(arguments);
  const auto earlier = arguments.text(resume_option);
  if (const auto seeds = seeds_option().read(arguments).seeds) {
    if (earlier) throw OptionError("seeds", "cannot be combined with --resume");
    return arguments.explained([&] { return run_seeds(arguments, options, *seeds); });
  }
  RunOutput output("symport train", options);
  if (earlier) output.resume(*earlier);
  const Arguments all = earlier ? resumed(arguments, *earlier) : arguments;
  return all.explained([&] { return run_training(all, output, options, earlier.has_value()); });
}

}  // namespace

Command train_command() {
  return {.name = "train",
          .summary = "train a network, with or without teleportation",
          .details =
              "Trains a multi-layer perceptron with an optimizer that teleports now and then: it\n"
              "jumps along a symmetry of the loss to weights from which the next steps gain more.\n"
              "Full batches are Algorithm 1, mini-batches Algorithm 2.",
          .examples = examples,
          .options = train_command_options(),
          .run = run_train};
}

}  // namespace symport::cli
