// SPDX-License-Identifier: MIT
#include "lab/runs/network_run_spec.hpp"

#include <cmath>

#include "lab/options/usual_rate.hpp"
#include "lab/text/parse_numbers.hpp"

namespace symport::lab {

namespace {

bool minibatch(const NetworkRunSpec& spec) { return spec.minibatch(); }

Codec<std::string> as_data() {
  return {[](const std::string& text) { return text; },
          [](const std::string& name) { return ConfigValue(absolute_data_name(name)); }};
}

Codec<Initialization> as_initialization() {
  return {[](const std::string& text) { return parse_initialization(text); },
          [](const Initialization& init) { return ConfigValue(std::string(to_string(init))); }};
}

using Rows = std::vector<OptionRow<NetworkRunSpec>>;

/// What is trained on what.
OptionTable<NetworkRunSpec> problem_options() {
  using S = NetworkRunSpec;
  const UsualNetworkRun usual, regression = generated_sets().front().usual;
  OptionTable<S> rows(
      "Data",
      {row({"data", "SET",
            "mnist, iris and others (symport data list shows them); idx:DIR; csv:FILE; an "
            ".npz file with X (samples x features) and y (classes) or Y (samples x outputs); or "
            "regression: the paper's, generated from the seed"},
           &S::data, as_data()),
       row({"test", "SET",
            "another such set to test on at the end (default: its own test set, if any)"},
           &S::test, as_data()),
       row({"samples", "N",
            fmt::format(
                "only N samples: the first images; of a table N that are drawn, the same for "
                "every seed; regression: how many to generate (default {})",
                generated_sets().front().samples)},
           &S::samples, as_whole(1)),
       row({"validation", "N|P%",
            "samples kept for validation, drawn by the seed: how many, or a part such as 20%"},
           &S::validation, as_share()),
       row({"scaling", "none|standard",
            "standard: every feature, and every number to predict, has mean 0 and standard "
            "deviation 1 on the training samples (default for fetched tables; otherwise none)"},
           &S::scaling, as_choice<Scaling>({Scaling::none, Scaling::standard}))});
  rows.include(data_options(), &S::where);
  return rows.add(
      "Network",
      {row({"layers", "D0,D1,...",
            fmt::format("widths from the features to the outputs (default: two hidden layers "
                        "of 128; regression: {})",
                        fmt::join(regression.layers, ","))},
           &S::layers, as_layers()),
       row({"weights", "FILE.npz", "start from these weights W1 (out x in), b1, W2, ..."},
           &S::weights, as_path()),
       row({"activation", "NAME",
            fmt::format(
                "of the hidden layers: {} (default: what the file of --weights says, else {})",
                activation_names(), default_activation().name())},
           &S::activation, as_activation()),
       row({"bias", "", "layers have biases"}, &S::biases, as_switch()),
       row({"loss", "NAME", loss_names()}, &S::loss, as_loss()),
       row({"init", "NAME",
            fmt::format("fan_in, unit, he, glorot (default {}; regression: {})",
                        to_string(usual.init), to_string(regression.init))},
           &S::init, as_initialization()),
       row({"precision", "float|double", ""}, &S::precision, as_precision())});
}

/// How it is trained.
Rows run_rows() {
  using S = NetworkRunSpec;
  const UsualNetworkRun usual, regression = generated_sets().front().usual;
  return {
      row({"optimizer", "NAME", join(names_of(optimizers()))}, &S::optimizer,
          as_name_of(optimizers())),
      row({"lr", "RATE|auto",
           fmt::format("learning rate: a number, step:RATE,FACTOR,PERIOD, cosine:RATE,PERIOD, "
                       "linear:RATE,PERIOD, or "
                       "auto, which measures the step (gd on full batches) (default {}, "
                       "regression: {}; adagrad 0.01; rmsprop, adam, adamw 0.001; auto for those "
                       "that find their own steps)",
                       usual.learning_rate, regression.learning_rate)},
          &S::learning_rate, as_rate()),
      row({"batch", "N|full", "samples of a mini-batch"}, &S::batch, or_word("full", as_whole(1))),
      row({"epochs", "N",
           fmt::format("passes over the data (default {}; regression: {})", usual.epochs,
                       regression.steps)},
          &S::epochs, as_whole())
          .in_role(Role::length),
      row({"steps", "N", "the same for full batches"}, &S::steps, as_whole()).in_role(Role::length),
      row({"patience", "N", "stop when the validation loss has not fallen for N epochs; 0: never"},
          &S::patience, as_whole())
          .when(minibatch),
      row({"stop-at", "LOSS",
           "stop when the training loss is below this; mini-batches look after every row of the "
           "trace"},
          &S::stop_at, as_positive())
          .in_role(Role::length),
      row({"train-loss", "exact|running",
           "of a row: that of the whole training set, which costs a pass over it, or the mean of "
           "the epoch's mini-batches"},
          &S::train_loss, as_choice<TrainLoss>({TrainLoss::exact, TrainLoss::running}))
          .when(minibatch),
      row({"evaluate-every", "N",
           "a row after every N steps of mini-batches too; the trace then counts steps (default: "
           "a row after every epoch)"},
          &S::evaluate_every, as_whole(1))
          .when(minibatch),
      row({"threads", "N", "of the matrix products, up to one for every processor"}, &S::threads,
          as_whole(1, 1024)),
      row({"seed", "N", "of generated data, weights, order and searches"}, &S::seed, as_seed()),
      row({"checkpoint-every", "N",
           "a checkpoint every N steps too (default: mini-batches after each epoch only, full "
           "batches every 1000 steps); needs --out"},
          &S::checkpoint_every, as_whole(1))
          .in_role(Role::execution),
  };
}

/// When it teleports.
Rows teleport_rows() {
  using S = NetworkRunSpec;
  return {
      row({"teleport", "SCHEDULE",
           "steps (full batches) or epochs (mini-batches) at which to teleport: 5 | 0,10,20 | "
           "0..40:10 | every:100 (0, 100, 200, ...) | every:100+99 (99, 199, ...) | never; auto: "
           "where it pays for itself"},
          &S::teleport, as_schedule()),
      row({"teleport-batches", "B|all",
           "teleport on each of the first B mini-batches of such an epoch"},
          &S::teleport_batches, or_word("all", as_whole(1)))
          .when(minibatch),
      row({"teleport-batch-size", "N", "samples of a teleport batch (default: the mini-batch)"},
          &S::teleport_batch_size, as_whole(1))
          .when(minibatch),
      row({"scope-samples", "N",
           "samples on which the loss is watched at teleports that keep it on their batch only "
           "(gl, paper): of the validation set where there is one; 0: none"},
          &S::scope_samples, as_whole())
          .when(minibatch),
  };
}

/// Of a run of that data, widths, rate and length that were not given.
void fill_usual(NetworkRunSpec& spec, const UsualNetworkRun& usual) {
  if (!spec.weights) {
    if (spec.layers.empty()) spec.layers = usual.layers;
    if (!spec.init) spec.init = usual.init;
  }
  if (!spec.scaling && usual.scaling != Scaling::none) spec.scaling = usual.scaling;
  // Of metric round trips, network and loss decide.
  if (!spec.learning_rate && (!spec.trip.metric() || finds_its_own_steps(spec.optimizer))) {
    spec.learning_rate = usual_network_rate(spec.optimizer, usual.learning_rate);
  }
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
  return "linear, leaky_relu[:a], relu, gelu, tanh, sigmoid, asinh, tanh_extended[:N], "
         "sigmoid_extended[:N]";
}

Codec<Loss> as_loss() {
  return {[](const std::string& text) { return Loss::parse(text); },
          [](const Loss& loss) { return ConfigValue(loss.name()); }};
}

std::string loss_names() {
  return "half_sum_squares, mean_squares, cross_entropy, each with :sum or :mean over the samples; "
         "mse is mean_squares:mean (default: cross_entropy:mean for classes, mse for the numbers "
         "of a "
         "CSV file, half_sum_squares:sum for others)";
}

Codec<std::vector<Index>> as_layers() {
  return {[](const std::string& text) {
            const auto reject = [&] {
              throw InvalidArgument("layers", fmt::format("'{}'", text),
                                    "two or more widths separated by commas, whole numbers from 1 "
                                    "to 1000000, such as 784,512,10");
            };
            std::vector<Index> widths;
            try {
              for (const double width : parse_list(text)) {
                if (!(width >= 1 && width <= 1e6 && width == std::floor(width))) reject();
                widths.push_back(static_cast<Index>(width));
              }
            } catch (const InvalidArgument&) {
              reject();
            }
            if (widths.size() < 2) reject();
            return widths;
          },
          [](const std::vector<Index>& widths) {
            return ConfigValue(std::vector<std::int64_t>(widths.begin(), widths.end()));
          }};
}

Share Share::of_part(double part) {
  Share share;
  share.part = part;
  return share;
}

Index Share::of(Index samples) const {
  return part > 0.0 ? static_cast<Index>(std::llround(part * static_cast<double>(samples))) : count;
}

Codec<Share> as_share() {
  return {[](const std::string& text) -> Share {
            if (!text.ends_with('%')) return parse_whole(text);
            const auto reject = [&] {
              throw InvalidArgument("share", fmt::format("'{}'", text),
                                    "a whole number >= 0, or a part such as 20%, below 100%");
            };
            double percent = 0.0;
            try {
              percent = parse_number(text.substr(0, text.size() - 1));
            } catch (const InvalidArgument&) {
              reject();
            }
            if (!(percent >= 0.0 && percent < 100.0)) reject();
            return Share::of_part(percent / 100.0);
          },
          [](const Share& share) -> ConfigValue {
            if (share.part > 0.0) return fmt::format("{}%", exact_text(100.0 * share.part));
            return std::int64_t{share.count};
          }};
}

const OptionTable<NetworkRunSpec>& network_run_options() {
  static const OptionTable<NetworkRunSpec> table = [] {
    OptionTable<NetworkRunSpec> rows = problem_options();
    return rows.add("Run", run_rows())
        .add(teleport_group, teleport_rows())
        .include(network_teleport_options(), &NetworkRunSpec::how)
        .include(round_trip_options(), &NetworkRunSpec::trip);
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
  if (spec.patience > 0 && (spec.validation.empty() || !spec.minibatch())) {
    throw OptionError("patience", "needs --validation and mini-batches (--batch N)");
  }
  const DataSource source = parse_data_source(spec.data);
  spec.data = known_data_name(spec.data);
  require_label_fits(source, spec.where);
  settle(spec.trip, spec.optimizer, true, !spec.teleport.empty());
  fill_usual(spec, source.usual_run());
  if (!spec.activation) spec.activation = default_activation();
  if (spec.evaluate_every && !spec.minibatch()) {
    throw OptionError("evaluate-every",
                      "needs mini-batches (--batch N); full batches have a row "
                      "for every step");
  }
  if (spec.minibatch() && finds_its_own_steps(spec.optimizer)) {
    throw OptionError(
        "optimizer", fmt::format("found '{}', which needs full batches (--batch full): it measures "
                                 "its steps on the loss that it minimises",
                                 spec.optimizer));
  }
  if (spec.learning_rate && spec.learning_rate->automatic() && spec.minibatch()) {
    throw OptionError("lr", "found 'auto', which needs full batches (--batch full)");
  }
  // A white gauge suits its own samples: on a mini-batch the next ones would pay for that.
  if (!spec.how.symmetry) spec.how.symmetry = usual_symmetry(*spec.activation);
  if (spec.minibatch() && *spec.how.symmetry == "gl" && spec.how.how.search == "auto") {
    spec.how.how.search = "ascent";
  }
  spec.how = plan_teleport<double>(spec.how, *spec.activation).spec;
  if (!spec.how.how.rehearsal) {
    const bool automatic = spec.learning_rate && spec.learning_rate->automatic();
    // Of one weight: all that is asked is what kind of steps it takes.
    const Mlp least({1, 1}, *spec.activation, spec.biases);
    spec.how.how.rehearsal =
        rehearsal_of(spec.how.how, spec.teleport,
                     *make_optimizer<double>(spec.optimizer, automatic, least), spec.minibatch());
  }
  return spec;
}

}  // namespace symport::lab
