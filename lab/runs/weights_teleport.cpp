// SPDX-License-Identifier: MIT
#include "lab/runs/weights_teleport.hpp"

#include <algorithm>
#include <numeric>

#include "lab/data/data_cache.hpp"
#include "lab/options/threads.hpp"
#include "lab/runs/settled.hpp"
#include "lab/runs/watched_objective.hpp"
#include "symport/data/npz.hpp"
#include "symport/objectives/mlp_objective.hpp"
#include "symport/training/mlp_file.hpp"
#include "symport/training/sample_targets.hpp"

namespace symport::lab {

namespace {

constexpr const char* group = "Teleport";

/// float when every array of numbers in the file is of that type, else double.
Precision precision_of(const ArrayMap& arrays) {
  const auto single = [](const auto& entry) {
    return entry.second.dtype() == DType::f4 || entry.second.dtype() == DType::u1;
  };
  return std::all_of(arrays.begin(), arrays.end(), single) ? Precision::float32
                                                           : Precision::float64;
}

template <Real Scalar>
WeightsTeleportResult teleport_in(const WeightsTeleportSpec& spec, const ArrayMap& arrays,
                                  const ArrayMap& batch, const std::function<void()>& watch) {
  const StoredMlp<Scalar> stored = mlp_from_arrays<Scalar>(arrays, spec.weights, *spec.activation);
  const Mlp& network = stored.network;
  const Index outputs = network.width(network.layers());
  const auto samples = samples_from_arrays<Scalar>(batch, spec.batch, {.count = outputs});
  const MlpObjective<Scalar> objective = for_option("batch", [&] {
    return MlpObjective<Scalar>(network, *spec.loss, samples.X, targets_of(samples));
  });
  const TeleportPlan<Scalar> plan = plan_teleport<Scalar>(spec.how, *spec.activation);
  WeightsTeleportResult result{
      .spec = spec, .certificate = {}, .loss_invariant = plan.symmetry->loss_invariant()};
  result.spec.how = plan.spec;
  // Everything that is wrong with the data shows before the search begins.
  std::optional<Samples<Scalar>> other;
  DataCache cache;
  if (spec.check) {
    DataOptions where = spec.where;
    where.classes = outputs;
    other = cache.open<Scalar>(*spec.check, where, "check")->training;
    MlpObjective<Scalar> tried(network, *spec.loss);
    for_option("check", [&] {
      MatrixOf<Scalar> X;
      Targets<Scalar> targets;
      other->source->load(other->typical(other->count()), X, targets);
      tried.bind(X, targets);
    });
  }
  VectorOf<Scalar> w = stored.w;
  result.certificate = for_symmetry([&] {
    if (const OrbitOrReason<Scalar> orbit = plan.symmetry->orbit(objective, w)) {
      require_fitting_search(plan.spec.how.search, *plan.search, *plan.spec.symmetry, *orbit);
    }
    return teleport<Scalar>(WatchedObjective<Scalar>(objective, watch), w,
                            {.symmetry = plan.symmetry.get(),
                             .search = plan.search.get(),
                             .learning_rate = spec.learning_rate->constant(),
                             .objective = plan.spec.how.objective,
                             .bound = plan.spec.how.bound,
                             .cap = plan.spec.how.cap,
                             .seed = spec.seed,
                             .stored_as_float = spec.stored == Precision::float32});
  });
  if (other && result.certificate.accepted) {
    std::vector<Index> all(static_cast<std::size_t>(other->count()));
    std::iota(all.begin(), all.end(), Index{0});
    const MlpObjective<Scalar> there(network, *spec.loss);
    const auto figures = [&](const VectorOf<Scalar>& at) {
      return evaluate<Scalar>(there, *other->source, all, at, false);
    };
    result.check = {other->count(), figures(stored.w), figures(w)};
  }
  result.model = mlp_arrays<Scalar>(network, w);
  return result;
}

}  // namespace

const OptionTable<WeightsTeleportSpec>& weights_teleport_options() {
  using S = WeightsTeleportSpec;
  static const OptionTable<S> table = [] {
    OptionTable<S> rows(
        "Network",
        {row({"weights", "FILE.npz", "W1 (out x in), W2, ..., with b1, b2, ... or without"},
             &S::weights, as_text()),
         row({"batch", "FILE.npz",
              "X (samples x features) and y (classes) or Y (samples x outputs)"},
             &S::batch, as_text()),
         row({"activation", "NAME",
              "of the hidden layers: " + activation_names() +
                  "; needed unless the file of the weights names it, as model.npz of symport train "
                  "does"},
             &S::activation, as_activation()),
         row({"loss", "NAME",
              "half_sum_squares, mean_squares, cross_entropy, each with :sum or :mean; needed "
              "unless the file of the weights names it"},
             &S::loss, as_loss()),
         row({"precision", "float|double", "(default: that of the weights)"}, &S::precision,
             as_precision()),
         row({"threads", "N", "of the matrix products, up to one for every processor"}, &S::threads,
             as_whole(1, 1024))});
    rows.add(group,
             {row({"lr", "RATE|auto",
                   "learning rate of the steps that will follow, needed: how far a teleport may go "
                   "depends on it; auto: of steps that find their own, along the gradient (no "
                   "optimizer with a fixed rate survives there)"},
                  &S::learning_rate, as_rate()),
              row({"check", "SET",
                   "other data, on which the loss is measured before and after: a file like "
                   "--batch, or a set as symport train --data takes it"},
                  &S::check, as_text()),
              row({"seed", "N", "of the random numbers in searches"}, &S::seed, as_seed())});
    std::vector<std::string> names;
    for (const Option& option : network_teleport_options().options()) {
      // There is no optimizer yet: no state, and no steps to rehearse.
      if (option.name != "state" && option.name != "rehearsal") names.push_back(option.name);
    }
    rows.include(network_teleport_options(), &S::how, names);
    rows.regroup(names, group);
    rows.include(data_options(), &S::where);
    return rows;
  }();
  return table;
}

WeightsTeleportResult teleport_weights(const WeightsTeleportSpec& spec,
                                       const std::function<void(const std::string&)>& warn,
                                       const std::function<void()>& watch) {
  if (spec.weights.empty()) {
    throw OptionError("weights", "missing, allowed is an .npz file with W1, W2, ...");
  }
  if (spec.batch.empty()) {
    throw OptionError("batch", "missing, allowed is an .npz file with X and y or Y");
  }
  return teleport_arrays(spec, read_npz(spec.weights), read_npz(spec.batch), warn, watch);
}

WeightsTeleportResult teleport_arrays(const WeightsTeleportSpec& asked, const ArrayMap& weights,
                                      const ArrayMap& batch,
                                      const std::function<void(const std::string&)>& warn,
                                      const std::function<void()>& watch) {
  WeightsTeleportSpec spec = asked;
  if (!spec.learning_rate) {
    throw OptionError("lr",
                      "missing, allowed is the learning rate of the steps that will follow, or "
                      "auto for steps that find their own");
  }
  const bool automatic = spec.learning_rate->automatic();
  if (!automatic && !spec.learning_rate->constant()) {
    throw OptionError(
        "lr", fmt::format("found '{}', allowed is a number or auto", spec.learning_rate->text()));
  }
  if (automatic && spec.how.how.objective == ObjectiveKind::predicted_decrease) {
    throw OptionError("objective",
                      "found predicted_decrease with --lr auto; it needs a learning rate. Allowed "
                      "with auto is decrement, gradient_norm or sharpness");
  }
  const ThreadScope threads(static_cast<int>(spec.threads));
  tell_of_fewer_threads(threads, warn);
  const MlpDescription own = mlp_description(weights, spec.weights);
  spec.activation =
      settled("activation", spec.activation, own.activation, spec.weights, activation_names());
  spec.loss = settled("loss", spec.loss, own.loss, spec.weights,
                      "half_sum_squares, mean_squares or cross_entropy, with :sum or :mean");
  if (!spec.precision) spec.precision = precision_of(weights);
  WeightsTeleportResult result = *spec.precision == Precision::float32
                                     ? teleport_in<float>(spec, weights, batch, watch)
                                     : teleport_in<double>(spec, weights, batch, watch);
  describe_mlp(result.model, {*spec.activation, *spec.loss});
  return result;
}

}  // namespace symport::lab
