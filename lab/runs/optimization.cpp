// SPDX-License-Identifier: MIT
#include "lab/runs/optimization.hpp"

#include <fmt/format.h>

#include "lab/text/parse_numbers.hpp"
#include "symport/core/version.hpp"

namespace symport::lab {

namespace {

constexpr const char* automatic = "auto";

}  // namespace

OptimizeOptions read_optimize_options(const Given& given) {
  OptimizeOptions options;
  const auto take = [&](const char* name, auto parse, auto& field) {
    if (auto value = given.read(name, parse)) field = std::move(*value);
  };
  const auto text = [](const std::string& value) { return value; };
  take("function", text, options.function);
  take("start", parse_list, options.start);
  take("optimizer", text, options.optimizer);
  take("lr", text, options.learning_rate);
  take(
      "steps", [](const std::string& value) { return parse_whole(value); }, options.steps);
  take("teleport", Schedule::parse, options.teleport);
  take("search", text, options.search);
  take(
      "search-steps", [](const std::string& value) { return parse_whole(value, 1); },
      options.search_steps);
  take("search-rate", parse_positive, options.search_rate);
  take(
      "objective", [](const std::string& value) { return find_entry(objectives(), value).kind; },
      options.objective);
  take("bound", parse_bound, options.bound);
  take("cap", parse_bound, options.cap);
  take(
      "state", [](const std::string& value) { return find_entry(states(), value).policy; },
      options.state);
  take("seed", parse_seed, options.seed);
  return options;
}

Optimization::Optimization(const OptimizeOptions& options, const Given& given) : options_(options) {
  problem_ = blaming(given.origin("function"), [&] { return make_problem(options.function); });
  const TestFunction& function = *problem_.function;

  const OptimizerEntry& optimizer = blaming(
      given.origin("optimizer"), [&]() -> auto& {
        return find_entry(optimizers(), options.optimizer);
      });
  const UsualRun usual = function.usual_run();
  if (options.learning_rate == automatic) {
    if (!optimizer.make_automatic) {
      throw UsageError(given.origin("lr"),
                       fmt::format("found 'auto', allowed with the optimizer {} is a rate; auto "
                                   "needs --optimizer gd",
                                   optimizer.name));
    }
    optimizer_ = optimizer.make_automatic();
    learning_rate_ = usual.learning_rate;  // a first guess, where the curvature gives none
  } else {
    optimizer_ = optimizer.make();
    if (!options_.learning_rate) options_.learning_rate = exact_text(usual.learning_rate);
    learning_rate_ =
        blaming(given.origin("lr"), [&] { return LearningRate::parse(*options_.learning_rate); });
    options_.learning_rate = learning_rate_->to_string();
  }
  blaming(given.origin("optimizer"), [&] { optimizer_->init(function.dimension()); });

  if (!options_.steps) options_.steps = usual.steps;
  const Vector usual_start = function.start();
  if (!options_.start) options_.start.emplace(usual_start.begin(), usual_start.end());
  x_ = Eigen::Map<const Vector>(options_.start->data(), static_cast<Index>(options_.start->size()));
  if (x_.size() != function.dimension()) {
    throw UsageError(
        given.origin("start"),
        fmt::format("found {} number{}, allowed is {}, the dimension of {}", x_.size(),
                    x_.size() == 1 ? "" : "s", function.dimension(), problem_.specification));
  }
  const SearchEntry& search = blaming(
      given.origin("search"), [&]() -> auto& { return find_entry(searches(), options.search); });
  choose_search(search, given);
  if (!options_.objective) options_.objective = search.objective(*optimizer_);
  if (!options_.cap) options_.cap = default_cap(*options_.objective);
}

void Optimization::choose_search(const SearchEntry& entry, const Given& given) {
  const auto having = [](auto SearchEntry::*option) {
    std::vector<std::string> names;
    for (const SearchEntry& search : searches()) {
      if (search.*option) names.push_back(search.name);
    }
    return join(names);
  };
  const auto settle = [&](const char* name, auto& value, auto SearchEntry::*option) {
    if (value && !(entry.*option)) {
      throw UsageError(given.origin(name),
                       fmt::format("the search '{}' has no such option; searches that have it: {}",
                                   entry.name, having(option)));
    }
    if (!value) value = entry.*option;
  };
  settle("search-steps", options_.search_steps, &SearchEntry::steps);
  settle("search-rate", options_.search_rate, &SearchEntry::rate);
  search_ = entry.make(options_.search_steps.value_or(0), options_.search_rate.value_or(0.0));

  const auto orbit = problem_.symmetry->orbit(*problem_.function, x_);
  if (!search_->fits(*orbit)) {
    throw UsageError(
        given.origin("search"),
        fmt::format("found '{}', which does not fit the symmetry {} of {}; allowed is {}",
                    entry.name, problem_.symmetry->name(), problem_.specification,
                    join(fitting_searches(*orbit))));
  }
}

void Optimization::run(bool with_trace, StepWatcher watcher) {
  const TrainOptions<double> options{.max_steps = *options_.steps,
                                     .learning_rate = *learning_rate_,
                                     .teleport = {.symmetry = problem_.symmetry.get(),
                                                  .search = search_.get(),
                                                  .schedule = options_.teleport,
                                                  .state = options_.state,
                                                  .objective = options_.objective,
                                                  .bound = options_.bound,
                                                  .cap = options_.cap},
                                     .seed = options_.seed,
                                     .trace = with_trace,
                                     .watcher = std::move(watcher)};
  summary_ = train(*problem_.function, *optimizer_, x_, options);
}

void Optimization::end_as_planned() {
  options_.steps = summary_.steps;
  if (summary_.status == RunStatus::interrupted) summary_.status = RunStatus::step_limit;
}

std::optional<double> Optimization::constant_rate() const {
  const double rate = learning_rate_->initial();
  if (options_.learning_rate != exact_text(rate)) return std::nullopt;
  return rate;
}

std::string Optimization::config() const {
  std::vector<ConfigEntry> entries;
  const auto add = [&](std::string key, auto value, std::string comment = {}) {
    entries.push_back({std::move(key), std::move(value), std::move(comment)});
  };
  add("command", std::string("optimize"));
  add("function", problem_.specification, problem_.function->formula());
  add("start", *options_.start);
  add("optimizer", options_.optimizer);
  if (const auto rate = constant_rate()) {
    add("lr", *rate);
  } else {
    add("lr", *options_.learning_rate);
  }
  add("steps", static_cast<std::int64_t>(*options_.steps));
  add("teleport", options_.teleport.to_string());
  add("search", options_.search);
  if (options_.search_steps) {
    add("search-steps", static_cast<std::int64_t>(*options_.search_steps));
  }
  if (options_.search_rate) add("search-rate", *options_.search_rate);
  add("objective", std::string(to_string(*options_.objective)));
  add("bound", options_.bound);
  add("cap", *options_.cap);
  add("state", std::string(to_string(options_.state)));
  if (options_.seed <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    add("seed", static_cast<std::int64_t>(options_.seed));
  } else {
    add("seed", fmt::format("{}", options_.seed));  // TOML's integers end at 2^63
  }
  return config_text(fmt::format("{} {}. To repeat it:\n  symport optimize --config config.toml",
                                 run_heading, version()),
                     entries);
}

}  // namespace symport::lab
