// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/output_options.hpp"
#include "commands/all.hpp"
#include "lab/runs/gauge_teleport.hpp"
#include "lab/runs/weights_teleport.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/data/npz.hpp"
#include "terminal/interruption.hpp"
#include "terminal/progress.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

using namespace lab;

namespace {

Json check_json(const WeightsCheck& check, const std::string& data) {
  Json json{{"data", data},
            {"samples", check.samples},
            {"loss_before", json_number(check.before.loss)},
            {"loss_after", json_number(check.after.loss)}};
  if (!std::isnan(check.before.accuracy)) {
    json["accuracy_before"] = json_number(check.before.accuracy);
    json["accuracy_after"] = json_number(check.after.accuracy);
  }
  return json;
}

/// Where the loss is kept, when that is not everywhere, and what happened elsewhere.
std::string scope_warning(const WeightsTeleportResult& result) {
  const Scope& scope = result.certificate.scope;
  if (scope.data == Scope::Data::all) return {};
  std::string text = fmt::format("symport teleport: the loss is kept {} only", scope.text());
  if (scope.checked > 0) {
    text += fmt::format("; on all {} it goes from {:.5g} to {:.5g}", scope.checked,
                        scope.loss_before, scope.loss_after);
  }
  if (result.check) {
    return text + fmt::format("; on the {} of --check it goes from {:.5g} to {:.5g}\n",
                              result.check->samples, result.check->before.loss,
                              result.check->after.loss);
  }
  return text + "; what becomes of it on other data, --check DATA measures\n";
}

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
  WeightsTeleportResult result;
  {
    Progress progress({.shown = options.shows_progress()});
    const auto line = [&] {
      return fmt::format("searching the orbit, {:.0f} s", progress.seconds());
    };
    result = teleport_weights(
        spec, [&](const std::string& text) { progress.message("symport teleport: " + text); },
        [&] { progress.update(line); });
  }
  const Certificate& certificate = result.certificate;
  const GracefulStop graceful;  // the file that follows is written whole
  if (certificate.accepted) write_npz(file, result.model, {.existing = options.existing()});

  Json json = json_certificate(certificate);
  json["symmetry"] = *result.spec.how.symmetry;
  json["activation"] = result.spec.activation->name();
  json["loss"] = result.spec.loss->name();
  json["learning_rate"] = result.spec.learning_rate->text();
  json["loss_invariant"] = result.loss_invariant;
  json["search"] = result.spec.how.how.search;
  json["precision"] = to_string(*result.spec.precision);
  json["note"] =
      "compare loss_before with the loss that your own program computes for the samples on which "
      "it "
      "is kept (scope): where they differ, activation or loss are not those of your network";
  if (result.check) json["check"] = check_json(*result.check, *result.spec.check);
  print(json_text(json));
  if (certificate.accepted) {
    print_error(scope_warning(result));
    return exit_done;
  }
  print_error(
      fmt::format("symport teleport: refused, nothing was written: {}\n", certificate.reason));
  return exit_failed;
}

/// The options of both ways; those that they share are listed once.
std::vector<Option> teleport_command_options() {
  std::vector<Option> more;
  for (const Option& option : gauge_teleport_options().options()) {
    if (!weights_teleport_options().has(option.name)) more.push_back(option);
  }
  return joined({weights_teleport_options().options(), more,
                 output_flags({{"out", "where the teleported weights go", "FILE"},
                               {"force", "let --out replace a file"},
                               "no-progress"})});
}

}  // namespace

Command teleport_command() {
  return {
      .name = "teleport",
      .summary = "teleport the weights of a network once; certificate as JSON on stdout",
      .details =
          "Moves the weights of a network along a symmetry of its loss to where the next steps\n"
          "of gradient descent gain more. The loss stays, on all data or on the batch: the\n"
          "certificate has the scope. Exit 0 when the teleport was accepted and written, 1 when\n"
          "it was refused (nothing is written), 2 for bad input.\n\n"
          "With --gauge: the tensors of any model (.safetensors or .npz), along the symmetries\n"
          "that a gauge file lists, to a point that needs no data: --objective balance, the\n"
          "smallest squared norm, or orthonormal, producers with orthonormal rows.",
      .examples =
          "symport teleport --weights W.npz --batch B.npz --activation relu --loss cross_entropy "
          "\\\n"
          "                 --lr 0.01 --out V.npz\n"
          "symport teleport --weights run/model.npz --batch B.npz --symmetry gl --lr auto \\\n"
          "                 --check TEST.npz --out V.npz\n"
          "symport teleport --weights model.safetensors --gauge gauge.json --objective balance \\\n"
          "                 --out balanced.safetensors",
      .options = teleport_command_options(),
      .run = run_teleport};
}

}  // namespace symport::cli
