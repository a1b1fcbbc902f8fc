// SPDX-License-Identifier: MIT
#include "lab/compare/compare_options.hpp"

#include <algorithm>

#include "lab/compare/codecs.hpp"
#include "lab/config/config_writer.hpp"
#include "symport/core/version.hpp"

namespace symport::lab::compare {

namespace {

const std::vector<std::string> usual_problems{"rosenbrock", "booth", "quadratic", "factorization"};
const std::vector<std::string> usual_methods{
    "gd",
    "gd:lr=auto",
    "newton",
    "gd+teleport:every=100+99",
    "gd:lr=auto+teleport:every=5,search=ascent,search-steps=2",
    "gd+random:every=10"};
/// Schedules of mini-batches count epochs, and Newton's method is not for them.
const std::vector<std::string> usual_minibatch_methods{"gd", "adam", "gd+rescale:every=2",
                                                       "gd+random:every=2"};
constexpr Budget usual_data_budget{Budget::Unit::evaluations, 2000.0};

/// What all methods on networks have in common.
const std::vector<std::string> network_names{"layers",  "activation", "bias",     "loss",
                                             "init",    "samples",    "batch",    "label",
                                             "threads", "precision",  "data-dir", "scaling"};

std::string text_of_target(const Target& target) { return target.text(); }

bool tunes(const CompareOptions& options) { return !options.rate; }

std::vector<Problem> parse_problems(const CompareOptions& options, const Arguments& arguments) {
  Arguments network;
  for (const Argument& argument : arguments) {
    const auto found = std::find(network_names.begin(), network_names.end(), argument.name);
    if (found != network_names.end()) network.add(argument);
  }
  std::vector<Problem> problems;
  for (const std::string& name : options.problem_names) {
    const bool twice = std::any_of(problems.begin(), problems.end(),
                                   [&](const Problem& problem) { return problem.name == name; });
    if (twice) throw UsageError("PROBLEM", fmt::format("'{}' is given more than once", name));
    problems.push_back(parse_problem(name, options.network, network));
  }
  const bool functions_only =
      std::all_of(problems.begin(), problems.end(),
                  [](const Problem& problem) { return problem.is_function(); });
  if (functions_only && network.begin() != network.end()) {
    throw UsageError(network.begin()->origin,
                     "applies to data only; test functions have no such option");
  }
  return problems;
}

}  // namespace

const OptionTable<CompareOptions>& compare_options() {
  using S = CompareOptions;
  static const OptionTable<S> table = [] {
    OptionTable<S> rows(
        "Comparison",
        {row({.name = "problem",
              .value = "PROBLEM...",
              .help = fmt::format("functions, regression, data sets (default: {})",
                                  join(usual_problems)),
              .positional = true,
              .many = true},
             &S::problem_names, as_text()),
         row({.name = "method",
              .value = "METHOD",
              .help = fmt::format("once for each (default:\n{};\nmini-batches: {})",
                                  join(usual_methods, ",\n"), join(usual_minibatch_methods)),
              .many = true},
             &S::methods, as_method()),
         row({"budget", "Nevals|Ts",
              fmt::format("of every run: gradient evaluations (of a mini-batch) or seconds "
                          "(default {}; with data sets {})",
                          S{}.budget.text(), usual_data_budget.text())},
             &S::budget, as_budget()),
         row({"target", "LOSS|rel:PART",
              "loss to reach, or part of the loss at the start, both above the known minimum "
              "(default rel:1e-6, data sets rel:0.1; mini-batches need a loss)"},
             &S::target, as_form(parse_target, text_of_target)),
         row({"seeds", "N", "runs of every method on every problem"}, &S::seeds,
             as_whole(1, 100000)),
         row({"seed", "N", "the first of them"}, &S::seed, as_seed()),
         row({"spread", "S",
              "of a function's starts around its usual one, as a part of its distance from the "
              "minimum"},
             &S::spread, as_positive()),
         row({"confidence", "P", "of the intervals"}, &S::confidence, as_confidence())});
    rows.add(
        "Learning rates",
        {row({"tune", "",
              "find the best rate of every method on the grid (the default without --lr)"},
             &S::tune, as_switch())
             .unwritten(),
         row({"grid", "LOW..HIGH:N", "rates from LOW to HIGH, N per decade"}, &S::grid,
             as_form(parse_grid, grid_text))
             .when(tunes),
         row({"tuning-seeds", "N", "seeds, other ones, with which rates are chosen"},
             &S::tuning_seeds, as_whole(1, 100000))
             .when(tunes),
         row({"lr", "RATE|auto", "the same for all methods instead; their own (gd:lr=0.1) win"},
             &S::rate, as_rate())});
    rows.include(network_run_options(), &S::network, network_names);
    rows.regroup(network_names, "Networks");
    return rows;
  }();
  return table;
}

CompareOptions read_compare_options(const Arguments& arguments) {
  CompareOptions options = compare_options().read(arguments);
  if (options.problem_names.empty()) options.problem_names = usual_problems;
  options.problems = parse_problems(options, arguments);
  const auto any = [&](bool (Problem::*is)() const) {
    return std::any_of(options.problems.begin(), options.problems.end(),
                       [&](const Problem& problem) { return (problem.*is)(); });
  };
  if (options.methods.empty()) {
    const bool minibatch = any(&Problem::minibatch);
    for (const std::string& text : minibatch ? usual_minibatch_methods : usual_methods) {
      options.methods.push_back(parse_method(text));
    }
  }
  options.methods = with_baselines(options.methods);
  if (!arguments.has("budget") && any(&Problem::data_set)) options.budget = usual_data_budget;
  if (options.rate && options.tune) {
    throw OptionError("lr", "cannot be combined with --tune: rates are either given or tuned");
  }
  for (const Problem& problem : options.problems) target_of(options, problem);
  return options;
}

std::string compare_config(const CompareOptions& options) {
  const bool networks = std::any_of(options.problems.begin(), options.problems.end(),
                                    [](const Problem& problem) { return !problem.is_function(); });
  std::vector<ConfigEntry> entries{{"command", std::string("compare")}};
  for (ConfigEntry& entry : compare_options().write(options)) {
    const auto found = std::find(network_names.begin(), network_names.end(), entry.key);
    if (networks || found == network_names.end()) entries.push_back(std::move(entry));
  }
  return config_text(fmt::format("A comparison of symport {}. To repeat it:\n  symport compare "
                                 "--config compare.toml",
                                 version()),
                     entries);
}

Target target_of(const CompareOptions& options, const Problem& problem) {
  if (options.target && !(options.target->relative && problem.minibatch())) return *options.target;
  if (problem.minibatch()) {
    throw OptionError("target", fmt::format("mini-batches on {} need a loss like 0.1: they measure "
                                            "the whole set after an epoch, not at the start",
                                            problem.name));
  }
  return {.value = problem.data_set() ? 0.1 : 1e-6, .relative = true};
}

std::string grid_text(const RateGrid& grid) {
  return fmt::format("{}..{}:{}", exact_text(grid.lowest), exact_text(grid.highest),
                     grid.per_decade);
}

RateGrid parse_grid(const std::string& text) {
  const std::size_t dots = text.find(".."), colon = text.find(':');
  const auto refuse = [&] {
    throw InvalidArgument("grid", fmt::format("'{}'", text),
                          "LOWEST..HIGHEST:PER_DECADE like 1e-5..10:3, 0 < lowest <= highest, at "
                          "most 1000 rates");
  };
  if (dots == std::string::npos) refuse();
  RateGrid grid;
  try {
    grid.lowest = parse_positive(text.substr(0, dots));
    grid.highest = parse_positive(text.substr(dots + 2, colon - std::min(colon, dots + 2)));
    grid.per_decade = colon == std::string::npos ? CompareOptions{}.grid.per_decade
                                                 : parse_whole(text.substr(colon + 1), 1, 1000);
    if (rates_of(grid).size() > 1000) refuse();
  } catch (const InvalidArgument&) {
    refuse();
  }
  return grid;
}

}  // namespace symport::lab::compare
