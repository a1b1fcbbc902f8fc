// SPDX-License-Identifier: MIT
#include "lab/options/training_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lab/options/threads.hpp"
#include "lab/text/parse_numbers.hpp"
#include "symport/core/version.hpp"

namespace symport::lab {

namespace {

std::vector<Index> parse_layers(const std::string& text) {
  std::vector<Index> widths;
  for (const double width : parse_list(text)) {
    if (!(width >= 1 && width <= 1e6 && width == std::floor(width))) {
      throw InvalidArgument("layers", fmt::format("'{}'", text),
                            "widths like 784,512,10: whole numbers from 1 to 1000000");
    }
    widths.push_back(static_cast<Index>(width));
  }
  if (widths.size() < 2) {
    throw InvalidArgument("layers", fmt::format("'{}'", text), "two widths or more, like 5,6,7,8");
  }
  return widths;
}

TrainLoss parse_train_loss(const std::string& text) {
  for (const TrainLoss kind : {TrainLoss::exact, TrainLoss::running}) {
    if (text == to_string(kind)) return kind;
  }
  throw InvalidArgument("train-loss", fmt::format("'{}'", text), "exact, running");
}

}  // namespace

std::string_view to_string(TrainLoss kind) {
  return kind == TrainLoss::exact ? "exact" : "running";
}

TrainingOptions read_training_options(const Given& given) {
  TrainingOptions options;
  const auto take = [&](const char* name, auto parse, auto& field) {
    if (auto value = given.read(name, parse)) field = std::move(*value);
  };
  const auto text = [](const std::string& value) { return value; };
  const auto whole = [](const std::string& value) { return parse_whole(value); };
  const auto positive = [](const std::string& value) { return parse_whole(value, 1); };
  take("data", text, options.data);
  if (options.data.empty()) {
    throw UsageError("--data",
                     "missing, allowed is the name of a data set (symport data list), idx:DIR, "
                     "csv:FILE, an .npz file with X and y or Y, or regression");
  }
  take("test", text, options.test);
  options.where = read_data_options(given);
  take("samples", positive, options.samples);
  take("weights", text, options.weights);
  take("layers", parse_layers, options.layers);
  take("activation", Activation::parse, options.activation);
  options.biases = given.is_on("bias");
  take("loss", Loss::parse, options.loss);
  take("init", parse_initialization, options.init);
  if (options.weights && options.init) {
    throw UsageError(given.origin("init"), "has no meaning with --weights");
  }
  take("optimizer", text, options.optimizer);
  take("lr", text, options.learning_rate);
  if (given.text("batch") != "full") take("batch", positive, options.batch);
  if (given.has("steps") && given.has("epochs")) {
    throw UsageError(given.origin("steps"), "goes without --epochs: one of the two");
  }
  if (given.has("steps") && options.batch) {
    throw UsageError(given.origin("steps"), "goes with full batches; mini-batches take --epochs");
  }
  take("steps", whole, options.length);
  take("epochs", whole, options.length);
  take("validation", whole, options.validation);
  take("patience", whole, options.patience);
  if (options.patience > 0 && (options.validation == 0 || !options.batch)) {
    throw UsageError(given.origin("patience"), "needs --validation and mini-batches (--batch N)");
  }
  take("train-loss", parse_train_loss, options.train_loss);
  take("checkpoint-every", positive, options.checkpoint_every);
  take("teleport", Schedule::parse, options.teleport);
  take("teleport-batches", positive, options.teleport_batches);
  take("teleport-batch-size", positive, options.teleport_batch_size);
  options.how = read_teleport_options(given);
  take("precision", parse_precision, options.precision);
  take("threads", parse_threads, options.threads);
  take("seed", parse_seed, options.seed);
  return options;
}

namespace {

std::vector<ConfigEntry> config_entries(const TrainingOptions& options, bool with_length) {
  std::vector<ConfigEntry> entries;
  const auto add = [&](std::string key, auto value) {
    entries.push_back({std::move(key), std::move(value), {}});
  };
  const auto whole = [](Index value) { return static_cast<std::int64_t>(value); };
  add("command", std::string("train"));
  add("data", options.data == generated_data ? options.data : absolute_data_spec(options.data));
  if (options.test) add("test", absolute_data_spec(*options.test));
  if (options.where.label) add("label", *options.where.label);
  if (options.samples) add("samples", whole(*options.samples));
  if (options.weights) {
    add("weights", std::filesystem::absolute(*options.weights).lexically_normal().string());
  } else {
    add("init", std::string(to_string(*options.init)));
  }
  add("layers", std::vector<double>(options.layers.begin(), options.layers.end()));
  add("activation", options.activation.name());
  add("bias", options.biases);
  add("loss", options.loss->name());
  add("optimizer", options.optimizer);
  add("lr", *options.learning_rate);
  if (options.batch) {
    add("batch", whole(*options.batch));
    if (with_length) add("epochs", whole(*options.length));
    add("patience", whole(options.patience));
    add("train-loss", std::string(to_string(options.train_loss)));
    add("teleport-batches", whole(options.teleport_batches));
    if (options.teleport_batch_size) {
      add("teleport-batch-size", whole(*options.teleport_batch_size));
    }
  } else {
    add("batch", std::string("full"));
    if (with_length) add("steps", whole(*options.length));
  }
  add("validation", whole(options.validation));
  add("teleport", options.teleport.to_string());
  add_teleport_entries(options.how, entries);
  add("precision", std::string(to_string(options.precision)));
  add("threads", whole(options.threads));
  add("seed", fmt::format("{}", options.seed));
  if (with_length && options.checkpoint_every > 0) {
    add("checkpoint-every", whole(options.checkpoint_every));
  }
  return entries;
}

}  // namespace

std::string training_config(const TrainingOptions& options) {
  return config_text(fmt::format("{} {}. To repeat it:\n  symport train --config config.toml",
                                 run_heading, version()),
                     config_entries(options, true));
}

std::string training_identity(const TrainingOptions& options) {
  return config_text("", config_entries(options, false));
}

}  // namespace symport::lab
