// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/text/suggestion.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/test_function.hpp"
#include "symport/optimizers/optimizer.hpp"
#include "symport/search/search.hpp"
#include "symport/symmetries/symmetry.hpp"
#include "symport/training/teleportation.hpp"

/// The names that users type, and what they stand for. Everything that lists, suggests or makes
/// something by name reads these tables.
namespace symport::lab {

/// A test function with its symmetry.
struct Problem {
  std::unique_ptr<TestFunction> function;
  std::unique_ptr<Symmetry> symmetry;
  std::string specification;  ///< with all parameters: "ellipse:5"
};

/// A number in a function's name: the A of `ellipse:A`.
struct Parameter {
  std::string name;
  double value = 0.0;  ///< when it is not given
  bool whole = false;
  double smallest = 1.0;
  double largest = 1e300;
  std::string allowed() const;
};

struct FunctionEntry {
  std::string name;
  std::string summary;
  std::vector<Parameter> parameters;
  std::function<Problem(const std::vector<double>&)> make;
  std::string usage() const;  ///< "quadratic[:N,CONDITION]"
};

struct SymmetryEntry {
  std::string name;
  std::string summary;
};

template <Real Scalar>
using OptimizerFactory = std::function<std::unique_ptr<BasicOptimizer<Scalar>>()>;

struct OptimizerEntry {
  std::string name;
  std::string summary;
  OptimizerFactory<double> make;
  OptimizerFactory<float> make_float;
  /// The variant that finds its own rate (`--lr auto`); null where there is none.
  OptimizerFactory<double> make_automatic;
  OptimizerFactory<float> make_automatic_float;
};

struct SearchEntry {
  std::string name;
  std::string summary;
  /// The defaults of --search-steps and --search-rate; unset: the search has no such option.
  std::optional<Index> steps = std::nullopt;
  std::optional<double> rate = std::nullopt;
  /// What a teleport maximises when nothing is said.
  ObjectiveKind (*objective)(const Optimizer&) = default_objective<double>;
  /// Numbers for which the search has no option are ignored.
  std::function<std::unique_ptr<Search>(Index steps, double rate)> make;
};

struct ObjectiveEntry {
  std::string name;
  std::string summary;
  ObjectiveKind kind;
};

struct StateEntry {
  std::string name;
  std::string summary;
  StatePolicy policy;
};

const std::vector<FunctionEntry>& functions();
const std::vector<SymmetryEntry>& symmetries();
const std::vector<OptimizerEntry>& optimizers();
const std::vector<SearchEntry>& searches();
const std::vector<ObjectiveEntry>& objectives();
const std::vector<StateEntry>& states();

template <class Entry>
std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

/// Throws InvalidArgument that lists the names there are and suggests the nearest.
template <class Entry>
const Entry& find_entry(const std::vector<Entry>& entries, std::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry;
  }
  const std::vector<std::string> names = names_of(entries);
  throw InvalidArgument("name", fmt::format("'{}'", name), join(names) + did_you_mean(name, names));
}

/// "rosenbrock", "quadratic:10,1000", ... Parameters left out have their defaults. Throws
/// InvalidArgument.
Problem make_problem(const std::string& specification);

/// The names of the searches that can work on this orbit.
std::vector<std::string> fitting_searches(const Orbit& orbit);

}  // namespace symport::lab
