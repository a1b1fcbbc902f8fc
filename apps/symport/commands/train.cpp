// SPDX-License-Identifier: MIT
#include "commands/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "interruption.hpp"
#include "progress.hpp"
#include "text_table.hpp"

namespace symport::cli {

namespace {

constexpr const char* examples =
    "symport train --data regression --teleport 5\n"
    "symport train --data regression --lr auto --teleport every:2 --search-steps 1\n"
    "symport train --data regression --optimizer adagrad --lr 0.1 --teleport 5 --state reset\n"
    "symport train --data digits.npz --layers 64,32,10 --batch 20 --epochs 10 --validation 200 \\\n"
    "              --lr 0.02 --teleport 1 --symmetry rescale --out runs/digits";

std::vector<Option> options() {
  const TrainingOptions defaults;
  const std::string network = "Network", run = "Run", teleport = "Teleportation";
  std::vector<Option> list{
      {"data", "FILE.npz|regression",
       "X (samples x features) with y (classes) or Y (samples x outputs); or the paper's\n"
       "regression, generated from the seed",
       network},
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
      {"validation", "N",
       fmt::format("samples kept for validation, drawn by the seed (default {})",
                   defaults.validation),
       run},
      {"patience", "N", "stop when the validation loss has not fallen for N epochs", run},
      {"threads", "N", fmt::format("of the matrix products (default {})", defaults.threads), run},
      {"seed", "N",
       fmt::format("of generated data, weights, order and searches (default {})", defaults.seed),
       run},
      {"config", "FILE", "options from a TOML file, such as a run's config.toml; flags win", run},
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
  for (Option& option : teleport_flags(teleport)) list.push_back(std::move(option));
  list.push_back({"state", "POLICY",
                  fmt::format("of the optimizer at a teleport: {} (default {})",
                              join(names_of(states()), " | "), to_string(defaults.how.state)),
                  teleport});
  for (Option option :
       {common::out(), common::force(), common::json(), common::quiet(), common::no_progress()}) {
    list.push_back(std::move(option));
  }
  return list;
}

int run_train(const Given& given) {
  const bool quiet = given.is_on("quiet"), json = given.is_on("json");
  const TrainingOptions asked = read_training_options(given);
  std::unique_ptr<RunDirectory> directory;
  const auto open_directory = [&]() -> RunDirectory* {
    if (const auto path = given.text("out")) {
      directory = std::make_unique<RunDirectory>(*path, given.is_on("force"), given.origin("out"));
    }
    return directory.get();
  };
  const auto began = std::chrono::steady_clock::now();
  constexpr Index parts = 1000;
  std::unique_ptr<Progress> progress =
      std::make_unique<Progress>("training, per mille", parts,
                                 Progress::Options{.shown = !quiet && !given.is_on("no-progress")});
  const TrainingResult result =
      train_network(asked, given, open_directory, [&](double part_done, double loss) {
        TraceRow row;
        row.step = static_cast<Index>(part_done * static_cast<double>(parts));
        row.loss = loss;
        row.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        progress->update(row);
        return !interrupted();
      });
  progress.reset();
  if (directory) write_training(result, *directory);
  print(json ? train_json(result) : train_text(result, Style::for_stdout()));
  if (!result.loss_invariant && !result.teleports.empty()) {
    print_error(
        "warning: the symmetry 'paper' is not loss-invariant: its teleports change the loss\n");
  }
  if (directory && !quiet) print_error(fmt::format("Written to {}\n", directory->path().string()));
  if (result.status == RunStatus::diverged) {
    print_error(fmt::format("symport train: diverged at step {}\n", result.steps));
    return exit_failed;
  }
  if (result.status == RunStatus::interrupted) {
    print_error(fmt::format("symport train: interrupted after {} steps\n", result.steps));
    return exit_interrupted;
  }
  return exit_done;
}

}  // namespace

std::string train_text(const TrainingResult& result, const Style& style) {
  constexpr std::size_t rows_shown = 12;
  TextTable table({{result.minibatch ? "epoch" : "step"},
                   {"train loss"},
                   {"valid loss"},
                   {"accuracy"},
                   {"|gradient|^2"},
                   {"seconds"}});
  const auto number = [](double value) {
    return std::isnan(value) ? std::string("-") : fmt::format("{:.5g}", value);
  };
  const std::size_t count = result.rows.size();
  const std::size_t stride = std::max<std::size_t>(1, (count + rows_shown - 2) / rows_shown);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % stride != 0 && i + 1 != count) continue;
    const TrainingRow& row = result.rows[i];
    table.add({fmt::format("{}", row.index), number(row.train_loss), number(row.valid_loss),
               number(row.valid_accuracy), number(row.grad_sq),
               fmt::format("{:.3f}", row.seconds)});
  }
  std::string text = table.text(style);
  if (!result.teleports.empty()) {
    const auto accepted = std::count_if(result.teleports.begin(), result.teleports.end(),
                                        [](const Certificate& c) { return c.accepted; });
    double drift = 0.0;
    for (const Certificate& c : result.teleports) {
      if (c.accepted) drift = std::max(drift, c.drift);
    }
    text += fmt::format("\n{} teleports ({}), {} accepted, largest drift of the loss {:.3g}{}\n",
                        result.teleports.size(), result.options.how.symmetry, accepted, drift,
                        result.loss_invariant ? "" : " (not loss-invariant)");
    const auto refused = std::find_if(result.teleports.begin(), result.teleports.end(),
                                      [](const Certificate& c) { return !c.accepted; });
    if (refused != result.teleports.end()) {
      text += fmt::format("first refusal, at {} {}: {}\n", result.minibatch ? "epoch" : "step",
                          refused->step, refused->reason);
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
