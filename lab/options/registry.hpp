// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/text/errors.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/same_name.hpp"
#include "symport/objectives/mlp.hpp"
#include "symport/objectives/test_function.hpp"
#include "symport/optimizers/optimizer.hpp"
#include "symport/schedules/learning_rate.hpp"
#include "symport/search/search.hpp"
#include "symport/symmetries/symmetry.hpp"
#include "symport/training/teleportation.hpp"

/// The names that users type, and what they stand for. Everything that lists, suggests or makes
/// something by name reads these tables.
namespace symport::lab {

/// A test function with its symmetry.
struct FunctionProblem {
  std::unique_ptr<TestFunction> function;
  std::unique_ptr<Symmetry> symmetry;  ///< null for a formula of which none is stated
  std::string specification;           ///< with all parameters: "ellipse:5"
};

/// A number in a function's name: the A of `ellipse:A`.
struct Parameter {
  std::string name;
  double value = 0.0;  ///< when it is not given; NaN: then the function does without
  bool whole = false;
  double smallest = 1.0;
  double largest = 1e300;
  std::string allowed() const;
};

struct FunctionEntry {
  std::string name;
  std::string summary;
  std::vector<Parameter> parameters;
  std::function<FunctionProblem(const std::vector<double>&)> make;
  std::string usage() const;  ///< "quadratic[:N,CONDITION]"
};

struct SymmetryEntry {
  std::string name;
  std::string summary;
};

/// Makes something in either precision.
template <class InDouble, class InFloat, class... Arguments>
struct Factory {
  std::function<std::unique_ptr<InDouble>(Arguments...)> in_double{};
  std::function<std::unique_ptr<InFloat>(Arguments...)> in_float{};

  explicit operator bool() const { return in_double != nullptr; }
  template <Real Scalar>
  auto make(Arguments... arguments) const {
    if constexpr (std::same_as<Scalar, float>) {
      return in_float(arguments...);
    } else {
      return in_double(arguments...);
    }
  }
};
/// What an optimizer steps in. All but the number may be unknown.
struct OptimizerPlace {
  Index parameters = 0;
  const ParameterLayout* layout = nullptr;
  const Mlp* network = nullptr;

  OptimizerPlace(Index count) : parameters(count) {}
  OptimizerPlace(const ParameterLayout& of) : parameters(of.size()), layout(&of) {}
  OptimizerPlace(const Mlp& of) : parameters(of.parameters()), layout(&of.layout()), network(&of) {}
};
using OptimizerFactory =
    Factory<BasicOptimizer<double>, BasicOptimizer<float>, const OptimizerPlace&>;

/// Of an optimizer, where the problem's own rate is that of gradient descent.
struct UsualRate {
  std::optional<double> on_networks{};   ///< unset: the problem's
  std::optional<double> on_functions{};  ///< unset: `share` of the function's
  double share = 1.0;
};

struct OptimizerEntry {
  std::string name;
  std::string summary;
  OptimizerFactory plain;
  /// The variant that finds its own rate (`--lr auto`); null where there is none.
  OptimizerFactory automatic{};
  std::vector<std::string> aliases{};  ///< other names that people know it by
  /// The learning rate where none is given.
  UsualRate rate{};
};

struct SearchEntry {
  std::string name;
  std::string summary;
  /// The defaults of --search-steps and --search-rate; unset: the search has no such option.
  std::optional<Index> steps = std::nullopt;
  std::optional<double> rate = std::nullopt;
  /// What a teleport maximises by default.
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

struct NetworkSymmetryOptions {
  bool allow_partial_batch = false;
};

using SymmetryFactory =
    Factory<BasicSymmetry<double>, BasicSymmetry<float>, const NetworkSymmetryOptions&>;

struct NetworkSymmetryEntry {
  std::string name;
  std::string summary;
  std::string search;  ///< the one that `--search auto` stands for
  SymmetryFactory factory;
  std::optional<Index> search_steps = std::nullopt;  ///< other defaults than the search's own
  std::optional<double> search_rate = std::nullopt;
};

const std::vector<FunctionEntry>& functions();
const std::vector<SymmetryEntry>& symmetries();
const std::vector<NetworkSymmetryEntry>& network_symmetries();
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

/// In any case, as `same_name` compares; null where there is none.
template <class Entry>
const Entry* entry_named(const std::vector<Entry>& entries, std::string_view name) {
  for (const Entry& entry : entries) {
    if (same_name(entry.name, name)) return &entry;
    if constexpr (requires { entry.aliases; }) {
      for (const std::string& alias : entry.aliases) {
        if (same_name(alias, name)) return &entry;
      }
    }
  }
  return nullptr;
}

/// Throws InvalidArgument that lists the names there are and suggests the nearest.
template <class Entry>
const Entry& find_entry(const std::vector<Entry>& entries, std::string_view name) {
  if (const Entry* entry = entry_named(entries, name)) return *entry;
  const std::vector<std::string> names = names_of(entries);
  throw InvalidArgument("name", fmt::format("'{}'", name), join(names) + did_you_mean(name, names));
}

/// "rosenbrock", "quadratic:10,1000", ..., or a formula in x1, x2, ... Parameters left out have
/// their defaults. Throws InvalidArgument.
FunctionProblem make_problem(const std::string& specification);
/// "own:NAME": a function that exists in somebody's program only. Runs of it can be read and drawn,
/// not repeated.
inline bool is_own_name(std::string_view specification) {
  return specification.starts_with("own:");
}
/// The same function with all its parameters: "quadratic" becomes "quadratic:10,100".
std::string full_specification(const std::string& specification);

/// The optimizer of that name for these parameters; `automatic`: the variant that measures its
/// steps. Throws OptionError about "optimizer" or "lr".
template <Real Scalar>
std::unique_ptr<BasicOptimizer<Scalar>> make_optimizer(const std::string& name, bool automatic,
                                                       const OptimizerPlace& place);

/// Where it steps on a test function.
OptimizerPlace place_of(const TestFunction& function);

/// The names of the searches that can work on this orbit.
std::vector<std::string> fitting_searches(const Orbit& orbit);

}  // namespace symport::lab
