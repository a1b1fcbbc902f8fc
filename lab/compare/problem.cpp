// SPDX-License-Identifier: MIT
#include "lab/compare/problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "commands/optimize.hpp"
#include "commands/train.hpp"
#include "lab/data/catalog.hpp"
#include "lab/options/network.hpp"
#include "lab/options/registry.hpp"
#include "lab/text/suggestion.hpp"

namespace symport::lab::compare {

namespace {

constexpr const char* generated = "regression";

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// idx:DIR, csv:FILE, FILE.npz
bool looks_like_data(const std::string& name) {
  return name.starts_with("idx:") || name.starts_with("csv:") || name.ends_with(".npz");
}

/// A function has one symmetry, a network those that are named.
void choose_symmetry(const Problem& problem, const Method& method, Given& options) {
  const std::string origin = fmt::format("--method '{}'", method.text);
  if (problem.function) {
    const auto made = blaming("PROBLEM", [&] { return make_problem(problem.name); });
    const std::string name = made.symmetry->name();
    if (method.kind == "teleport" || method.kind == "random" || method.kind == name) return;
    throw UsageError(origin, fmt::format("{} has the symmetry {}, not {}; '+teleport' is every "
                                         "problem's usual one",
                                         problem.name, name, method.kind));
  }
  // Armenta et al. draw random positive scales of the hidden units.
  const std::string usual = method.kind == "random" ? "rescale" : TeleportOptions{}.symmetry;
  const bool named = method.kind != "teleport" && method.kind != "random";
  if (options.has("symmetry")) return;
  options.set("symmetry", {named ? method.kind : usual, origin});
}

}  // namespace

bool Problem::data_set() const { return !function && name != generated; }

const std::vector<std::string>& network_options() {
  static const std::vector<std::string> names{"layers",  "activation", "bias",    "loss",
                                              "init",    "samples",    "batch",   "label",
                                              "threads", "precision",  "data-dir"};
  return names;
}

Problem parse_problem(const std::string& name, const Given& given) {
  const std::vector<std::string> functions_there = names_of(functions());
  Problem problem{.name = name};
  if (contains(functions_there, name.substr(0, name.find(':')))) {
    blaming("PROBLEM", [&] { make_problem(name); });
    problem.options.set("function", {name, "PROBLEM"});
    return problem;
  }
  std::vector<std::string> known = functions_there;
  known.push_back(generated);
  for (const CatalogEntry& entry : data_catalog()) known.push_back(entry.name);
  if (!contains(known, name) && !looks_like_data(name)) {
    throw UsageError("PROBLEM",
                     fmt::format("found '{}', allowed is {}, idx:DIR, csv:FILE or an .npz "
                                 "file{}",
                                 name, join(known), did_you_mean(name, known)));
  }
  problem.function = false;
  problem.options.set("data", {name, "PROBLEM"});
  for (const std::string& option : network_options()) {
    if (const auto text = given.text(option)) {
      problem.options.set(option, {*text, given.origin(option)});
    }
  }
  const auto batch = given.text("batch");
  problem.minibatch = batch && *batch != "full";
  return problem;
}

Given options_for(const Problem& problem, const Method& method) {
  Given options = method.options;
  if (method.teleports()) choose_symmetry(problem, method, options);
  const cli::Command command = problem.function ? cli::optimize_command() : cli::train_command();
  std::vector<std::string> known;
  for (const Option& option : command.options) known.push_back(option.name);
  for (const std::string& name : options.names()) {
    if (!contains(known, name)) {
      throw UsageError(options.origin(name), fmt::format("{} has no such option", problem.name));
    }
  }
  options.merge(problem.options);
  return options;
}

}  // namespace symport::lab::compare
