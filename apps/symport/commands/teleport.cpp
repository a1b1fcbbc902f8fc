// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/output_options.hpp"
#include "commands/all.hpp"
#include "lab/runs/weights_teleport.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/data/npz.hpp"
#include "terminal/interruption.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

using namespace lab;

namespace {

int run_teleport(const Arguments& arguments) {
  const OutputOptions options = read_output_options(arguments);
  const WeightsTeleportSpec spec = weights_teleport_options().read(arguments);
  if (!options.out) throw OptionError("out", "missing, allowed is a file to write, V.npz");
  if (std::filesystem::exists(*options.out) && !options.force) {
    throw OptionError("out", fmt::format("'{}' exists; --force replaces it", *options.out));
  }
  const WeightsTeleportResult result = teleport_weights(
      spec, [](const std::string& text) { print_error("symport teleport: " + text + "\n"); });
  const Certificate& certificate = result.certificate;
  const GracefulStop graceful;  // the file that follows is written whole
  if (certificate.accepted) write_npz(*options.out, result.model, {.existing = options.existing()});

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

}  // namespace

Command teleport_command() {
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
      .options = joined({weights_teleport_options().options(),
                         output_flags({{"out", "where the teleported weights go", "FILE.npz"},
                                       {"force", "let --out replace a file"}})}),
      .run = run_teleport};
}

}  // namespace symport::cli
