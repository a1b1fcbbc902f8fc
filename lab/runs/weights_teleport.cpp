// SPDX-License-Identifier: MIT
#include "lab/runs/weights_teleport.hpp"

#include <algorithm>

#include "lab/options/threads.hpp"
#include "lab/runs/watched_objective.hpp"
#include "symport/data/npz.hpp"
#include "symport/objectives/mlp_objective.hpp"
#include "symport/training/mlp_file.hpp"
#include "symport/training/sample_targets.hpp"

namespace symport::lab {

namespace {

constexpr const char* group = "Teleport";

/// float when every array of the file is of that type, else double.
Precision precision_of(const ArrayMap& arrays) {
  const auto single = [](const auto& entry) { return entry.second.dtype() == DType::f4; };
  return std::all_of(arrays.begin(), arrays.end(), single) ? Precision::float32
                                                           : Precision::float64;
}

template <Real Scalar>
WeightsTeleportResult teleport_in(const WeightsTeleportSpec& spec, const ArrayMap& arrays,
                                  const ArrayMap& batch, const std::function<void()>& watch) {
  StoredMlp<Scalar> stored = mlp_from_arrays<Scalar>(arrays, spec.weights, spec.activation);
  const Mlp& network = stored.network;
  VectorOf<Scalar>& w = stored.w;
  const Index outputs = network.width(network.layers());
  const auto samples = samples_from_arrays<Scalar>(batch, spec.batch, {.count = outputs});
  const Loss loss = spec.loss.value_or(Loss::usual(!samples.classes.empty()));
  const MlpObjective<Scalar> objective = for_option(
      "batch", [&] { return MlpObjective<Scalar>(network, loss, samples.X, targets_of(samples)); });
  const TeleportPlan<Scalar> plan = plan_teleport<Scalar>(spec.how);
  WeightsTeleportResult result{spec, {}, plan.symmetry->loss_invariant(), {}};
  result.spec.how = plan.spec;
  result.spec.loss = loss;
  result.certificate = for_symmetry([&] {
    return teleport<Scalar>(WatchedObjective<Scalar>(objective, watch), w,
                            {.symmetry = plan.symmetry.get(),
                             .search = plan.search.get(),
                             .learning_rate = spec.learning_rate,
                             .objective = plan.spec.how.objective,
                             .bound = plan.spec.how.bound,
                             .cap = plan.spec.how.cap,
                             .seed = spec.seed});
  });
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
         row({"activation", "NAME", "of the hidden layers: " + activation_names()}, &S::activation,
             as_activation()),
         row({"loss", "NAME", loss_names()}, &S::loss, as_loss()),
         row({"precision", "float|double", "(default: that of the weights)"}, &S::precision,
             as_precision()),
         row({"threads", "N", "of the matrix products, up to one for every processor"}, &S::threads,
             as_whole(1, 1024))});
    rows.add(group,
             {row({"lr", "RATE",
                   "learning rate of the steps that will follow (default: none, the best step "
                   "length)"},
                  &S::learning_rate, as_positive()),
              row({"seed", "N", "of the random numbers in searches"}, &S::seed, as_seed())});
    std::vector<std::string> names;
    for (const Option& option : network_teleport_options().options()) {
      // There is no optimizer yet: no state, and no steps to rehearse.
      if (option.name != "state" && option.name != "rehearsal") names.push_back(option.name);
    }
    rows.include(network_teleport_options(), &S::how, names);
    rows.regroup(names, group);
    return rows;
  }();
  return table;
}

WeightsTeleportResult teleport_weights(const WeightsTeleportSpec& spec,
                                       const std::function<void(const std::string&)>& warn) {
  if (spec.weights.empty()) {
    throw OptionError("weights", "missing, allowed is an .npz file with W1, W2, ...");
  }
  if (spec.batch.empty()) {
    throw OptionError("batch", "missing, allowed is an .npz file with X and y or Y");
  }
  return teleport_arrays(spec, read_npz(spec.weights), read_npz(spec.batch), warn, [] {});
}

WeightsTeleportResult teleport_arrays(const WeightsTeleportSpec& asked, const ArrayMap& weights,
                                      const ArrayMap& batch,
                                      const std::function<void(const std::string&)>& warn,
                                      const std::function<void()>& watch) {
  WeightsTeleportSpec spec = asked;
  const ThreadScope threads(static_cast<int>(spec.threads));
  tell_of_fewer_threads(threads, warn);
  if (!spec.precision) spec.precision = precision_of(weights);
  return *spec.precision == Precision::float32 ? teleport_in<float>(spec, weights, batch, watch)
                                               : teleport_in<double>(spec, weights, batch, watch);
}

}  // namespace symport::lab
