// SPDX-License-Identifier: MIT
#include "lab/compare/problem.hpp"

#include <algorithm>

namespace symport::lab::compare {

namespace {

constexpr const char* problem_origin = "PROBLEM";
/// What every function has besides its own symmetry.
constexpr const char* level_set_kind = "level_set";

template <class Spec>
Spec with_options(const OptionTable<Spec>& table, const Problem& problem, const Method& method) {
  for (const Argument& argument : method.options) {
    if (!table.has(argument.name)) {
      throw UsageError(argument.origin, fmt::format("{} has no such option", problem.name));
    }
  }
  return table.read(method.options, std::get<Spec>(problem.spec));
}

/// Whether a symmetry of this name, such as SO(4), is meant by what `symport list` has: SO(2N),
/// O(n) and GL(r) stand for all sizes.
bool is_called(const std::string& name, const std::string& listed) {
  const std::size_t open = listed.find('(');
  if (same_name(name, listed)) return true;
  if (open == std::string::npos ||
      !same_name(name.substr(0, name.find('(')), listed.substr(0, open)))
    return false;
  const std::string size = listed.substr(open);
  return same_name(size, "(2N)") || same_name(size, "(n)") || same_name(size, "(r)");
}

/// A function has one symmetry.
void require_symmetry(const Problem& problem, const Method& method) {
  const std::string name = make_problem(problem.name).symmetry->name();
  if (method.kind == "teleport" || method.kind == "random" || is_called(name, method.kind) ||
      method.kind == level_set_kind) {
    return;
  }
  throw UsageError(fmt::format("--method '{}'", method.text),
                   fmt::format("{} has the symmetry {}, not {}; '+teleport' is every problem's "
                               "usual one",
                               problem.name, name, method.kind));
}

/// A network has those that are named.
std::optional<std::string> symmetry_of(const Method& method) {
  if (method.kind == "random") return "rescale";       // as Armenta et al.
  if (method.kind == "teleport") return std::nullopt;  // the usual one
  return method.kind;
}

}  // namespace

bool Problem::minibatch() const {
  const auto* network = std::get_if<NetworkRunSpec>(&spec);
  return network && network->minibatch();
}

bool Problem::data_set() const {
  const auto* network = std::get_if<NetworkRunSpec>(&spec);
  return network && parse_data_source(network->data).generated == nullptr;
}

Problem parse_problem(const std::string& name, const NetworkRunSpec& network,
                      const Arguments& given) {
  std::vector<std::string> known = names_of(functions());
  if (std::find(known.begin(), known.end(), name.substr(0, name.find(':'))) != known.end()) {
    with_origin(problem_origin, [&] { full_specification(name); });
    Problem problem{name, FunctionRunSpec{.function = name}, {}};
    problem.given.add({"function", name, problem_origin});
    return problem;
  }
  try {
    parse_data_source(name);
  } catch (const OptionError&) {
    for (const GeneratedSet& set : generated_sets()) known.push_back(set.name);
    for (const CatalogEntry& entry : data_catalog()) known.push_back(entry.name);
    throw UsageError(problem_origin,
                     fmt::format("found '{}', allowed is {}, idx:DIR, csv:FILE or an .npz file{}",
                                 name, join(known), did_you_mean(name, known)));
  }
  Problem problem{name, network, given};
  std::get<NetworkRunSpec>(problem.spec).data = name;
  problem.given.add({"data", name, problem_origin});
  return problem;
}

RunSpec spec_for(const Problem& problem, const Method& method) {
  if (problem.is_function()) {
    if (method.teleports() && !method.round_trips()) require_symmetry(problem, method);
    FunctionRunSpec spec = with_options(function_run_options(), problem, method);
    if (method.kind == level_set_kind) spec.symmetry = level_set_kind;
    return spec;
  }
  NetworkRunSpec spec = with_options(network_run_options(), problem, method);
  if (method.teleports() && !method.round_trips() && !method.options.has("symmetry")) {
    spec.how.symmetry = symmetry_of(method);
  }
  return spec;
}

}  // namespace symport::lab::compare
