// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/output_options.hpp"
#include "commands/all.hpp"
#include "lab/runs/gauge_teleport.hpp"
#include "lab/runs/weights_teleport.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/data/npz.hpp"
#include "terminal/interruption.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

using namespace lab;

namespace {

/// The file to write, which is not there yet.
std::string output_file(const OutputOptions& options, const char* allowed) {
  if (!options.out) {
    throw OptionError("out", fmt::format("missing, allowed is a file to write, {}", allowed));
  }
  if (std::filesystem::exists(*options.out) && !options.force) {
    throw OptionError("out", fmt::format("'{}' exists; --force replaces it", *options.out));
  }
  return *options.out;
}

/// Without a batch: a gauge file names the symmetries of any model.
int run_gauge(const Arguments& arguments, const OutputOptions& options) {
  for (const Option& option : weights_teleport_options().options()) {
    if (arguments.has(option.name) && !gauge_teleport_options().has(option.name)) {
      throw OptionError(option.name, "has no meaning with --gauge, where no loss is evaluated");
    }
  }
  const GaugeTeleportSpec spec = gauge_teleport_options().read(arguments);
  const std::string file = output_file(options, "V.safetensors or V.npz");
  const GaugeTeleportResult result = teleport_by_gauge(spec);
  const GracefulStop graceful;  // the file that follows is written whole
  if (result.certificate.accepted) write_tensors(file, result.tensors);
  print(json_of(result.certificate));
  if (result.certificate.accepted) return exit_done;
  print_error(fmt::format("symport teleport: refused, nothing was written: {}\n",
                          result.certificate.reason));
  return exit_failed;
}

int run_teleport(const Arguments& arguments) {
  const OutputOptions options = read_output_options(arguments);
  if (arguments.has("gauge")) return run_gauge(arguments, options);
  if (arguments.has("scales")) throw OptionError("scales", "needs --gauge");
  const WeightsTeleportSpec spec = weights_teleport_options().read(arguments);
  const std::string file = output_file(options, "V.npz");
  const WeightsTeleportResult result = teleport_weights(
      spec, [](const std::string& text) { print_error("symport teleport: " + text + "\n"); });
  const Certificate& certificate = result.certificate;
  const GracefulStop graceful;  // the file that follows is written whole
  if (certificate.accepted) write_npz(file, result.model, {.existing = options.existing()});

  Json json = json_certificate(certificate);
  json["symmetry"] = result.spec.how.symmetry;
  json["loss_invariant"] = result.loss_invariant;
  json["search"] = result.spec.how.how.search;
  json["precision"] = to_string(*result.spec.precision);
  print(json_text(json));
  if (certificate.accepted) return exit_done;
  print_error(
      fmt::format("symport teleport: refused, nothing was written: {}\n", certificate.reason));
  return exit_failed;
}

/// The options of both ways; those that they share are listed once.
std::vector<Option> options() {
  std::vector<Option> more;
  for (const Option& option : gauge_teleport_options().options()) {
    if (!weights_teleport_options().has(option.name)) more.push_back(option);
  }
  return joined({weights_teleport_options().options(), more,
                 output_flags({{"out", "where the teleported weights go", "FILE"},
                               {"force", "let --out replace a file"}})});
}

}  // namespace

Command teleport_command() {
  return {
      .name = "teleport",
      .summary = "teleport the weights of a network once; certificate as JSON on stdout",
      .details =
          "Moves the weights of a network along a symmetry of its loss to where the next steps\n"
          "of gradient descent gain more. The loss stays; exit 0 when the teleport was accepted\n"
          "and written, 1 when it was refused (nothing is written), 2 for bad input.\n\n"
          "With --gauge: the tensors of any model (.safetensors or .npz), along the symmetries\n"
          "that a gauge file lists, to a point that needs no data: --objective balance, the\n"
          "smallest squared norm, or orthonormal, producers with orthonormal rows.",
      .examples =
          "symport teleport --weights W.npz --batch B.npz --activation leaky_relu:0.1 "
          "--lr 1e-3 --out V.npz\n"
          "symport teleport --weights W.npz --batch B.npz --symmetry rescale --kappa 2 "
          "--out V.npz\n"
          "symport teleport --weights model.safetensors --gauge gauge.json --objective balance "
          "--out balanced.safetensors",
      .options = options(),
      .run = run_teleport};
}

}  // namespace symport::cli
