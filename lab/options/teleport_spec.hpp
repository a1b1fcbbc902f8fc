// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lab/options/option_table.hpp"
#include "lab/options/registry.hpp"
#include "symport/objectives/activation.hpp"

namespace symport::lab {

/// The group of all options that matter only where there are teleports.
inline constexpr const char* teleport_group = "Teleportation";

/// How the destination of a teleport is found and accepted: what functions and networks share.
/// Unset: the search, the symmetry or the optimizer decides.
struct TeleportSpec {
  std::string search = "auto";
  std::optional<Index> search_steps = std::nullopt;
  std::optional<double> search_rate = std::nullopt;
  std::optional<ObjectiveKind> objective = std::nullopt;
  double bound = Teleportation<double>{}.bound;
  std::optional<double> cap = std::nullopt;
  StatePolicy state = Teleportation<double>{}.state;
  std::optional<Index> rehearsal = std::nullopt;
};
const OptionTable<TeleportSpec>& teleport_options();

/// The search that `spec` names, and its numbers in `spec` where they were open. Throws OptionError
/// for a number that the search does not have.
std::unique_ptr<Search> resolve_search(TeleportSpec& spec);

/// The steps that a run with this optimizer rehearses (`rehearsal_of`). Of `spec` the search is
/// known.
template <Real Scalar>
Index rehearsal_of(TeleportSpec spec, const Schedule& schedule,
                   const BasicOptimizer<Scalar>& optimizer, bool minibatches = false) {
  const auto search = resolve_search(spec);
  return symport::rehearsal_of<Scalar>(
      {.search = search.get(), .schedule = schedule, .rehearsal = spec.rehearsal}, optimizer,
      minibatches);
}

/// The same of a network, which has several symmetries.
struct NetworkTeleportSpec {
  std::optional<std::string> symmetry = std::nullopt;  ///< unset: `usual_symmetry`
  TeleportSpec how{};
  std::optional<double> kappa = std::nullopt;  ///< unset: auto
  bool allow_partial_batch = false;
};
const OptionTable<NetworkTeleportSpec>& network_teleport_options();

/// The symmetry for networks with this activation when none is named: rescaling keeps the loss on
/// all data, so it is the one where the activation allows it; elsewhere gl, which is bound to the
/// batch.
std::string usual_symmetry(const Activation& activation);

/// Throws OptionError unless the search can work on this orbit.
void require_fitting_search(const std::string& name, const Search& search,
                            const std::string& symmetry, const Orbit& orbit);

/// Symmetry and search of a teleport, with nothing left open.
template <Real Scalar>
struct TeleportPlan {
  NetworkTeleportSpec spec;
  std::unique_ptr<BasicSymmetry<Scalar>> symmetry;
  std::unique_ptr<Search> search;

  Teleportation<Scalar> teleportation(Schedule schedule) const {
    return {.symmetry = schedule.empty() ? nullptr : symmetry.get(),
            .search = search.get(),
            .schedule = std::move(schedule),
            .state = spec.how.state,
            .objective = spec.how.objective,
            .bound = spec.how.bound,
            .cap = spec.how.cap,
            .rehearsal = spec.how.rehearsal};
  }
};

/// For networks with this activation. Throws OptionError where the options do not fit together.
template <Real Scalar>
TeleportPlan<Scalar> plan_teleport(const NetworkTeleportSpec& spec, const Activation& activation);

/// Calls `action`, in which a symmetry meets a network. An InvalidArgument about the activation is
/// one about that option, any other about the symmetry.
template <class Action>
decltype(auto) for_symmetry(Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const InvalidArgument& error) {
    throw OptionError(error.field() == "activation" ? "activation" : "symmetry", error.detail());
  }
}

}  // namespace symport::lab
