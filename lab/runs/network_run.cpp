// SPDX-License-Identifier: MIT
#include "lab/runs/network_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lab/options/threads.hpp"
#include "lab/runs/checkpoint_files.hpp"
#include "lab/runs/machine.hpp"
#include "lab/runs/run_config.hpp"
#include "lab/runs/weights_file.hpp"
#include "symport/objectives/mlp_objective.hpp"
#include "symport/optimizers/objective_bound.hpp"
#include "symport/training/standardized_source.hpp"
#include "symport/training/train.hpp"
#include "symport/training/train_minibatch.hpp"

namespace symport::lab {

namespace {

/// Steps of full batches between checkpoints; mini-batches have one after every epoch.
constexpr Index usual_checkpoint_every = 1000;
/// Samples on which it is tried whether a symmetry fits, where batches are full.
constexpr std::size_t tried_samples = 1000;
/// Vectors as long as the weights that a run holds at once: weights, gradient, and two more while a
/// step is made.
constexpr double weight_vectors = 4.0;
/// Hidden layers where none are given.
constexpr Index usual_width = 128;
/// Standard deviations of one's own features and targets beyond which scaling is proposed.
constexpr double large_deviation = 10.0;

std::vector<Index> first_samples(Index count) {
  std::vector<Index> samples(static_cast<std::size_t>(count));
  std::iota(samples.begin(), samples.end(), Index{0});
  return samples;
}

template <Real Scalar>
DataSet<Scalar> load_data(const NetworkRunSpec& spec, DataCache& cache) {
  DataSet<Scalar> set;
  const DataSource source = parse_data_source(spec.data);
  if (source.generated) {
    const SampleSet<> made =
        source.generated->make(spec.layers.front(), spec.layers.back(),
                               spec.samples.value_or(source.generated->samples), spec.seed);
    set.training = samples_of<Scalar>(
        {made.X.template cast<Scalar>(), made.classes, made.Y.template cast<Scalar>()});
  } else {
    set = *cache.open<Scalar>(spec.data, spec.where);
    if (source.is_table() && spec.samples && *spec.samples < set.training.count()) {
      set.training = drawn(set.training, *spec.samples);
    }
  }
  if (spec.test) {
    DataOptions where = spec.where;
    where.class_names = set.training.class_names;  // classes are those of the training set
    const bool csv = parse_data_source(*spec.test).kind == DataSource::Kind::csv;
    if (csv && where.class_names.empty()) where.classes = spec.layers.back();
    set.test = cache.open<Scalar>(*spec.test, where, "test")->training;
  }
  return set;
}

Split split_samples(const NetworkRunSpec& spec, Index there) {
  const Index count = spec.samples.value_or(there);
  if (count > there) {
    throw OptionError("samples",
                      fmt::format("found {}, allowed is at most the {} there are", count, there));
  }
  const Index validation = spec.validation.of(count);
  if (validation >= count) {
    throw OptionError(
        "validation",
        fmt::format("found {}, allowed is less than the {} samples there are", validation, count));
  }
  return split(count, validation, spec.seed);
}

template <Real Scalar>
void load_into(MlpObjective<Scalar>& objective, const BatchSource<Scalar>& source,
               std::span<const Index> samples) {
  MatrixOf<Scalar> X;
  Targets<Scalar> targets;
  source.load(samples, X, targets);
  objective.bind(X, targets);
}

/// With widths that suit one's own data, where none are given.
template <Real Scalar>
NetworkRunSpec with_layers(NetworkRunSpec spec, DataCache& cache) {
  const DataSource source = parse_data_source(spec.data);
  if (spec.weights || !spec.layers.empty() || !source.usual_run().layers.empty()) return spec;
  const Samples<Scalar>& training = cache.open<Scalar>(spec.data, spec.where)->training;
  Index outputs = std::ssize(training.class_names);
  if (outputs == 0 && !training.classes.empty()) {
    outputs = *std::max_element(training.classes.begin(), training.classes.end()) + 1;
  } else if (outputs == 0) {
    MatrixOf<Scalar> X;
    Targets<Scalar> targets;
    training.source->load(first_samples(1), X, targets);
    outputs = targets.values.rows();
  }
  spec.layers = {training.source->features(), usual_width, usual_width, outputs};
  return spec;
}

/// Throws OptionError where so many numbers need more memory than there is. `what` they are.
template <Real Scalar>
void require_memory(double numbers, const NetworkRunSpec& spec, const std::string& what) {
  constexpr double gigabyte = 1e9;
  const double needed = numbers * sizeof(Scalar), there = machine_memory();
  if (needed <= there) return;
  throw OptionError(
      "layers", fmt::format("{}: training them in {} takes at least {:.3g} GB, and "
                            "there are {:.3g}",
                            what, to_string(spec.precision), needed / gigabyte, there / gigabyte));
}

/// Throws OptionError where the weights alone need more memory than there is.
template <Real Scalar>
NetworkRunSpec within_memory(NetworkRunSpec spec) {
  double weights = 0.0;
  for (std::size_t i = 1; i < spec.layers.size(); ++i) {
    weights += static_cast<double>(spec.layers[i - 1] + (spec.biases ? 1 : 0)) *
               static_cast<double>(spec.layers[i]);
  }
  require_memory<Scalar>(weight_vectors * weights, spec, fmt::format("{:.3g} weights", weights));
  return spec;
}

/// A run in one precision.
template <Real Scalar>
class LoadedRun final : public NetworkRun {
 public:
  LoadedRun(const NetworkRunSpec& asked, const WeightsFile& file, DataCache& cache)
      : NetworkRun(within_memory<Scalar>(
            with_layers<Scalar>(resolve(file.with_activation(asked)), cache))),
        weights_(file.network<Scalar>(spec_)),
        assumed_activation_(file.leaves_activation_open(asked)),
        data_(load_data<Scalar>(spec_, cache)),
        split_(split_samples(spec_, data_.training.count())),
        plan_(plan_teleport<Scalar>(spec_.how, *spec_.activation)),
        optimizer_(make_optimizer<Scalar>(spec_.optimizer,
                                          spec_.learning_rate && spec_.learning_rate->automatic(),
                                          weights_.network)) {
    if (spec_.scaling.value_or(Scaling::none) == Scaling::standard) standardize();
    if (!spec_.loss) spec_.loss = usual_loss();
    optimizer_ = with_round_trips<Scalar>(std::move(optimizer_), objective(), spec_.trip,
                                          spec_.learning_rate);
    check_batch_memory();
    check_samples();
    check_optimizer();
    check_symmetry();
  }

  double start_loss() override {
    const ThreadScope threads(static_cast<int>(spec_.threads));
    MlpObjective<Scalar> training = objective();
    load_into<Scalar>(training, *data_.training.source, split_.training);
    return training.value(weights_.w);
  }

  NetworkResult train(const RunPlace& place, const NetworkObserver& observer) override {
    const ThreadScope threads(static_cast<int>(spec_.threads));
    tell_of_fewer_threads(threads, observer.warn);
    tell_of_what_has_no_effect(observer.warn);
    if (assumed_activation_) {
      observer.warn(fmt::format("'{}' does not name its activation; {} is assumed (--activation)",
                                *spec_.weights, spec_.activation->name()));
    }
    std::optional<CheckpointFiles> files;
    std::optional<Checkpoint<Scalar>> resumed;
    Checkpointing<Scalar> checkpoints;
    if (place.directory) {
      files.emplace(
          place.directory->path(),
          CheckpointFiles::Identity{identity_of(spec_), fingerprint(*data_.training.source)});
      if (place.resume) {
        resumed = latest_of(*files, observer);
      } else {
        files->clear();
      }
      place.directory->write("config.toml", config_of(spec_));
      checkpoints.save = [&](const Checkpoint<Scalar>& at) { save(at, *files, observer); };
      checkpoints.every =
          spec_.checkpoint_every.value_or(spec_.minibatch() ? 0 : usual_checkpoint_every);
      if (resumed) checkpoints.resume = &*resumed;
    }
    NetworkResult result =
        spec_.minibatch() ? run_minibatch(checkpoints, observer) : run_full(checkpoints, observer);
    if (data_.test && result.summary.status != RunStatus::interrupted) test(result);
    if (!data_.training.classes.empty() && std::isfinite(result.summary.final_loss)) {
      result.train_accuracy =
          evaluate<Scalar>(objective(), *data_.training.source, split_.training, weights_.w, false)
              .accuracy;
    }
    result.class_names = data_.training.class_names;
    result.spec = spec_;
    result.loss_invariant = plan_.symmetry->loss_invariant();
    result.model = mlp_arrays<Scalar>(weights_.network, weights_.w);
    return result;
  }

 private:
  /// The paper's; numbers of one's own table have a mean, whose rate does not depend on how many
  /// they are.
  Loss usual_loss() const {
    const bool classes = data_.training.source->categorical();
    const bool own = parse_data_source(spec_.data).kind == DataSource::Kind::csv;
    return own && !classes ? Loss::parse("mse") : Loss::usual(classes);
  }

  /// By the training samples, and the test set by the same numbers.
  void standardize() {
    const auto statistics = Standardization<Scalar>::of(*data_.training.source, split_.training);
    const auto wrap = [&](Samples<Scalar>& samples) {
      samples.source = std::make_shared<StandardizedSource<Scalar>>(samples.source, statistics);
    };
    wrap(data_.training);
    if (data_.test) for_option(spec_.test ? "test" : "data", [&] { wrap(*data_.test); });
  }

  /// What was asked for and will not happen.
  void tell_of_what_has_no_effect(const std::function<void(const std::string&)>& warn) const {
    const Index samples = std::ssize(split_.training);
    if (spec_.batch && *spec_.batch > samples) {
      warn(fmt::format("--batch {} is more than the {} training samples: every epoch is one step",
                       *spec_.batch, samples));
    }
    tell_of_large_numbers(warn);
    if (spec_.teleport.empty() || spec_.teleport.automatic()) return;
    const std::optional<Index> first =
        spec_.teleport.contains(0) ? Index{0} : spec_.teleport.next_after(0);
    if (!first || *first >= spec_.length()) {
      warn(fmt::format("--teleport {} has no effect: the run ends before {} {}",
                       spec_.teleport.to_string(), spec_.minibatch() ? "epoch" : "step",
                       first.value_or(0)));
    }
  }

  /// In tables of one's own, which nothing scales: the usual rates are for numbers near 1.
  void tell_of_large_numbers(const std::function<void(const std::string&)>& warn) const {
    const DataSource source = parse_data_source(spec_.data);
    if (spec_.scaling || source.entry || !source.is_table()) return;
    const auto statistics = Standardization<Scalar>::of(*data_.training.source, split_.training);
    const auto tell = [&](const char* what, const VectorOf<Scalar>& scale) {
      if (scale.size() == 0 || !(scale.maxCoeff() > large_deviation)) return;
      warn(
          fmt::format("{} have a standard deviation of up to {:.3g}; training is easier with "
                      "--scaling standard",
                      what, scale.maxCoeff()));
    };
    tell("features", statistics.feature_scale);
    tell("targets", statistics.target_scale);
  }

  MlpObjective<Scalar> objective() const { return {weights_.network, *spec_.loss}; }
  LearningRate learning_rate() const {
    const LearningRate usual = parse_data_source(spec_.data).usual_run().learning_rate;
    return spec_.learning_rate->rate.value_or(usual);
  }
  /// Of every unit and sample of a batch there is an activation and its gradient.
  void check_batch_memory() const {
    double units = 0.0;
    for (std::size_t i = 1; i < spec_.layers.size(); ++i) {
      units += static_cast<double>(spec_.layers[i]);
    }
    const auto all = static_cast<Index>(split_.training.size());
    const auto samples = static_cast<double>(std::min(spec_.batch.value_or(all), all));
    require_memory<Scalar>(2 * units * samples, spec_,
                           fmt::format("{:.3g} units on {:.3g} samples at once", units, samples));
  }

  /// Samples that do not fit network and loss show here, before anything is written.
  void check_samples() const {
    MlpObjective<Scalar> tried = objective();
    const auto check = [&](const Samples<Scalar>& samples, Index count, const char* option) {
      check_classes(samples, count, option);
      for_option(option,
                 [&] { load_into<Scalar>(tried, *samples.source, samples.typical(count)); });
    };
    if (data_.test) check(*data_.test, data_.test->count(), spec_.test ? "test" : "data");
    check(data_.training, spec_.samples.value_or(data_.training.count()), "data");
  }

  /// So does an optimizer that cannot work on this loss or so many samples.
  void check_optimizer() const {
    if (!dynamic_cast<const ObjectiveBound<Scalar>*>(optimizer_.get())) return;
    MlpObjective<Scalar> tried = objective();
    const std::size_t count =
        spec_.batch ? static_cast<std::size_t>(*spec_.batch) : split_.training.size();
    load_into<Scalar>(tried, *data_.training.source,
                      std::span(split_.training).first(std::min(split_.training.size(), count)));
    for_option("optimizer", [&] { require_fit<Scalar>(*optimizer_, tried); });
  }

  /// Labels from 1 to the number of outputs are the usual mistake.
  void check_classes(const Samples<Scalar>& samples, Index count, const char* option) const {
    if (samples.classes.empty() || !spec_.loss->categorical()) return;
    const auto [least, largest] =
        std::minmax_element(samples.classes.begin(), samples.classes.begin() + count);
    const Index outputs = weights_.network.width(weights_.network.layers());
    if (*largest < outputs) return;
    const std::string advice =
        *least == 1 && *largest == outputs
            ? std::string("subtract 1 from every label")
            : fmt::format("allowed is at least {} there, one output for each class", *largest + 1);
    throw OptionError(
        option, fmt::format("found class {}; classes count from 0, and the last width of {} "
                            "is {}: {}",
                            *largest, spec_.weights ? "the network" : "--layers", outputs, advice));
  }

  /// So does a symmetry that the network does not have.
  void check_symmetry() const {
    if (spec_.teleport.empty()) return;
    const std::size_t batch = spec_.batch ? static_cast<std::size_t>(*spec_.batch) : tried_samples;
    MlpObjective<Scalar> tried = objective();
    load_into<Scalar>(tried, *data_.training.source,
                      std::span(split_.training).first(std::min(split_.training.size(), batch)));
    // Whether there is an orbit is a matter of the batch: each teleport says so.
    const OrbitOrReason<Scalar> orbit =
        for_symmetry([&] { return plan_.symmetry->orbit(tried, weights_.w); });
    if (!orbit) return;
    require_fitting_search(spec_.how.how.search, *plan_.search, *spec_.how.symmetry, *orbit);
  }

  std::optional<Checkpoint<Scalar>> latest_of(const CheckpointFiles& files,
                                              const NetworkObserver& observer) const {
    return for_resume([&]() -> std::optional<Checkpoint<Scalar>> {
      const auto found = files.load();
      if (!found) {
        observer.warn("the run has no checkpoint yet; starting from the beginning");
        return std::nullopt;
      }
      if (!found->complaint.empty()) {
        observer.warn("the latest checkpoint is damaged; resuming from the previous one:\n  " +
                      found->complaint);
      }
      auto checkpoint = checkpoint_from_arrays<Scalar>(found->arrays, found->file.string());
      const Index done = spec_.minibatch() ? checkpoint.epoch : checkpoint.step;
      const char* unit = spec_.minibatch() ? "epochs" : "steps";
      if (checkpoint.w.size() != weights_.w.size() || done > spec_.length()) {
        throw InvalidArgument(
            found->file.string(),
            fmt::format("{} parameters after {} {}", checkpoint.w.size(), done, unit),
            fmt::format("{} parameters, at most {} {}", weights_.w.size(), spec_.length(), unit));
      }
      return checkpoint;
    });
  }

  /// Errors in a checkpoint name its file.
  template <class Action>
  static auto for_resume(Action&& action) {
    try {
      return action();
    } catch (const InvalidArgument& error) {
      throw OptionError("resume", error.what());
    }
  }

  static void save(const Checkpoint<Scalar>& at, const CheckpointFiles& files,
                   const NetworkObserver& observer) {
    try {
      files.save(checkpoint_arrays(at));
    } catch (const std::exception& error) {
      observer.warn(
          fmt::format("a checkpoint could not be written, the run goes on: {}", error.what()));
    }
  }

  /// Algorithm 1.
  NetworkResult run_full(const Checkpointing<Scalar>& checkpoints,
                         const NetworkObserver& observer) {
    MlpObjective<Scalar> training = objective(), validation = objective();
    load_into<Scalar>(training, *data_.training.source, split_.training);
    const Index steps = *spec_.steps;
    TrainOptions<Scalar> options{
        .max_steps = steps,
        .learning_rate = learning_rate(),
        .teleport = plan_.teleportation(spec_.teleport),
        .stop = {.loss_below = spec_.stop_at.value_or(Stopping{}.loss_below)},
        .seed = spec_.seed};
    options.teleport.keep_going = observer.keep_going;
    options.checkpoints = checkpoints;
    options.clock = observer.clock;
    options.watcher = [&](const TraceRow& row) {
      return observer.watch({.step = row.step,
                             .steps = steps,
                             .samples_a_step = training.samples(),
                             .loss = row.loss,
                             .evaluations = row.evaluations,
                             .seconds = row.seconds});
    };
    if (!split_.validation.empty()) {
      load_into<Scalar>(validation, *data_.training.source, split_.validation);
      options.validate = [&](In<Scalar> w) {
        const Score score = validation.score(w);
        return Validation{score.loss, score.accuracy, validation.samples()};
      };
    }
    return {.spec = {},
            .summary = symport::train<Scalar>(training, *optimizer_, weights_.w, options),
            .model = {}};
  }

  /// Algorithm 2.
  NetworkResult run_minibatch(const Checkpointing<Scalar>& checkpoints,
                              const NetworkObserver& observer) {
    MinibatchOptions<Scalar> options{
        .epochs = *spec_.epochs,
        .batch_size = *spec_.batch,
        .learning_rate = learning_rate(),
        .teleport = plan_.teleportation(spec_.teleport),
        .teleport_batches = spec_.teleport_batches.value_or(std::numeric_limits<Index>::max()),
        .teleport_batch_size = spec_.teleport_batch_size.value_or(0),
        .scope_samples = spec_.scope_samples,
        .patience = spec_.patience,
        .stop_below = spec_.stop_at.value_or(Stopping{}.loss_below),
        .exact_training_loss = spec_.train_loss == TrainLoss::exact,
        .exact_gradients = observer.gradients,
        .evaluate_every = spec_.evaluate_every.value_or(0),
        .seed = spec_.seed};
    options.teleport.keep_going = observer.keep_going;
    options.checkpoints = checkpoints;
    options.clock = observer.clock;
    const Index batches = Batches(split_.training, options.batch_size, options.seed).count();
    options.watcher = [&](const TraceRow& row) {
      return observer.watch({.minibatch = true,
                             .epoch = row.epoch,
                             .epochs = options.epochs,
                             .step = row.step - row.epoch * batches,
                             .steps = batches,
                             .samples_a_step = options.batch_size,
                             .loss = row.loss,
                             .evaluations = row.evaluations,
                             .seconds = row.seconds});
    };
    options.on_row = observer.epoch_done;
    return {.spec = {},
            .summary = train_minibatch<Scalar>(objective(), *data_.training.source, split_,
                                               *optimizer_, weights_.w, options),
            .model = {}};
  }

  void test(NetworkResult& result) const {
    result.test_samples = data_.test->count();
    const Evaluation figures = evaluate<Scalar>(
        objective(), *data_.test->source, first_samples(result.test_samples), weights_.w, false);
    result.test_loss = figures.loss;
    result.test_accuracy = figures.accuracy;
  }

  StoredMlp<Scalar> weights_;
  bool assumed_activation_;  ///< neither the user nor the file of the weights named it
  DataSet<Scalar> data_;
  Split split_;
  TeleportPlan<Scalar> plan_;
  std::unique_ptr<BasicOptimizer<Scalar>> optimizer_;
};

}  // namespace

std::unique_ptr<NetworkRun> load(const NetworkRunSpec& spec, DataCache& data) {
  const WeightsFile file(spec);
  if (spec.precision == Precision::float32) {
    return std::make_unique<LoadedRun<float>>(spec, file, data);
  }
  return std::make_unique<LoadedRun<double>>(spec, file, data);
}

}  // namespace symport::lab
