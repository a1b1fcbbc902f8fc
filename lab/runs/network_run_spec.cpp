// SPDX-License-Identifier: MIT
#include "lab/runs/network_run_spec.hpp"

#include <cmath>

#include "lab/text/parse_numbers.hpp"

namespace symport::lab {

namespace {

constexpr const char *data_group = "Data", *network_group = "Network", *run_group = "Run";

bool minibatch(const NetworkRunSpec& spec) { return spec.minibatch(); }

Codec<std::string> as_data() {
  return {[](const std::string& text) { return text; },
          [](const std::string& name) { return ConfigValue(absolute_data_name(name)); }};
}

Codec<Initialization> as_initialization() {
  return {[](const std::string& text) { return parse_initialization(text); },
          [](const Initialization& init) { return ConfigValue(std::string(to_string(init))); }};
}

/// The rows that say what is trained on what.
OptionTable<NetworkRunSpec> problem_options() {
  using S = NetworkRunSpec;
  OptionTable<S> rows{
      row({"data", "SET",
           "mnist, fashion-mnist, cifar10 (symport data fetch gets them); idx:DIR; csv:FILE; an "
           ".npz file with X (samples x features) and y (classes) or Y (samples x outputs); or "
           "regression: the paper's, generated from the seed",
           data_group},
          &S::data, as_data()),
      row({"test", "SET",
           "another such set to test on at the end (default: its own test set, if any)",
           data_group},
          &S::test, as_data()),
      row({"samples", "N",
           fmt::format("only the first N samples; regression: how many to generate (default {})",
                       generated_sets().front().samples),
           data_group},
          &S::samples, as_whole(1)),
      row({"validation", "N", "samples kept for validation, drawn by the seed", data_group},
          &S::validation, as_whole()),
  };
  rows.include(data_options(), &S::where);
  const UsualNetworkRun usual, regression = generated_sets().front().usual;
  rows.add(row({"layers", "D0,D1,...",
                fmt::format("widths from the features to the outputs (regression: {})",
                            fmt::join(regression.layers, ",")),
                network_group},
               &S::layers, as_layers()))
      .add(row({"weights", "FILE.npz", "start from these weights W1 (out x in), b1, W2, ...",
                network_group},
               &S::weights, as_path()))
      .add(row({"activation", "NAME", "of the hidden layers: " + activation_names(), network_group},
               &S::activation, as_activation()))
      .add(row({"bias", "", "layers have biases", network_group}, &S::biases, as_switch()))
      .add(row({"loss", "NAME", loss_names(), network_group}, &S::loss, as_loss()))
      .add(row({"init", "NAME",
                fmt::format("fan_in, unit, he, glorot (default {}; regression: {})",
                            to_string(usual.init), to_string(regression.init)),
                network_group},
               &S::init, as_initialization()))
      .add(row({"precision", "float|double", "", network_group}, &S::precision, as_precision()));
  return rows;
}

/// Of a run of that data, widths, rate and length that were not given.
void fill_usual(NetworkRunSpec& spec, const UsualNetworkRun& usual) {
  if (!spec.weights) {
    if (spec.layers.empty()) spec.layers = usual.layers;
    if (spec.layers.empty()) {
      throw OptionError("layers", "missing, allowed are widths like 784,512,10, or --weights");
    }
    if (!spec.init) spec.init = usual.init;
  }
  if (!spec.learning_rate) spec.learning_rate = RateSpec{usual.learning_rate};
  if (spec.minibatch()) {
    if (!spec.epochs) spec.epochs = usual.epochs;
  } else {
    if (!spec.steps) spec.steps = spec.epochs.value_or(usual.steps);
    spec.epochs.reset();
  }
}

}  // namespace

std::string_view to_string(Precision precision) {
  return precision == Precision::float32 ? "float" : "double";
}

std::string_view to_string(TrainLoss kind) {
  return kind == TrainLoss::exact ? "exact" : "running";
}

Codec<Precision> as_precision() {
  return as_choice<Precision>({Precision::float32, Precision::float64});
}

Codec<Activation> as_activation() {
  return {[](const std::string& text) { return Activation::parse(text); },
          [](const Activation& activation) { return ConfigValue(activation.name()); }};
}

std::string activation_names() {
  return "linear, leaky_relu[:a], relu, tanh, sigmoid, asinh, tanh_extended[:N], "
         "sigmoid_extended[:N]";
}

Codec<Loss> as_loss() {
  return {[](const std::string& text) { return Loss::parse(text); },
          [](const Loss& loss) { return ConfigValue(loss.name()); }};
}

std::string loss_names() {
  return "half_sum_squares, mean_squares, cross_entropy, each with :sum or :mean (default: "
         "cross_entropy for y, half_sum_squares for Y)";
}

Codec<std::vector<Index>> as_layers() {
  return {[](const std::string& text) {
            const auto reject = [&] {
              throw InvalidArgument("layers", fmt::format("'{}'", text),
                                    "two or more widths separated by commas, whole numbers from 1 "
                                    "to 1000000, such as 784,512,10");
            };
            std::vector<Index> widths;
            for (const double width : parse_list(text)) {
              if (!(width >= 1 && width <= 1e6 && width == std::floor(width))) reject();
              widths.push_back(static_cast<Index>(width));
            }
            if (widths.size() < 2) reject();
            return widths;
          },
          [](const std::vector<Index>& widths) {
            return ConfigValue(std::vector<std::int64_t>(widths.begin(), widths.end()));
          }};
}

const OptionTable<NetworkRunSpec>& network_run_options() {
  using S = NetworkRunSpec;
  static const OptionTable<S> table = [] {
    OptionTable<S> rows = problem_options();
    const UsualNetworkRun usual, regression = generated_sets().front().usual;
    rows.add(row({"optimizer", "NAME", join(names_of(optimizers())), run_group}, &S::optimizer,
                 as_name_of(optimizers())))
        .add(row({"lr", "RATE|auto",
                  fmt::format("learning rate: a number, step:RATE,FACTOR,PERIOD, "
                              "cosine:RATE,PERIOD, or auto, which measures the step (gd on full "
                              "batches) (default {}; regression: {})",
                              usual.learning_rate, regression.learning_rate),
                  run_group},
                 &S::learning_rate, as_rate()))
        .add(row({"batch", "N|full", "samples of a mini-batch", run_group}, &S::batch,
                 or_word("full", as_whole(1))))
        .add(row({"epochs", "N",
                  fmt::format("passes over the data (default {}; regression: {})", usual.epochs,
                              regression.steps),
                  run_group, Role::length},
                 &S::epochs, as_whole()))
        .add(row({"steps", "N", "the same for full batches", run_group, Role::length}, &S::steps,
                 as_whole()))
        .add(row({"patience", "N",
                  "stop when the validation loss has not fallen for N epochs; 0: never", run_group},
                 &S::patience, as_whole())
                 .when(minibatch))
        .add(row({"train-loss", "exact|running",
                  "of a row: that of the whole training set, which costs a pass over it, or the "
                  "mean of the epoch's mini-batches",
                  run_group},
                 &S::train_loss, as_choice<TrainLoss>({TrainLoss::exact, TrainLoss::running}))
                 .when(minibatch))
        .add(row(
            {"threads", "N", "of the matrix products, up to one for every processor", run_group},
            &S::threads, as_whole(1, 1024)))
        .add(row({"seed", "N", "of generated data, weights, order and searches", run_group},
                 &S::seed, as_seed()))
        .add(row({"checkpoint-every", "N",
                  "a checkpoint every N steps too (default: mini-batches after each epoch only, "
                  "full batches every 1000 steps); needs --out",
                  run_group, Role::execution},
                 &S::checkpoint_every, as_whole(1)))
        .add(row({"teleport", "SCHEDULE",
                  "steps (full batches) or epochs (mini-batches) at which to teleport: 5 | 0,10,20 "
                  "| 0..40:10 | every:100 | every:100+99 | never",
                  teleport_group},
                 &S::teleport, as_schedule()))
        .add(row({"teleport-batches", "B",
                  "teleport on each of the first B mini-batches of such an epoch", teleport_group},
                 &S::teleport_batches, as_whole(1))
                 .when(minibatch))
        .add(row({"teleport-batch-size", "N",
                  "samples of a teleport batch (default: the mini-batch)", teleport_group},
                 &S::teleport_batch_size, as_whole(1))
                 .when(minibatch));
    rows.include(network_teleport_options(), &S::how);
    return rows;
  }();
  return table;
}

NetworkRunSpec resolve(NetworkRunSpec spec) {
  if (spec.data.empty()) {
    throw OptionError("data",
                      "missing, allowed is the name of a data set (symport data list), idx:DIR, "
                      "csv:FILE, an .npz file with X and y or Y, or regression");
  }
  if (spec.weights && spec.init) throw OptionError("init", "cannot be combined with --weights");
  if (spec.steps && spec.epochs) throw OptionError("steps", "cannot be combined with --epochs");
  if (spec.steps && spec.minibatch()) {
    throw OptionError("steps", "only full batches count steps; mini-batches take --epochs");
  }
  if (spec.patience > 0 && (spec.validation == 0 || !spec.minibatch())) {
    throw OptionError("patience", "needs --validation and mini-batches (--batch N)");
  }
  const DataSource source = parse_data_source(spec.data);
  require_label_fits(source, spec.where);
  fill_usual(spec, source.usual_run());
  if (spec.learning_rate->automatic() && spec.minibatch()) {
    throw OptionError("lr", "found 'auto', which needs full batches (--batch full)");
  }
  spec.how = plan_teleport<double>(spec.how).spec;
  return spec;
}

}  // namespace symport::lab
