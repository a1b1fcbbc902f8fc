// SPDX-License-Identifier: MIT
#include "commands/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "commands/report_file.hpp"
#include "lab/runs/interruption.hpp"
#include "lab/text/parse_numbers.hpp"
#include "symport/search/teleport_tally.hpp"
#include "terminal/progress.hpp"
#include "terminal/text_table.hpp"

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

std::vector<Option> options() {
  const TrainingOptions defaults;
  const std::string data = "Data", network = "Network", run = "Run", teleport = "Teleportation";
  std::vector<Option> list{
      {"data", "SET",
       "mnist, fashion-mnist, cifar10 (symport data fetch gets them); idx:DIR; csv:FILE; an .npz\n"
       "file with X (samples x features) and y (classes) or Y (samples x outputs); or\n"
       "regression: the paper's, generated from the seed",
       data},
      {"test", "SET", "another such set to test on at the end (default: its own test set, if any)",
       data},
      {"samples", "N", "only the first N samples; regression: so many (default 4)", data},
      {"validation", "N",
       fmt::format("samples kept for validation, drawn by the seed (default {})",
                   defaults.validation),
       data},
      {"layers", "D0,D1,...", "widths from the features to the outputs (regression: 5,6,7,8)",
       network},
      {"weights", "FILE.npz", "start from these weights W1 (out x in), b1, W2, ...", network},
      {"activation", "NAME",
       fmt::format("of the hidden layers: linear, leaky_relu[:a], relu, tanh, sigmoid, asinh,\n"
                   "tanh_extended[:N], sigmoid_extended[:N] (default {})",
                   defaults.activation.name()),
       network},
      {"bias", "", "layers have biases", network},
      {"loss", "NAME",
       "half_sum_squares, mean_squares, cross_entropy, each with :sum or :mean\n"
       "(default: cross_entropy for y, half_sum_squares for Y)",
       network},
      {"init", "NAME", "fan_in, unit, he, glorot (default fan_in; regression: unit)", network},
      {"precision", "float|double", fmt::format("(default {})", to_string(defaults.precision)),
       network},
      {"optimizer", "NAME",
       fmt::format("{} (default {})", join(names_of(optimizers())), defaults.optimizer), run},
      {"lr", "RATE|auto",
       "learning rate: a number, step:RATE,FACTOR,PERIOD, cosine:RATE,PERIOD, or auto, which\n"
       "measures the step (gd on full batches) (default 0.01; regression: 0.0001)",
       run},
      {"batch", "N|full", "samples of a mini-batch (default full)", run},
      {"epochs", "N", "passes over the data (default 10; regression: 300)", run},
      {"steps", "N", "the same for full batches", run},
      {"patience", "N", "stop when the validation loss has not fallen for N epochs", run},
      {"train-loss", "exact|running",
       fmt::format("of a row: of the whole training set, which costs a pass over it, or the mean "
                   "of the\nepoch's mini-batches (default {})",
                   to_string(defaults.train_loss)),
       run},
      {"threads", "N",
       fmt::format("of the matrix products, up to one for every processor (default {})",
                   defaults.threads),
       run},
      {"seed", "N",
       fmt::format("of generated data, weights, order and searches (default {})", defaults.seed),
       run},
      {"config", "FILE",
       "options from a TOML file, such as a run's config.toml; flags win; not in the file:\n"
       "--out, --report, --force, --resume",
       run},
      {"resume", "DIR",
       "go on with the run in this directory from its last checkpoint; --epochs (or --steps) may\n"
       "make it longer",
       run},
      {"checkpoint-every", "N",
       "a checkpoint every N steps too (default: mini-batches after each epoch only, full\n"
       "batches every 1000 steps); needs --out",
       run},
      {"teleport", "SCHEDULE",
       "steps (full batches) or epochs (mini-batches) at which to teleport:\n"
       "5 | 0,10,20 | 0..40:10 | every:100 | every:100+99 | never (default never)",
       teleport},
      {"teleport-batches", "B",
       fmt::format("teleport on each of the first B mini-batches of such an epoch (default {})",
                   defaults.teleport_batches),
       teleport},
      {"teleport-batch-size", "N", "samples of a teleport batch (default: the mini-batch)",
       teleport},
  };
  for (Option& option : data_flags(data)) list.push_back(std::move(option));
  for (Option& option : teleport_flags(teleport)) list.push_back(std::move(option));
  list.push_back({"state", "POLICY",
                  fmt::format("of the optimizer at a teleport: {} (default {})",
                              join(names_of(states()), " | "), to_string(defaults.how.state)),
                  teleport});
  for (Option option : {common::out(), common::report(), common::force(), common::json(),
                        common::quiet(), common::no_progress()}) {
    list.push_back(std::move(option));
  }
  return list;
}

/// The options of the run in `directory`, with what may be changed when it goes on.
Given resumed(const Given& given, const std::string& directory) {
  for (const Option& option : options()) {
    const auto& allowed = {"resume",   "epochs", "steps", "checkpoint-every",
                           "data-dir", "json",   "quiet", "no-progress",
                           "config",   "report", "force"};
    if (given.has(option.name) &&
        std::find(allowed.begin(), allowed.end(), option.name) == allowed.end()) {
      throw UsageError(given.origin(option.name),
                       "goes without --resume: the run's config.toml says it");
    }
  }
  Given all = given;
  const Command command = train_command();
  all.merge(
      read_config(std::filesystem::path(directory) / "config.toml", command.name, command.keys()));
  return all;
}

/// Tells on stderr how a run gets on: a bar on a terminal, a line per epoch elsewhere.
class TrainingReporter {
 public:
  explicit TrainingReporter(bool shown, bool quiet)
      : quiet_(quiet), shown_(shown), progress_("training", 1, {.shown = shown, .first = 0.5}) {}

  bool watch(const TrainingProgress& at) {
    const Index now = at.epoch * at.steps + at.step;
    if (first_step_ < 0) first_step_ = now;
    samples_ = (now - first_step_) * at.samples_a_step;
    progress_.update(
        seconds(), [&] { return line(at); }, !at.minibatch);
    return !interrupted();
  }

  void epoch_done(const TraceRow& row, Index epochs) {
    if (!shown_ || progress_.on_terminal()) return;
    std::string text = row.epoch == 0 ? std::string("before training")
                                      : fmt::format("epoch {} of {}", row.epoch, epochs);
    if (!std::isnan(row.loss) || row.epoch > 0) text += fmt::format(": loss {:.4g}", row.loss);
    if (!std::isnan(row.valid_loss)) text += fmt::format(", validation {:.4g}", row.valid_loss);
    if (!std::isnan(row.valid_accuracy)) {
      text += fmt::format(" ({:.2f} % right)", 100.0 * row.valid_accuracy);
    }
    if (row.epoch > 0) text += fmt::format(", {:.0f} samples/s", samples_a_second());
    progress_.message(text + fmt::format(", {} so far", duration_text(seconds())));
  }

  void warn(const std::string& text) {
    if (!quiet_) progress_.message("symport train: " + text);
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

  double samples_a_second() const { return static_cast<double>(samples_) / seconds(); }

  std::string line(const TrainingProgress& at) const {
    const Index now = at.epoch * at.steps + at.step, all = at.epochs * at.steps;
    const double part = static_cast<double>(now) / static_cast<double>(std::max<Index>(all, 1));
    const auto done = static_cast<double>(now - first_step_);
    const double left = done > 0.0 ? seconds() * static_cast<double>(all - now) / done : 0.0;
    const std::string where = at.minibatch ? fmt::format("epoch {}/{}", at.epoch + 1, at.epochs)
                                           : fmt::format("step {}/{}", at.step, at.steps);
    return fmt::format("{} {} {:3.0f} %  loss {:.4g}  {:.0f} samples/s  {} left", where,
                       Progress::bar(part), 100.0 * part, at.loss, samples_a_second(),
                       duration_text(left));
  }

  bool quiet_, shown_;
  Progress progress_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  Index first_step_ = -1;
  Index samples_ = 0;  ///< seen since
};

int report_end(const TrainingResult& result, const RunDirectory* directory) {
  const RunSummary& run = result.run;
  if (run.status == RunStatus::diverged) {
    print_error(fmt::format("symport train: diverged at step {}\n", run.steps));
    return exit_failed;
  }
  if (run.status == RunStatus::interrupted) {
    print_error(fmt::format("symport train: interrupted after {} steps; {}\n", run.steps,
                            directory
                                ? "to go on: symport train --resume " + directory->path().string()
                                : "nothing is kept without --out DIR"));
    return exit_interrupted;
  }
  return exit_done;
}

int run_train(const Given& typed) {
  const auto earlier = typed.text("resume");
  std::unique_ptr<RunDirectory> directory;
  if (earlier) directory = RunDirectory::of_earlier_run(*earlier, typed.origin("resume"));
  const Given given = earlier ? resumed(typed, *earlier) : typed;
  const bool quiet = given.is_on("quiet"), json = given.is_on("json");
  const TrainingOptions asked = read_training_options(given);
  const std::optional<ReportFile> page = ReportFile::asked_for(given);
  if (given.has("checkpoint-every") && !given.has("out") && !earlier) {
    throw UsageError(given.origin("checkpoint-every"), "needs --out DIR");
  }
  const auto open = [&]() -> TrainingPlace {
    if (const auto path = given.text("out"); path && !earlier) {
      directory = std::make_unique<RunDirectory>(*path, given.is_on("force"), given.origin("out"));
    }
    return {directory.get(), earlier.has_value()};
  };
  std::optional<TrainingReporter> reporter(std::in_place, !quiet && !given.is_on("no-progress"),
                                           quiet);
  Index epochs = 0;
  const TrainingResult result =
      train_network(asked, given, open,
                    {.watch =
                         [&](const TrainingProgress& at) {
                           epochs = at.epochs;
                           return reporter->watch(at);
                         },
                     .epoch_done = [&](const TraceRow& row) { reporter->epoch_done(row, epochs); },
                     .warn = [&](const std::string& text) { reporter->warn(text); }});
  reporter.reset();
  do_both(
      [&] {
        if (directory) write_training(result, *directory);
      },
      [&] { print(json ? train_json(result) : train_text(result, Style::for_stdout())); });
  if (!result.loss_invariant && !result.run.teleports.empty()) {
    print_error(
        "warning: the symmetry 'paper' is not loss-invariant: its teleports change the loss\n");
  }
  if (directory && !quiet) {
    print_error(fmt::format("Written to {}\n", directory->path().string()));
  }
  if (page) {
    const bool written = page->write_run(
        directory.get(), [&](RunDirectory& place) { write_training(result, place); });
    if (!quiet || !written) {
      print_error(written ? fmt::format("Written to {}\n", page->path().string())
                          : "symport train: no page: the run has not come to its first row\n");
    }
  }
  return report_end(result, directory.get());
}

}  // namespace

std::string train_text(const TrainingResult& result, const Style& style) {
  constexpr std::size_t rows_shown = 12;
  const std::string unit(to_string(result.run.trace.unit));
  TextTable table(
      {{unit}, {"train loss"}, {"valid loss"}, {"accuracy"}, {"|gradient|^2"}, {"seconds"}});
  const auto number = [](double value) {
    return std::isnan(value) ? std::string("-") : fmt::format("{:.5g}", value);
  };
  const std::vector<TraceRow>& rows = result.run.trace.rows;
  const std::size_t count = rows.size();
  const std::size_t stride = std::max<std::size_t>(1, (count + rows_shown - 2) / rows_shown);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % stride != 0 && i + 1 != count) continue;
    const TraceRow& row = rows[i];
    const Index index = result.minibatch() ? row.epoch : row.step;
    table.add({fmt::format("{}", index), number(row.loss), number(row.valid_loss),
               number(row.valid_accuracy), number(row.grad_sq),
               fmt::format("{:.3f}", row.seconds)});
  }
  std::string text = table.text(style);
  if (result.test_samples > 0) {
    text +=
        fmt::format("\ntest set of {} samples: loss {:.5g}", result.test_samples, result.test_loss);
    if (!std::isnan(result.test_accuracy)) {
      text += fmt::format(", {:.2f} % right", 100.0 * result.test_accuracy);
    }
    text += "\n";
  }
  if (!result.run.teleports.empty()) {
    const TeleportTally tally(result.run.teleports);
    text += fmt::format("\n{} teleports ({}), {} accepted, largest drift of the loss {:.3g}{}\n",
                        tally.total(), result.options.how.symmetry, tally.accepted,
                        tally.largest_drift, result.loss_invariant ? "" : " (not loss-invariant)");
    if (tally.at_rounding_level > 0) {
      text += fmt::format("{} with the loss at rounding level; largest relative change {:.3g}\n",
                          tally.at_rounding_level, tally.largest_relative_change);
    }
    if (const auto& refusal = tally.first_refusal) {
      text += fmt::format("first refusal, at step {}: {}\n", refusal->step, refusal->reason);
    }
  }
  return text;
}

Command train_command() {
  return {.name = "train",
          .summary = "train a network, with or without teleportation",
          .details =
              "Trains a multi-layer perceptron with an optimizer that teleports now and then: it\n"
              "jumps along a symmetry of the loss to weights from which the next steps gain more.\n"
              "Full batches are Algorithm 1, mini-batches Algorithm 2.",
          .examples = examples,
          .positionals = {},
          .options = options(),
          .run = run_train};
}

}  // namespace symport::cli
