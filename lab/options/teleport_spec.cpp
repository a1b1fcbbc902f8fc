// SPDX-License-Identifier: MIT
#include "lab/options/teleport_spec.hpp"

#include <limits>

#include "symport/search/closed_form.hpp"

namespace symport::lab {

namespace {

/// "ascent 10, fixed 10, random 10": the defaults of an option that not every search has.
template <class Number>
std::string defaults_by_search(std::optional<Number> SearchEntry::*option) {
  std::vector<std::string> parts;
  for (const SearchEntry& search : searches()) {
    if (search.*option) parts.push_back(fmt::format("{} {}", search.name, *(search.*option)));
  }
  return join(parts);
}

/// `number` becomes the search's own where it is open.
template <class Number>
void settle(const SearchEntry& search, const char* name, std::optional<Number> SearchEntry::*option,
            std::optional<Number>& number) {
  if (!number) {
    number = search.*option;
  } else if (!(search.*option)) {
    std::vector<std::string> having;
    for (const SearchEntry& other : searches()) {
      if (other.*option) having.push_back(other.name);
    }
    throw OptionError(name,
                      fmt::format("the search '{}' has no such option; searches that have it: {}",
                                  search.name, join(having)));
  }
}

/// Steps and their rate are those of an ascent, where the usual search has none.
void settle_automatic_search(TeleportSpec& spec) {
  const SearchEntry& usual = find_entry(searches(), spec.search);
  if ((spec.search_steps && !usual.steps) || (spec.search_rate && !usual.rate)) {
    spec.search = "ascent";
  }
}

}  // namespace

const OptionTable<TeleportSpec>& teleport_options() {
  using S = TeleportSpec;
  static const OptionTable<S> table(
      teleport_group,
      {row({"search", "NAME",
            fmt::format("how the destination is found: {} (default {}: the best for the symmetry)",
                        join(names_of(searches())), S{}.search)},
           &S::search, as_name_of(searches())),
       row({"search-steps", "N",
            fmt::format("steps of the search; with the search auto they are those of an ascent "
                        "(default: {})",
                        defaults_by_search(&SearchEntry::steps))},
           &S::search_steps, as_whole(1)),
       row({"search-rate", "RATE",
            fmt::format("step size of the search (default: {})",
                        defaults_by_search(&SearchEntry::rate))},
           &S::search_rate, as_positive()),
       row({"objective", "NAME",
            fmt::format("what a teleport maximises: {} (default: {} for the search fixed, {} with "
                        "--lr auto, otherwise {})",
                        join(names_of(objectives())), to_string(ObjectiveKind::gradient_norm),
                        to_string(ObjectiveKind::decrement),
                        to_string(ObjectiveKind::predicted_decrease))},
           &S::objective, as_one_of(objectives(), &ObjectiveEntry::kind)),
       row({"bound", "C",
            "only destinations where rate * curvature along the gradient is at most C"},
           &S::bound, as_bound()),
       row({"cap", "C",
            fmt::format("only destinations where rate * largest curvature is at most C (default {} "
                        "for {}, {} in rehearsed mini-batches, otherwise {})",
                        default_cap(ObjectiveKind::predicted_decrease),
                        to_string(ObjectiveKind::predicted_decrease), minibatch_cap,
                        default_cap(ObjectiveKind::gradient_norm))},
           &S::cap, as_bound()),
       row({"state", "POLICY",
            fmt::format("what a teleport does to the optimizer's state: {}",
                        join(names_of(states()), " | "))},
           &S::state, as_one_of(states(), &StateEntry::policy)),
       row({"rehearsal", "N",
            "steps that are tried with and without a teleport before it is accepted; 0: only the "
            "next step decides, as in the paper (default: 20 for gd, otherwise 100, and up to "
            "four times as many while adagrad, rmsprop or adam leave it open; 40 in mini-batches; "
            "0 for --teleport auto and for the searches fixed and blind)"},
           &S::rehearsal, as_whole())});
  return table;
}

std::unique_ptr<Search> resolve_search(TeleportSpec& spec) {
  if (spec.search == "auto") settle_automatic_search(spec);
  const SearchEntry& entry = for_option(
      "search", [&]() -> auto& { return find_entry(searches(), spec.search); });
  settle(entry, "search-steps", &SearchEntry::steps, spec.search_steps);
  settle(entry, "search-rate", &SearchEntry::rate, spec.search_rate);
  return entry.make(spec.search_steps.value_or(0), spec.search_rate.value_or(0.0));
}

const OptionTable<NetworkTeleportSpec>& network_teleport_options() {
  using S = NetworkTeleportSpec;
  static const OptionTable<S> table = [] {
    OptionTable<S> rows(teleport_group,
                        {row({"symmetry", "NAME",
                              fmt::format("{} (default: rescale, which keeps the loss on all data, "
                                          "for linear, leaky_relu and relu; otherwise gl, which "
                                          "keeps it on the teleport's batch only)",
                                          join(names_of(network_symmetries())))},
                             &S::symmetry, as_name_of(network_symmetries()))});
    rows.include(teleport_options(), &S::how);
    rows.add(
        teleport_group,
        {row({"kappa", "K|auto",
              "bound on the scales of a closed form, > 1; a given one is not capped"},
             &S::kappa, or_word("auto", as_positive())),
         row({"allow-partial-batch", "",
              "where gl cannot keep the loss of the whole batch, keep that of the largest part "
              "it can"},
             &S::allow_partial_batch, as_switch())});
    return rows;
  }();
  return table;
}

std::string usual_symmetry(const Activation& activation) {
  return activation.positively_homogeneous() ? "rescale" : "gl";
}

void require_fitting_search(const std::string& name, const Search& search,
                            const std::string& symmetry, const Orbit& orbit) {
  if (search.fits(orbit)) return;
  throw OptionError(
      "search", fmt::format("found '{}', which does not fit the symmetry {}; allowed is {}", name,
                            symmetry, join(fitting_searches(orbit))));
}

template <Real Scalar>
TeleportPlan<Scalar> plan_teleport(const NetworkTeleportSpec& asked, const Activation& activation) {
  TeleportPlan<Scalar> plan{asked, nullptr, nullptr};
  NetworkTeleportSpec& spec = plan.spec;
  if (!spec.symmetry) spec.symmetry = usual_symmetry(activation);
  const NetworkSymmetryEntry& symmetry = for_option(
      "symmetry", [&]() -> auto& { return find_entry(network_symmetries(), *spec.symmetry); });
  if (spec.how.search == "auto") {
    spec.how.search = symmetry.search;
    settle_automatic_search(spec.how);
    if (!spec.how.search_steps) spec.how.search_steps = symmetry.search_steps;
    if (!spec.how.search_rate) spec.how.search_rate = symmetry.search_rate;
  }
  plan.symmetry = symmetry.factory.template make<Scalar>({spec.allow_partial_batch});
  plan.search = resolve_search(spec.how);
  if (spec.kappa) {
    if (spec.how.search != "closed") {
      throw OptionError("kappa", fmt::format("the search '{}' has no such bound; use "
                                             "--search closed (symmetries rescale and linear_gl)",
                                             spec.how.search));
    }
    plan.search = for_option("kappa", [&] {
      return std::make_unique<ClosedFormSearch>(ClosedFormOptions{.kappa = *spec.kappa});
    });
    // A given kappa is the user's own choice of how far to go.
    if (!spec.how.cap) spec.how.cap = std::numeric_limits<double>::infinity();
  }
  if (!spec.how.objective && spec.how.search == "fixed") {
    spec.how.objective = ObjectiveKind::gradient_norm;
  }
  if (spec.how.state == StatePolicy::transport &&
      !plan.symmetry->transports(StateKind::cotangent)) {
    throw OptionError("state", fmt::format("found 'transport', which the symmetry {} cannot; "
                                           "allowed is keep, reset",
                                           *spec.symmetry));
  }
  return plan;
}

template TeleportPlan<float> plan_teleport(const NetworkTeleportSpec&, const Activation&);
template TeleportPlan<double> plan_teleport(const NetworkTeleportSpec&, const Activation&);

}  // namespace symport::lab
