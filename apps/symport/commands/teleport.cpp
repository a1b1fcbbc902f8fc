// SPDX-License-Identifier: MIT
#include "commands/teleport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "lab/options/network.hpp"
#include "lab/options/threads.hpp"
#include "lab/text/json_forms.hpp"
#include "lab/text/parse_numbers.hpp"
#include "symport/data/npz.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/training/mlp_file.hpp"
#include "symport/training/sample_targets.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

using namespace lab;

namespace {

/// The flag's text; without it the command cannot do anything.
std::string required(const Given& given, const std::string& name, const std::string& what) {
  const auto text = given.text(name);
  if (!text) throw UsageError("--" + name, "missing, allowed is " + what);
  return *text;
}

/// float when every array of the file is of that type, else double.
Precision precision_of(const ArrayMap& arrays) {
  const auto single = [](const auto& entry) { return entry.second.dtype() == DType::f4; };
  return std::all_of(arrays.begin(), arrays.end(), single) ? Precision::single : Precision::twice;
}

template <Real Scalar>
int teleport_network(const Given& given, const ArrayMap& arrays, const std::string& weights_file,
                     const std::filesystem::path& out) {
  const auto activation = given.read("activation", Activation::parse);
  auto stored =
      mlp_from_arrays<Scalar>(arrays, weights_file, activation.value_or(default_activation()));
  const Mlp& network = stored.network;
  VectorOf<Scalar>& w = stored.w;
  const Index outputs = network.width(network.layers());
  const std::string batch_file = required(given, "batch", "an .npz file with X and y or Y");
  const auto samples = read_samples<Scalar>(batch_file, {.count = outputs});
  const Loss loss = given.read("loss", Loss::parse).value_or(Loss::usual(!samples.classes.empty()));
  const MlpObjective<Scalar> objective = blaming(given.origin("batch"), [&] {
    return MlpObjective<Scalar>(network, loss, samples.X, targets_of(samples));
  });

  const TeleportPlan<Scalar> plan(read_teleport_options(given), given);
  const auto rate = given.read("lr", parse_positive);
  std::unique_ptr<BasicOptimizer<Scalar>> optimizer;
  if (rate) {
    optimizer = std::make_unique<GradientDescent<Scalar>>();
  } else {
    optimizer = std::make_unique<CurvatureDescent<Scalar>>();
  }
  Random random(given.read("seed", parse_seed).value_or(0));
  auto state = optimizer->init(w.size());
  const Certificate certificate = blaming_symmetry(given, [&] {
    return teleport_in_training<Scalar>(objective, *optimizer, rate.value_or(1.0),
                                        plan.teleportation(never()), random, state, w);
  });
  if (certificate.accepted) save_mlp<Scalar>(out, network, w);

  Json json = json_certificate(certificate);
  json["symmetry"] = plan.options().symmetry;
  json["loss_invariant"] = plan.symmetry().loss_invariant();
  json["search"] = plan.options().search;
  json["precision"] = to_string(std::same_as<Scalar, float> ? Precision::single : Precision::twice);
  print(json_text(json));
  if (certificate.accepted) return exit_done;
  print_error(
      fmt::format("symport teleport: refused, nothing was written: {}\n", certificate.reason));
  return exit_failed;
}

int run_teleport(const Given& given) {
  const std::string weights = required(given, "weights", "an .npz file with W1, W2, ...");
  const std::filesystem::path out = required(given, "out", "a file to write, V.npz");
  if (std::filesystem::exists(out) && !given.is_on("force")) {
    throw UsageError(given.origin("out"),
                     fmt::format("'{}' exists; --force replaces it", out.string()));
  }
  const ThreadScope threads(static_cast<int>(given.read("threads", parse_threads).value_or(1)));
  tell_of_fewer_threads(
      threads, [](const std::string& text) { print_error("symport teleport: " + text + "\n"); });
  const ArrayMap arrays = read_npz(weights);
  const Precision precision =
      given.read("precision", parse_precision).value_or(precision_of(arrays));
  return precision == Precision::single ? teleport_network<float>(given, arrays, weights, out)
                                        : teleport_network<double>(given, arrays, weights, out);
}

}  // namespace

Command teleport_command() {
  const std::string network = "Network", teleport = "Teleport";
  std::vector<Option> options{
      {"weights", "FILE.npz", "W1 (out x in), W2, ..., with b1, b2, ... or without", network},
      {"batch", "FILE.npz", "X (samples x features) and y (classes) or Y (samples x outputs)",
       network},
      {"activation", "NAME",
       fmt::format("of the hidden layers: linear, leaky_relu[:a], relu, tanh, sigmoid, asinh,\n"
                   "tanh_extended[:N], sigmoid_extended[:N] (default {})",
                   default_activation().name()),
       network},
      {"loss", "NAME",
       "half_sum_squares, mean_squares, cross_entropy, each with :sum or :mean\n"
       "(default: cross_entropy for y, half_sum_squares for Y)",
       network},
      {"lr", "RATE",
       "learning rate of the steps that will follow (default: none, the best step length)",
       teleport},
  };
  for (Option& option : teleport_flags(teleport)) options.push_back(std::move(option));
  options.push_back({"seed", "N", "of the random numbers in searches (default 0)", teleport});
  options.push_back({"precision", "float|double", "(default: that of the weights)", network});
  options.push_back({"threads", "N",
                     "of the matrix products, up to one for every processor (default 1)", network});
  options.push_back({"out", "FILE.npz", "where the teleported weights go", "Output"});
  options.push_back({"force", "", "let --out replace a file", "Output"});
  return {
      .name = "teleport",
      .summary = "teleport the weights of a network once; certificate as JSON on stdout",
      .details =
          "Moves the weights of a network along a symmetry of its loss to where the next steps\n"
          "of gradient descent gain more. The loss stays; exit 0 when the teleport was accepted\n"
          "and written, 1 when it was refused (nothing is written), 2 for bad input.",
      .examples =
          "symport teleport --weights W.npz --batch B.npz --activation leaky_relu:0.1 "
          "--lr 1e-3 --out V.npz\n"
          "symport teleport --weights W.npz --batch B.npz --symmetry rescale --kappa 2 "
          "--out V.npz",
      .positionals = {},
      .options = options,
      .run = run_teleport};
}

}  // namespace symport::cli
