// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/config/config_file.hpp"
#include "lab/options/given.hpp"
#include "lab/options/option.hpp"
#include "lab/options/registry.hpp"
#include "symport/objectives/mlp_objective.hpp"
#include "symport/training/teleportation.hpp"

/// What the commands that work on networks have in common: the names of symmetries, the options of
/// a teleport, and the way from files to the library's objects.
namespace symport::lab {

enum class Precision { single, twice };
std::string_view to_string(Precision precision);  // "float", "double"
Precision parse_precision(const std::string& text);

/// Of the hidden layers, when none is named: the paper's.
inline Activation default_activation() { return Activation(Activation::Kind::leaky_relu); }

struct NetworkSymmetryOptions {
  bool allow_partial_batch = false;
};

template <Real Scalar>
using NetworkSymmetryFactory =
    std::function<std::unique_ptr<BasicSymmetry<Scalar>>(const NetworkSymmetryOptions&)>;

struct NetworkSymmetryEntry {
  std::string name;
  std::string summary;
  std::string search;  ///< the one that `--search auto` stands for
  NetworkSymmetryFactory<double> make;
  NetworkSymmetryFactory<float> make_float;
  std::optional<Index> search_steps = std::nullopt;  ///< other defaults than the search's own
  std::optional<double> search_rate = std::nullopt;
};
const std::vector<NetworkSymmetryEntry>& network_symmetries();

/// How to teleport a network. Unset: the symmetry, the search or the optimizer decides.
struct TeleportOptions {
  std::string symmetry = "gl";
  std::string search = "auto";
  std::optional<Index> search_steps = std::nullopt;
  std::optional<double> search_rate = std::nullopt;
  std::optional<ObjectiveKind> objective = std::nullopt;
  double bound = Teleportation<double>{}.bound;
  std::optional<double> cap = std::nullopt;
  std::optional<double> kappa = std::nullopt;  ///< unset: auto
  StatePolicy state = Teleportation<double>{}.state;
  bool allow_partial_batch = NetworkSymmetryOptions{}.allow_partial_batch;
};

/// The flags of these options, for a command's help.
std::vector<Option> teleport_flags(const std::string& group);
TeleportOptions read_teleport_options(const Given& given);
/// The resolved options as lines of a configuration file.
void add_teleport_entries(const TeleportOptions& options, std::vector<ConfigEntry>& entries);

/// Symmetry and search of a teleport, with nothing left open.
template <Real Scalar>
class TeleportPlan {
 public:
  /// Checks that the options fit together. Complaints call them as `given` does.
  TeleportPlan(const TeleportOptions& options, const Given& given);

  Teleportation<Scalar> teleportation(Schedule schedule) const;
  const BasicSymmetry<Scalar>& symmetry() const { return *symmetry_; }
  const Search& search() const { return *search_; }
  const TeleportOptions& options() const { return options_; }  ///< resolved

 private:
  TeleportOptions options_;
  std::unique_ptr<BasicSymmetry<Scalar>> symmetry_;
  std::unique_ptr<Search> search_;
};

/// Calls `action`, in which a symmetry meets a network; a complaint about the activation is blamed
/// on that option, any other on the symmetry.
template <class Action>
decltype(auto) blaming_symmetry(const Given& given, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const InvalidArgument& error) {
    const char* option = error.field() == "activation" ? "activation" : "symmetry";
    throw UsageError(given.origin(option), error.detail());
  }
}

}  // namespace symport::lab
