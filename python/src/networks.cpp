// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>

#include "arrays.hpp"
#include "bindings.hpp"
#include "lab/config/config_reader.hpp"
#include "lab/runs/weights_teleport.hpp"
#include "run.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/thread_scope.hpp"
#include "symport/objectives/mlp_objective.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/metric_round_trip.hpp"
#include "symport/training/mlp_file.hpp"
#include "symport/training/sample_targets.hpp"

namespace symport::python {

using namespace nb::literals;
namespace fs = std::filesystem;

namespace {

std::optional<ArrayMap> optional_arrays(const std::optional<nb::dict>& arrays, const char* what) {
  if (!arrays) return std::nullopt;
  return to_arrays(*arrays, what);
}

/// Samples from memory, under the name of the file that the run's directory will have, if any.
std::string put_samples(const std::optional<ArrayMap>& samples,
                        const std::optional<std::string>& out, const char* file,
                        lab::Precision precision, lab::DataCache& cache) {
  const std::string name = (out ? fs::absolute(*out) / file : fs::path(file)).string();
  if (precision == lab::Precision::float32) {
    cache.put<float>(name, samples_from_arrays<float>(*samples, file));
  } else {
    cache.put<double>(name, samples_from_arrays<double>(*samples, file));
  }
  return name;
}

/// The options of the run in `directory`; its length may be changed.
lab::Arguments resumed(const lab::Arguments& given, const std::string& directory) {
  for (const lab::Option& option : lab::network_run_options().options()) {
    if (option.role == lab::Role::identity && given.has(option.name)) {
      throw lab::OptionError(option.name, "cannot be combined with resume; it is in config.toml");
    }
  }
  lab::Arguments all = given;
  const std::string file = (fs::path(directory) / "config.toml").string();
  all.merge(lab::parse_config(lab::read_config_text(file, "resume"), file, "train",
                              lab::network_run_options().options()));
  return all;
}

struct TrainPlace {
  std::optional<std::string> out, resume;
  bool force = false;
};

Run train_network(const lab::Arguments& arguments, std::optional<ArrayMap> data,
                  std::optional<ArrayMap> test, const TrainPlace& where) {
  lab::NetworkRunSpec spec = lab::network_run_options().read(arguments);
  lab::DataCache cache;
  if (data) spec.data = put_samples(data, where.out, "data.npz", spec.precision, cache);
  if (test) spec.test = put_samples(test, where.out, "test.npz", spec.precision, cache);
  const std::unique_ptr<lab::NetworkRun> run = lab::load(spec, cache);
  std::unique_ptr<lab::RunDirectory> directory;
  if (where.resume) directory = lab::RunDirectory::of_earlier_run(*where.resume, "resume");
  if (where.out) {
    directory = std::make_unique<lab::RunDirectory>(*where.out, where.force, "out");
    if (data) directory->write("data.npz", *data);
    if (test) directory->write("test.npz", *test);
  }
  SignalCheck check;
  std::optional<nb::python_error> interruption;
  lab::NetworkResult result = run->train({directory.get(), where.resume.has_value()},
                                         {.watch =
                                              [&](const lab::NetworkProgress&) {
                                                try {
                                                  check();
                                                } catch (nb::python_error& error) {
                                                  interruption.emplace(std::move(error));
                                                }
                                                return !interruption;
                                              },
                                          .warn = [](const std::string& text) { warn(text); }});
  if (directory) lab::write_results(result, *directory);
  // The run ended in good order and can go on; the caller learns of Ctrl-C all the same.
  if (interruption) throw std::move(*interruption);
  return {std::move(result), std::move(data), std::move(test)};
}

Run train(const Texts& options, const std::optional<nb::dict>& data,
          const std::optional<nb::dict>& test, const std::optional<std::string>& out, bool force,
          const std::optional<std::string>& resume) {
  const lab::Arguments given = to_arguments(options, lab::network_run_options().options());
  const lab::Arguments arguments = resume ? resumed(given, *resume) : given;
  std::optional<ArrayMap> training = optional_arrays(data, "data"),
                          held_out = optional_arrays(test, "test");
  return explained([&] {
    const nb::gil_scoped_release released;
    return train_network(arguments, std::move(training), std::move(held_out), {out, resume, force});
  });
}

/// float when every array is of that type.
bool is_single(const ArrayMap& weights) {
  return !weights.empty() && std::all_of(weights.begin(), weights.end(), [](const auto& entry) {
    return entry.second.dtype() == DType::f4;
  });
}

nb::tuple teleport_network(const nb::dict& weights, const nb::dict& batch, const Texts& options) {
  const lab::Arguments arguments = to_arguments(options, lab::weights_teleport_options().options());
  const ArrayMap model = to_arrays(weights, "weights"), samples = to_arrays(batch, "batch");
  lab::WeightsTeleportResult result = explained([&] {
    lab::WeightsTeleportSpec spec = lab::weights_teleport_options().read(arguments);
    spec.weights = "weights";
    spec.batch = "batch";
    spec.stored = is_single(model) ? lab::Precision::float32 : lab::Precision::float64;
    if (spec.precision == lab::Precision::float32 && spec.stored == lab::Precision::float64) {
      throw InvalidArgument("precision", "'float' for weights in float64, which it would round",
                            "'double', or weights in float32");
    }
    const nb::gil_scoped_release released;
    SignalCheck check;
    return lab::teleport_arrays(
        spec, model, samples, [](const std::string& text) { warn(text); }, [&] { check(); });
  });
  return nb::make_tuple(result.certificate, to_python(result.model));
}

/// A network on a batch.
template <Real Scalar>
struct Problem {
  StoredMlp<Scalar> stored;
  MlpObjective<Scalar> objective;
};

template <Real Scalar>
Problem<Scalar> problem_of(const ArrayMap& weights, const ArrayMap& batch,
                           const std::string& activation, const std::optional<std::string>& loss) {
  StoredMlp<Scalar> stored =
      mlp_from_arrays<Scalar>(weights, "weights", Activation::parse(activation));
  const Index outputs = stored.network.width(stored.network.layers());
  const auto samples = samples_from_arrays<Scalar>(batch, "batch", {.count = outputs});
  const Loss kind = loss ? Loss::parse(*loss) : Loss::usual(!samples.classes.empty());
  MlpObjective<Scalar> objective(stored.network, kind, samples.X, targets_of(samples));
  return {std::move(stored), std::move(objective)};
}

template <Real Scalar>
std::pair<double, ArrayMap> gradient_in(const ArrayMap& weights, const ArrayMap& batch,
                                        const std::string& activation,
                                        const std::optional<std::string>& loss) {
  const Problem<Scalar> problem = problem_of<Scalar>(weights, batch, activation, loss);
  VectorOf<Scalar> gradient(problem.stored.w.size());
  const double value = problem.objective.gradient(problem.stored.w, gradient);
  return {value, mlp_arrays<Scalar>(problem.stored.network, gradient)};
}

/// The loss, theta = `usual` where none is given, and the direction u of a round trip.
struct WhiteDirection {
  double loss = 0.0, theta = 0.0;
  ArrayMap direction;
};

template <Real Scalar>
WhiteDirection white_in(const ArrayMap& weights, const ArrayMap& batch,
                        const std::string& activation, const std::optional<std::string>& loss,
                        std::optional<double> damping) {
  const Problem<Scalar> problem = problem_of<Scalar>(weights, batch, activation, loss);
  const MetricRoundTrip<Scalar> trip(std::make_shared<GradientDescent<Scalar>>(),
                                     {.damping = damping});
  const VectorOf<Scalar>& w = problem.stored.w;
  OptimizerState<Scalar> state = trip.init(w.size());
  MeasuredPoint<Scalar> here;
  trip.measure(problem.objective, w, here);
  VectorOf<Scalar> direction(w.size());
  trip.direction(problem.objective, here, w, state, direction);
  return {here.loss, trip.usual_rate(problem.objective),
          mlp_arrays<Scalar>(problem.stored.network, direction)};
}

/// The range of the option `threads`.
int allowed_threads(int threads) {
  if (threads < 1 || threads > 1024) {
    throw InvalidArgument("threads", fmt::format("{}", threads), "a whole number from 1 to 1024");
  }
  return threads;
}

nb::tuple gradient_of(const nb::dict& weights, const nb::dict& batch, const std::string& activation,
                      const std::optional<std::string>& loss, int threads) {
  const ArrayMap model = to_arrays(weights, "weights"), samples = to_arrays(batch, "batch");
  const auto [value, gradient] = [&] {
    const nb::gil_scoped_release released;
    const ThreadScope scope(allowed_threads(threads));
    return is_single(model) ? gradient_in<float>(model, samples, activation, loss)
                            : gradient_in<double>(model, samples, activation, loss);
  }();
  return nb::make_tuple(value, to_python(gradient));
}

nb::tuple white_direction(const nb::dict& weights, const nb::dict& batch,
                          const std::string& activation, const std::optional<std::string>& loss,
                          std::optional<double> damping, int threads) {
  const ArrayMap model = to_arrays(weights, "weights"), samples = to_arrays(batch, "batch");
  const WhiteDirection found = [&] {
    const nb::gil_scoped_release released;
    const ThreadScope scope(allowed_threads(threads));
    return is_single(model) ? white_in<float>(model, samples, activation, loss, damping)
                            : white_in<double>(model, samples, activation, loss, damping);
  }();
  return nb::make_tuple(found.loss, found.theta, to_python(found.direction));
}

}  // namespace

void bind_networks(nb::module_& m) {
  m.def("train", train, "options"_a, "data"_a.none(), "test"_a.none(), "out"_a.none(), "force"_a,
        "resume"_a.none());
  m.def("teleport_network", teleport_network, "weights"_a, "batch"_a, "options"_a);
  m.def("gradient", gradient_of, "weights"_a, "batch"_a, "activation"_a, "loss"_a.none(),
        "threads"_a = 1);
  m.def("white_direction", white_direction, "weights"_a, "batch"_a, "activation"_a, "loss"_a.none(),
        "damping"_a.none(), "threads"_a = 1);
}

}  // namespace symport::python
