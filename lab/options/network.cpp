// SPDX-License-Identifier: MIT
#include "lab/options/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lab/text/parse_numbers.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/linear_network.hpp"
#include "symport/symmetries/paper_action.hpp"
#include "symport/symmetries/permutation.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/symmetries/sign_flip.hpp"

namespace symport::lab {

namespace {

template <template <Real> class Symmetry, Real Scalar>
std::unique_ptr<BasicSymmetry<Scalar>> make_plain(const NetworkSymmetryOptions&) {
  return std::make_unique<Symmetry<Scalar>>();
}

template <Real Scalar>
std::unique_ptr<BasicSymmetry<Scalar>> make_gl(const NetworkSymmetryOptions& options) {
  return std::make_unique<GeneralLinear<Scalar>>(
      GeneralLinearOptions{.allow_partial_batch = options.allow_partial_batch});
}

template <template <Real> class Symmetry>
NetworkSymmetryEntry entry(std::string name, std::string summary, std::string search) {
  return {std::move(name), std::move(summary), std::move(search), make_plain<Symmetry, double>,
          make_plain<Symmetry, float>};
}

NetworkSymmetryEntry paper_entry() {
  NetworkSymmetryEntry paper = entry<PaperAction>(
      "paper", "eq. (8) as printed, with I+T and I-T: NOT loss-invariant, to reproduce the paper",
      "fixed");
  paper.search_steps = 8;  // appendix D: gradient descent on the regression
  paper.search_rate = 1e-7;
  return paper;
}

}  // namespace

std::string_view to_string(Precision precision) {
  return precision == Precision::single ? "float" : "double";
}

Precision parse_precision(const std::string& text) {
  if (text == "float") return Precision::single;
  if (text == "double") return Precision::twice;
  throw InvalidArgument("precision", fmt::format("'{}'", text), "float, double");
}

const std::vector<NetworkSymmetryEntry>& network_symmetries() {
  static const std::vector<NetworkSymmetryEntry> entries{
      {"gl", "invertible matrices on every hidden layer, exact on the batch; bijective activations",
       "ascent", make_gl<double>, make_gl<float>},
      entry<PositiveScalingSymmetry>(
          "rescale", "positive rescaling of hidden units, on all data; leaky_relu, relu, linear",
          "closed"),
      entry<LinearNetworkSymmetry>("linear_gl",
                                   "invertible matrices on hidden layers of a linear network, on "
                                   "all data",
                                   "closed"),
      entry<PermutationSymmetry>("permutation",
                                 "of hidden units, on all data; changes no gradient "
                                 "norm",
                                 "random"),
      entry<SignFlipSymmetry>("sign_flip",
                              "of hidden units, on all data; odd activations; changes no gradient "
                              "norm",
                              "random"),
      paper_entry(),
  };
  return entries;
}

std::vector<Option> teleport_flags(const std::string& group) {
  const TeleportOptions defaults;
  return {
      {"symmetry", "NAME",
       fmt::format("{} (default {})", join(names_of(network_symmetries())), defaults.symmetry),
       group},
      {"search", "NAME",
       fmt::format("how the destination is found: {}\n(default {}: the best for the symmetry)",
                   join(names_of(searches())), defaults.search),
       group},
      {"search-steps", "N", "steps of the search (default: the search's own)", group},
      {"search-rate", "RATE", "step size of the search (default: the search's own)", group},
      {"objective", "NAME",
       fmt::format(
           "what a teleport maximises: {}\n(default: {} at a given rate, {} without one, {} "
           "for the search fixed)",
           join(names_of(objectives())), to_string(ObjectiveKind::predicted_decrease),
           to_string(ObjectiveKind::decrement), to_string(ObjectiveKind::gradient_norm)),
       group},
      {"bound", "C",
       fmt::format("only destinations where rate * curvature along the gradient <= C (default {})",
                   defaults.bound),
       group},
      {"cap", "C",
       fmt::format(
           "only destinations where rate * largest curvature <= C\n(default {} for {}, else "
           "{})",
           default_cap(ObjectiveKind::predicted_decrease),
           to_string(ObjectiveKind::predicted_decrease), default_cap(ObjectiveKind::gradient_norm)),
       group},
      {"kappa", "K|auto",
       "bound on the scales of a closed form, > 1; a given one is not capped (default auto)",
       group},
      {"allow-partial-batch", "",
       "where gl cannot keep the whole batch, keep the largest part that it can", group},
  };
}

TeleportOptions read_teleport_options(const Given& given) {
  TeleportOptions options;
  const auto take = [&](const char* name, auto parse, auto& field) {
    if (auto value = given.read(name, parse)) field = std::move(*value);
  };
  const auto text = [](const std::string& value) { return value; };
  const auto whole = [](const std::string& value) { return parse_whole(value, 1); };
  take("symmetry", text, options.symmetry);
  take("search", text, options.search);
  take("search-steps", whole, options.search_steps);
  take("search-rate", parse_positive, options.search_rate);
  take(
      "objective", [](const std::string& value) { return find_entry(objectives(), value).kind; },
      options.objective);
  take("bound", parse_bound, options.bound);
  take("cap", parse_bound, options.cap);
  if (given.text("kappa") != "auto") take("kappa", parse_positive, options.kappa);
  take(
      "state", [](const std::string& value) { return find_entry(states(), value).policy; },
      options.state);
  options.allow_partial_batch = given.is_on("allow-partial-batch");
  return options;
}

void add_teleport_entries(const TeleportOptions& options, std::vector<ConfigEntry>& entries) {
  entries.push_back({"symmetry", options.symmetry, {}});
  entries.push_back({"search", options.search, {}});
  if (options.search_steps) {
    entries.push_back({"search-steps", static_cast<std::int64_t>(*options.search_steps), {}});
  }
  if (options.search_rate) entries.push_back({"search-rate", *options.search_rate, {}});
  if (options.objective) {
    entries.push_back({"objective", std::string(to_string(*options.objective)), {}});
  }
  entries.push_back({"bound", options.bound, {}});
  if (options.cap) entries.push_back({"cap", *options.cap, {}});
  if (options.kappa) {
    entries.push_back({"kappa", *options.kappa, {}});
  } else {
    entries.push_back({"kappa", std::string("auto"), {}});
  }
  entries.push_back({"allow-partial-batch", options.allow_partial_batch, {}});
  entries.push_back({"state", std::string(to_string(options.state)), {}});
}

template <Real Scalar>
TeleportPlan<Scalar>::TeleportPlan(const TeleportOptions& options, const Given& given)
    : options_(options) {
  const NetworkSymmetryEntry& symmetry = blaming(
      given.origin("symmetry"), [&]() -> auto& {
        return find_entry(network_symmetries(), options.symmetry);
      });
  const NetworkSymmetryOptions symmetry_options{.allow_partial_batch = options.allow_partial_batch};
  if constexpr (std::same_as<Scalar, float>) {
    symmetry_ = symmetry.make_float(symmetry_options);
  } else {
    symmetry_ = symmetry.make(symmetry_options);
  }

  const bool automatic = options.search == "auto";
  if (automatic) options_.search = symmetry.search;
  const SearchEntry& search = blaming(
      given.origin("search"), [&]() -> auto& { return find_entry(searches(), options_.search); });
  const auto settle = [&](const char* name, auto& value, const auto& by_search,
                          const auto& by_symmetry) {
    if (value && !by_search) {
      throw UsageError(given.origin(name),
                       fmt::format("the search '{}' of the symmetry '{}' has no such option",
                                   search.name, symmetry.name));
    }
    if (!value) value = automatic && by_symmetry ? by_symmetry : by_search;
  };
  settle("search-steps", options_.search_steps, search.steps, symmetry.search_steps);
  settle("search-rate", options_.search_rate, search.rate, symmetry.search_rate);
  if (options_.kappa && search.name != "closed") {
    throw UsageError(given.origin("kappa"),
                     fmt::format("the search '{}' has no such bound; it goes with --search closed "
                                 "(symmetries rescale and linear_gl)",
                                 search.name));
  }
  search_ = options_.kappa ? blaming(given.origin("kappa"),
                                     [&] {
                                       return std::make_unique<ClosedFormSearch>(
                                           ClosedFormOptions{.kappa = *options_.kappa});
                                     })
                           : search.make(options_.search_steps.value_or(0),
                                         options_.search_rate.value_or(0.0));
  // A given kappa is the user's own choice of how far to go.
  if (options_.kappa && !options_.cap) options_.cap = std::numeric_limits<double>::infinity();
  if (!options_.objective && search.name == "fixed") {
    options_.objective = ObjectiveKind::gradient_norm;
  }
}

template <Real Scalar>
Teleportation<Scalar> TeleportPlan<Scalar>::teleportation(Schedule schedule) const {
  return {.symmetry = symmetry_.get(),
          .search = search_.get(),
          .schedule = std::move(schedule),
          .state = options_.state,
          .objective = options_.objective,
          .bound = options_.bound,
          .cap = options_.cap};
}

template class TeleportPlan<float>;
template class TeleportPlan<double>;

}  // namespace symport::lab
