// SPDX-License-Identifier: MIT
#include "network_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "parse_numbers.hpp"
#include "symport/core/gemm.hpp"
#include "symport/core/version.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/symmetries/refusal.hpp"
#include "symport/training/train.hpp"
#include "symport/training/train_minibatch.hpp"

namespace symport::cli {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr const char* generated = "regression";
/// The paper's regression (section 6.1 and appendix D).
const std::vector<Index> regression_layers{5, 6, 7, 8};
constexpr double regression_rate = 1e-4, usual_rate = 1e-2;
constexpr Index regression_steps = 300, usual_length = 10;
/// Random numbers for the weights do not depend on those for the data.
constexpr std::uint64_t weights_stream = 1;

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

template <Real Scalar>
SampleSet<Scalar> load_samples(const TrainingOptions& options) {
  if (options.data == generated) {
    const std::vector<Index>& layers = options.layers.empty() ? regression_layers : options.layers;
    const SampleSet<double> set = regression_data(
        {.features = layers.front(), .outputs = layers.back(), .seed = options.seed});
    return {set.X.template cast<Scalar>(), {}, set.Y.template cast<Scalar>()};
  }
  return read_samples<Scalar>(options.data);
}

/// A training run in one precision, from options to result.
template <Real Scalar>
class NetworkTraining {
 public:
  NetworkTraining(const TrainingOptions& options, const Given& given)
      : options_(options),
        given_(given),
        samples_(load_samples<Scalar>(options)),
        plan_(options.how, given),
        network_(make_network()),
        loss_(loss_for(options.loss, samples_)) {
    options_.how = plan_.options();
    options_.loss = loss_;
    const Index count = samples_.samples();
    if (options_.validation >= count) {
      throw UsageError(given.origin("validation"),
                       fmt::format("found {}, allowed is less than the {} samples there are",
                                   options_.validation, count));
    }
    split_ = split(count, options_.validation, options_.seed);
    choose_optimizer();
    if (!options_.length) {
      options_.length =
          options_.data == generated && !options_.batch ? regression_steps : usual_length;
    }
    // Whatever does not fit (targets, loss, symmetry) shows here, before anything is written.
    bind(training_, split_.training);
    if (!options_.teleport.empty()) {
      blaming_symmetry(given, [&] {
        try {
          plan_.symmetry().orbit(training_, w_);
        } catch (const Refusal&) {  // a matter of the batch: each teleport says so
        }
      });
    }
  }

  const TrainingOptions& options() const { return options_; }

  TrainingResult run(const TrainingWatcher& watcher) {
    TrainingResult result = options_.batch ? run_minibatch(watcher) : run_full(watcher);
    result.options = options_;
    result.loss_invariant = plan_.symmetry().loss_invariant();
    return result;
  }

  void write_model_to(const std::filesystem::path& path) const {
    write_model(path, layers_of<Scalar>(network_, w_));
  }

 private:
  Mlp make_network() {
    const auto build = [&](const std::vector<Index>& widths, bool biases) {
      return blaming(given_.origin("layers"),
                     [&] { return Mlp(widths, options_.activation, biases); });
    };
    if (options_.weights) {
      const auto layers = read_model<Scalar>(*options_.weights);
      const std::vector<Index> widths = widths_of(layers);
      if (!options_.layers.empty() && options_.layers != widths) {
        throw UsageError(given_.origin("layers"),
                         fmt::format("found {}, but the weights in '{}' are of {}",
                                     fmt::join(options_.layers, ","), *options_.weights,
                                     fmt::join(widths, ",")));
      }
      options_.layers = widths;
      options_.biases = layers.front().b.size() > 0;
      const Mlp network = build(widths, options_.biases);
      w_ = flat_parameters(network, layers);
      return network;
    }
    if (options_.layers.empty()) {
      if (options_.data != generated) {
        throw UsageError("--layers", "missing, allowed are widths like 784,512,10, or --weights");
      }
      options_.layers = regression_layers;
    }
    const Mlp network = build(options_.layers, options_.biases);
    if (!options_.init) {
      options_.init = options_.data == generated ? Initialization::unit : Initialization::fan_in;
    }
    Random random(options_.seed, weights_stream);
    w_ = initialize<Scalar>(network, *options_.init, random);
    return network;
  }

  void choose_optimizer() {
    const OptimizerEntry& entry = blaming(
        given_.origin("optimizer"), [&]() -> auto& {
          return find_entry(optimizers(), options_.optimizer);
        });
    const bool automatic = options_.learning_rate == "auto";
    const auto pick = [&](const auto& make, const auto& make_float) {
      if constexpr (std::same_as<Scalar, float>) {
        return make_float ? make_float() : nullptr;
      } else {
        return make ? make() : nullptr;
      }
    };
    optimizer_ = automatic ? pick(entry.make_automatic, entry.make_automatic_float)
                           : pick(entry.make, entry.make_float);
    if (!optimizer_) {
      throw UsageError(given_.origin("lr"),
                       fmt::format("found 'auto', allowed with the optimizer {} is a rate; auto "
                                   "needs --optimizer gd",
                                   entry.name));
    }
    if (automatic && options_.batch) {
      throw UsageError(given_.origin("lr"),
                       "found 'auto', which needs full batches (--batch full)");
    }
    blaming(given_.origin("optimizer"), [&] { optimizer_->init(w_.size()); });
    const double usual = options_.data == generated ? regression_rate : usual_rate;
    if (!options_.learning_rate) options_.learning_rate = exact_text(usual);
    rate_ = automatic ? LearningRate(usual) : blaming(given_.origin("lr"), [&] {
      return LearningRate::parse(*options_.learning_rate);
    });
    const bool transports = plan_.symmetry().transports_state();
    if (options_.how.state == StatePolicy::transport && !transports) {
      throw UsageError(given_.origin("state"),
                       fmt::format("found 'transport', which the symmetry {} cannot; allowed is "
                                   "keep, reset",
                                   plan_.options().symmetry));
    }
  }

  void bind(MlpObjective<Scalar>& objective, const std::vector<Index>& samples) {
    if (samples.empty()) return;
    const MatrixOf<Scalar> X = samples_.X(Eigen::all, samples);
    const Targets<Scalar> targets = targets_of(samples_).subset(samples);
    blaming(given_.origin("data"), [&] { objective.bind(X, targets); });
  }

  /// Algorithm 1.
  TrainingResult run_full(const TrainingWatcher& watcher) {
    bind(validation_, split_.validation);
    TrainingResult result;
    const auto add_row = [&](const TraceRow& row) {
      TrainingRow out{row.step,          row.loss,        nan,        nan, row.grad_sq,
                      row.learning_rate, row.evaluations, row.seconds};
      if (!split_.validation.empty()) {
        out.valid_loss = validation_.value(w_);
        if (loss_.categorical()) out.valid_accuracy = validation_.accuracy(w_);
      }
      result.rows.push_back(out);
    };
    const Index steps = *options_.length;
    TrainOptions<Scalar> train_options{.max_steps = steps,
                                       .learning_rate = *rate_,
                                       .teleport = plan_.teleportation(options_.teleport),
                                       .seed = options_.seed};
    train_options.watcher = [&](const TraceRow& row) {
      add_row(row);
      return watcher(static_cast<double>(row.step) / static_cast<double>(std::max<Index>(steps, 1)),
                     row.loss);
    };
    const RunSummary summary = train<Scalar>(training_, *optimizer_, w_, train_options);
    // The watcher sees what comes before an update; the last row comes behind the last one. An
    // automatic rate is known only after its step.
    const TraceRow& last = summary.trace.rows.back();
    if (result.rows.empty() || result.rows.back().index < last.step) add_row(last);
    for (const TraceRow& row : summary.trace.rows) {
      result.rows[static_cast<std::size_t>(row.step)].learning_rate = row.learning_rate;
    }
    result.status = summary.status;
    result.steps = summary.steps;
    result.evaluations = summary.evaluations;
    result.seconds = summary.seconds;
    result.teleports = summary.teleports;
    return result;
  }

  /// Algorithm 2.
  TrainingResult run_minibatch(const TrainingWatcher& watcher) {
    const DenseSource<Scalar> source(samples_.X, targets_of(samples_));
    MinibatchOptions<Scalar> minibatch{
        .epochs = *options_.length,
        .batch_size = *options_.batch,
        .learning_rate = *rate_,
        .teleport = plan_.teleportation(options_.teleport),
        .teleport_batches = options_.teleport_batches,
        .teleport_batch_size = options_.teleport_batch_size.value_or(0),
        .patience = options_.patience,
        .seed = options_.seed};
    minibatch.watcher = [&](const MinibatchProgress& p) {
      const double done = static_cast<double>(p.epoch * p.batches + p.batch);
      return watcher(done / static_cast<double>(p.epochs * p.batches), p.batch_loss);
    };
    const MinibatchSummary summary =
        train_minibatch<Scalar>(training_, source, split_, *optimizer_, w_, minibatch);
    TrainingResult result;
    result.minibatch = true;
    for (const EpochRow& row : summary.rows) {
      result.rows.push_back({row.epoch, row.train_loss, row.valid_loss, row.valid_accuracy,
                             row.grad_sq, row.learning_rate, row.evaluations, row.seconds});
    }
    result.status = summary.status;
    result.steps = summary.steps;
    result.evaluations = summary.evaluations;
    result.seconds = summary.seconds;
    result.teleports = summary.teleports;
    return result;
  }

  TrainingOptions options_;
  const Given& given_;
  SampleSet<Scalar> samples_;
  TeleportPlan<Scalar> plan_;
  VectorOf<Scalar> w_;
  Mlp network_;
  Loss loss_;
  MlpObjective<Scalar> training_{network_, loss_};
  MlpObjective<Scalar> validation_{network_, loss_};
  Split split_;
  std::unique_ptr<BasicOptimizer<Scalar>> optimizer_;
  std::optional<LearningRate> rate_;
};

template <Real Scalar>
TrainingResult train_in(const TrainingOptions& options, const Given& given,
                        const std::function<RunDirectory*()>& open_directory,
                        const TrainingWatcher& watcher) {
  NetworkTraining<Scalar> training(options, given);
  RunDirectory* directory = open_directory();
  TrainingResult result = training.run(watcher);
  if (directory) training.write_model_to(directory->path() / "model.npz");
  return result;
}

}  // namespace

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
    throw UsageError("--data", "missing, allowed is an .npz file with X and y or Y, or regression");
  }
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
  take("teleport", Schedule::parse, options.teleport);
  take("teleport-batches", positive, options.teleport_batches);
  take("teleport-batch-size", positive, options.teleport_batch_size);
  options.how = read_teleport_options(given);
  take("precision", parse_precision, options.precision);
  take(
      "threads", [](const std::string& value) { return parse_whole(value, 1, 1024); },
      options.threads);
  take("seed", parse_seed, options.seed);
  return options;
}

TrainingResult train_network(const TrainingOptions& options, const Given& given,
                             const std::function<RunDirectory*()>& open_directory,
                             const TrainingWatcher& watcher) {
  set_threads(static_cast<int>(options.threads));
  return options.precision == Precision::single
             ? train_in<float>(options, given, open_directory, watcher)
             : train_in<double>(options, given, open_directory, watcher);
}

std::string training_config(const TrainingOptions& options) {
  std::vector<ConfigEntry> entries;
  const auto add = [&](std::string key, auto value) {
    entries.push_back({std::move(key), std::move(value), {}});
  };
  const auto whole = [](Index value) { return static_cast<std::int64_t>(value); };
  add("command", std::string("train"));
  add("data", options.data);
  if (options.weights) {
    add("weights", *options.weights);
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
    add("epochs", whole(*options.length));
    add("patience", whole(options.patience));
    add("teleport-batches", whole(options.teleport_batches));
    if (options.teleport_batch_size) {
      add("teleport-batch-size", whole(*options.teleport_batch_size));
    }
  } else {
    add("batch", std::string("full"));
    add("steps", whole(*options.length));
  }
  add("validation", whole(options.validation));
  add("teleport", options.teleport.to_string());
  add_teleport_entries(options.how, entries);
  add("precision", std::string(to_string(options.precision)));
  add("threads", whole(options.threads));
  add("seed", fmt::format("{}", options.seed));
  return config_text(
      fmt::format("A run of symport {}. To repeat it:\n  symport train --config config.toml",
                  version()),
      entries);
}

}  // namespace symport::cli
