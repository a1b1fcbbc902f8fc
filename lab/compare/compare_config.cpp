// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "lab/compare/output.hpp"
#include "lab/config/config_file.hpp"
#include "lab/text/parse_numbers.hpp"
#include "symport/core/version.hpp"

namespace symport::lab::compare {

std::string compare_config(const CompareOptions& options) {
  std::vector<ConfigEntry> entries;
  const auto add = [&](std::string key, auto value) {
    entries.push_back({std::move(key), std::move(value), {}});
  };
  std::vector<std::string> problems, methods;
  for (const Problem& problem : options.problems) problems.push_back(problem.name);
  for (const Method& method : options.methods) methods.push_back(method.text);
  add("command", std::string("compare"));
  add("problem", problems);
  add("method", methods);
  add("budget", options.budget.text());
  if (options.target) add("target", options.target->text());
  if (options.rate) {
    add("lr", *options.rate);
  } else {
    add("grid", grid_text(options.grid));
    add("tuning-seeds", static_cast<std::int64_t>(options.tuning_seeds));
  }
  add("seeds", static_cast<std::int64_t>(options.seeds));
  add("seed", fmt::format("{}", options.seed));
  add("spread", options.spread);
  add("confidence", options.confidence);
  const auto network = std::find_if(options.problems.begin(), options.problems.end(),
                                    [](const Problem& problem) { return !problem.function; });
  if (network != options.problems.end()) {
    for (const std::string& name : network_options()) {
      if (const auto text = network->options.text(name)) add(name, *text);
    }
  }
  return config_text(fmt::format("A comparison of symport {}. To repeat it:\n  symport compare "
                                 "--config compare.toml",
                                 version()),
                     entries);
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
