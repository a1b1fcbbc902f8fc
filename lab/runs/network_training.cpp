// SPDX-License-Identifier: MIT
#include "lab/runs/network_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lab/data/open_data.hpp"
#include "lab/options/threads.hpp"
#include "lab/text/parse_numbers.hpp"
#include "symport/data/synthetic.hpp"
#include "symport/symmetries/refusal.hpp"
#include "symport/training/mlp_file.hpp"
#include "symport/training/train.hpp"
#include "symport/training/train_minibatch.hpp"

namespace symport::lab {

namespace {

/// The paper's regression (section 6.1 and appendix D).
const std::vector<Index> regression_layers{5, 6, 7, 8};
constexpr double regression_rate = 1e-4, usual_rate = 1e-2;
constexpr Index regression_steps = 300, usual_length = 10;
/// Steps of full batches between checkpoints; mini-batches have one after every epoch.
constexpr Index usual_checkpoint_every = 1000;
/// Random numbers for the weights do not depend on those for the data.
constexpr std::uint64_t weights_stream = 1;
/// Samples that are looked at together.
constexpr Index portion = 1000;

std::vector<Index> first_samples(Index count) {
  std::vector<Index> samples(static_cast<std::size_t>(count));
  std::iota(samples.begin(), samples.end(), Index{0});
  return samples;
}

template <Real Scalar>
DataSet<Scalar> load_data(const TrainingOptions& options, const Given& given) {
  if (options.data == generated_data) {
    const std::vector<Index>& layers = options.layers.empty() ? regression_layers : options.layers;
    const Index samples = options.samples.value_or(RegressionOptions{}.samples);
    const SampleSet<double> set =
        regression_data({layers.front(), layers.back(), samples, options.seed});
    return {std::make_unique<DenseSource<Scalar>>(set.X.template cast<Scalar>(),
                                                  Targets<Scalar>(set.Y.template cast<Scalar>())),
            nullptr};
  }
  DataOptions how = options.where;
  how.more_names = {generated_data};
  DataSet<Scalar> set = open_data<Scalar>(options.data, how, given);
  if (options.test) set.test = open_data<Scalar>(*options.test, how, given, "test").training;
  return set;
}

/// A training run in one precision, from options to result.
template <Real Scalar>
class NetworkTraining {
 public:
  NetworkTraining(const TrainingOptions& options, const Given& given,
                  const TrainingObserver& observer)
      : options_(options),
        given_(given),
        observer_(observer),
        data_(load_data<Scalar>(options, given)),
        plan_(options.how, given),
        network_(make_network()),
        loss_(options.loss.value_or(Loss::usual(data_.training->categorical()))) {
    options_.how = plan_.options();
    options_.loss = loss_;
    split_ = split_samples();
    choose_optimizer();
    if (!options_.length) {
      options_.length =
          options_.data == generated_data && !options_.batch ? regression_steps : usual_length;
    }
    check_samples();
    if (!options_.batch) {
      load_into(training_, *data_.training, split_.training);
      if (!split_.validation.empty()) load_into(validation_, *data_.training, split_.validation);
    }
  }

  const TrainingOptions& options() const { return options_; }

  TrainingResult run(const TrainingPlace& place) {
    std::optional<CheckpointFiles> files;
    std::optional<Checkpoint<Scalar>> resumed;
    Checkpointing<Scalar> checkpoints;
    if (place.directory) {
      files.emplace(
          place.directory->path(),
          CheckpointFiles::Identity{training_identity(options_), fingerprint(*data_.training)});
      if (place.resume) {
        resumed = latest_of(*files);
      } else {
        files->clear();
      }
      place.directory->write("config.toml", training_config(options_));
      checkpoints.save = [&](const Checkpoint<Scalar>& at) { save(at, *files); };
      checkpoints.every = options_.checkpoint_every;
      if (checkpoints.every == 0 && !options_.batch) checkpoints.every = usual_checkpoint_every;
      if (resumed) checkpoints.resume = &*resumed;
    }
    TrainingResult result = options_.batch ? run_minibatch(checkpoints) : run_full(checkpoints);
    if (data_.test && result.run.status != RunStatus::interrupted) test(result);
    result.options = options_;
    result.loss_invariant = plan_.symmetry().loss_invariant();
    result.model = mlp_arrays<Scalar>(network_, w_);
    return result;
  }

 private:
  Mlp make_network() {
    const auto build = [&](const std::vector<Index>& widths, bool biases) {
      return blaming(given_.origin("layers"),
                     [&] { return Mlp(widths, options_.activation, biases); });
    };
    if (options_.weights) {
      auto stored = load_mlp<Scalar>(*options_.weights, options_.activation);
      const Mlp& network = stored.network;
      if (!options_.layers.empty() && options_.layers != network.widths()) {
        throw UsageError(given_.origin("layers"),
                         fmt::format("found {}, but the weights in '{}' are of {}",
                                     fmt::join(options_.layers, ","), *options_.weights,
                                     fmt::join(network.widths(), ",")));
      }
      options_.layers = network.widths();
      options_.biases = network.biases();
      w_ = std::move(stored.w);
      return network;
    }
    if (options_.layers.empty()) {
      if (options_.data != generated_data) {
        throw UsageError("--layers", "missing, allowed are widths like 784,512,10, or --weights");
      }
      options_.layers = regression_layers;
    }
    const Mlp network = build(options_.layers, options_.biases);
    if (!options_.init) {
      options_.init =
          options_.data == generated_data ? Initialization::unit : Initialization::fan_in;
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
    const double usual = options_.data == generated_data ? regression_rate : usual_rate;
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

  Split split_samples() const {
    const Index there = data_.training->samples();
    const Index count = options_.samples.value_or(there);
    if (count > there) {
      throw UsageError(given_.origin("samples"),
                       fmt::format("found {}, allowed is at most the {} there are", count, there));
    }
    if (options_.validation >= count) {
      throw UsageError(given_.origin("validation"),
                       fmt::format("found {}, allowed is less than the {} samples there are",
                                   options_.validation, count));
    }
    return split(count, options_.validation, options_.seed);
  }

  void load_into(MlpObjective<Scalar>& objective, const BatchSource<Scalar>& source,
                 std::span<const Index> samples) {
    MatrixOf<Scalar> X;
    Targets<Scalar> targets;
    source.load(samples, X, targets);
    objective.bind(X, targets);
  }

  /// Whatever does not fit (features, classes, loss, symmetry) shows here, before anything is
  /// written.
  void check_samples() {
    MlpObjective<Scalar> objective(network_, loss_);
    const auto check = [&](const BatchSource<Scalar>& source, Index count, const char* option) {
      const std::vector<Index> samples = first_samples(count);
      for (Index first = 0; first < count; first += portion) {
        const auto part =
            std::span(samples).subspan(static_cast<std::size_t>(first),
                                       static_cast<std::size_t>(std::min(portion, count - first)));
        blaming(given_.origin(option), [&] { load_into(objective, source, part); });
      }
    };
    if (data_.test) check(*data_.test, data_.test->samples(), options_.test ? "test" : "data");
    check(*data_.training, options_.samples.value_or(data_.training->samples()), "data");
    if (options_.teleport.empty()) return;
    const Index batch = options_.batch.value_or(portion);
    const auto some = std::span<const Index>(split_.training)
                          .first(std::min(split_.training.size(), static_cast<std::size_t>(batch)));
    load_into(objective, *data_.training, some);
    blaming_symmetry(given_, [&] {
      try {
        plan_.symmetry().orbit(objective, w_);
      } catch (const Refusal&) {  // a matter of the batch: each teleport says so
      }
    });
  }

  std::optional<Checkpoint<Scalar>> latest_of(const CheckpointFiles& files) const {
    try {
      const auto found = files.load();
      if (!found) {
        observer_.warn("the run has no checkpoint yet: it begins anew");
        return std::nullopt;
      }
      if (!found->complaint.empty()) {
        observer_.warn("the latest checkpoint is damaged, going on from the one before:\n  " +
                       found->complaint);
      }
      auto checkpoint = checkpoint_from_arrays<Scalar>(found->arrays, found->file.string());
      const Index done = options_.batch ? checkpoint.epoch : checkpoint.step;
      const char* unit = options_.batch ? "epochs" : "steps";
      if (checkpoint.w.size() != w_.size() || done > *options_.length) {
        throw InvalidArgument(
            found->file.string(),
            fmt::format("{} parameters after {} {}", checkpoint.w.size(), done, unit),
            fmt::format("{} parameters, at most {} {}", w_.size(), *options_.length, unit));
      }
      return checkpoint;
    } catch (const InvalidArgument& error) {
      throw UsageError(given_.origin("resume"), error.what());
    }
  }

  void save(const Checkpoint<Scalar>& at, const CheckpointFiles& files) const {
    try {
      files.save(checkpoint_arrays(at));
    } catch (const std::exception& error) {
      observer_.warn(
          fmt::format("a checkpoint could not be written, the run goes on: {}", error.what()));
    }
  }

  /// Algorithm 1.
  TrainingResult run_full(const Checkpointing<Scalar>& checkpoints) {
    const Index steps = *options_.length;
    TrainOptions<Scalar> train_options{.max_steps = steps,
                                       .learning_rate = *rate_,
                                       .teleport = plan_.teleportation(options_.teleport),
                                       .seed = options_.seed};
    train_options.checkpoints = checkpoints;
    train_options.watcher = [&](const TraceRow& row) {
      return observer_.watch({false, 0, 1, row.step, steps, training_.samples(), row.loss,
                              row.evaluations, row.seconds});
    };
    if (!split_.validation.empty()) {
      train_options.validate = [&](In<Scalar> w) {
        const Score score = validation_.score(w);
        return Validation{score.loss, score.accuracy};
      };
    }
    return {.run = train<Scalar>(training_, *optimizer_, w_, train_options),
            .model = {},
            .options = {}};
  }

  /// Algorithm 2.
  TrainingResult run_minibatch(const Checkpointing<Scalar>& checkpoints) {
    MinibatchOptions<Scalar> minibatch{
        .epochs = *options_.length,
        .batch_size = *options_.batch,
        .learning_rate = *rate_,
        .teleport = plan_.teleportation(options_.teleport),
        .teleport_batches = options_.teleport_batches,
        .teleport_batch_size = options_.teleport_batch_size.value_or(0),
        .patience = options_.patience,
        .exact_training_loss = options_.train_loss == TrainLoss::exact,
        .seed = options_.seed};
    minibatch.checkpoints = checkpoints;
    const Index batches = Batches(split_.training, *options_.batch, options_.seed).count();
    minibatch.watcher = [&](const TraceRow& row) {
      return observer_.watch({.minibatch = true,
                              .epoch = row.epoch,
                              .epochs = minibatch.epochs,
                              .step = row.step - row.epoch * batches,
                              .steps = batches,
                              .samples_a_step = *options_.batch,
                              .loss = row.loss,
                              .evaluations = row.evaluations,
                              .seconds = row.seconds});
    };
    minibatch.on_row = observer_.epoch_done;
    return {.run = train_minibatch<Scalar>(MlpObjective<Scalar>(network_, loss_), *data_.training,
                                           split_, *optimizer_, w_, minibatch),
            .model = {},
            .options = {}};
  }

  void test(TrainingResult& result) const {
    result.test_samples = data_.test->samples();
    const Evaluation figures = evaluate<Scalar>(MlpObjective<Scalar>(network_, loss_), *data_.test,
                                                first_samples(result.test_samples), w_, false);
    result.test_loss = figures.loss;
    result.test_accuracy = figures.accuracy;
  }

  TrainingOptions options_;
  const Given& given_;
  const TrainingObserver& observer_;
  DataSet<Scalar> data_;
  TeleportPlan<Scalar> plan_;
  VectorOf<Scalar> w_;
  Mlp network_;
  Loss loss_;
  MlpObjective<Scalar> training_{network_, loss_};  ///< bound for full batches only
  MlpObjective<Scalar> validation_{network_, loss_};
  Split split_;
  std::unique_ptr<BasicOptimizer<Scalar>> optimizer_;
  std::optional<LearningRate> rate_;
};

template <Real Scalar>
TrainingResult train_in(const TrainingOptions& options, const Given& given,
                        const std::function<TrainingPlace()>& open,
                        const TrainingObserver& observer) {
  NetworkTraining<Scalar> training(options, given, observer);
  return training.run(open());
}

}  // namespace

TrainingResult train_network(const TrainingOptions& options, const Given& given,
                             const std::function<TrainingPlace()>& open,
                             const TrainingObserver& observer) {
  const ThreadScope threads(static_cast<int>(options.threads));
  tell_of_fewer_threads(threads, observer.warn);
  return options.precision == Precision::single ? train_in<float>(options, given, open, observer)
                                                : train_in<double>(options, given, open, observer);
}

}  // namespace symport::lab
