// SPDX-License-Identifier: MIT
#include "lab/report/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lab/text/suggestion.hpp"

namespace symport::lab::report {

namespace {

const std::set<std::string> teleport_keys{"teleport",
                                          "teleport-batches",
                                          "teleport-batch-size",
                                          "symmetry",
                                          "search",
                                          "search-steps",
                                          "search-rate",
                                          "objective",
                                          "bound",
                                          "cap",
                                          "kappa",
                                          "allow-partial-batch",
                                          "state"};

using Config = std::map<std::string, std::string>;

bool teleports(const Run& run) { return run.config.at("teleport") != "never"; }

/// The configuration without what changes nothing: how to teleport, where it never happens.
Config effective(const Run& run) {
  Config config = run.config;
  if (!teleports(run)) {
    std::erase_if(config, [](const auto& entry) {
      return entry.first != "teleport" && teleport_keys.contains(entry.first);
    });
  }
  return config;
}

std::string text_of(const Config& config, bool with_teleports) {
  std::string text;
  for (const auto& [key, value] : config) {
    if (with_teleports || !teleport_keys.contains(key)) text += key + "=" + value + "\n";
  }
  return text;
}

std::string problem_of(const Run& run) {
  if (run.command == "optimize") return run.config.at("function");
  const auto value = [&](const char* key) {
    const auto found = run.config.find(key);
    return found == run.config.end() ? std::string() : found->second;
  };
  std::string layers = value("layers");
  std::replace(layers.begin(), layers.end(), ',', '-');
  return fmt::format("{}, network {}, loss {}", value("data"), layers, value("loss"));
}

std::string part_of_name(const std::string& key, const std::string& value) {
  if (key == "optimizer") return value;
  if (key == "teleport") {
    if (value == "never") return "no teleports";
    return (value.starts_with("every") ? "teleports " : "teleports at ") + value;
  }
  return key + " " + value;
}

/// The differences between series: optimizer and schedule first, then the other keys.
void name_series(Experiment& experiment) {
  std::vector<Config> configs;
  for (const RunSeries& series : experiment.series) configs.push_back(effective(series.first()));
  std::vector<std::string> keys{"optimizer", "lr", "teleport", "symmetry", "search"};
  for (const Config& config : configs) {
    for (const auto& [key, value] : config) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  const auto value = [](const Config& config, const std::string& key) {
    const auto found = config.find(key);
    return found == config.end() ? std::string() : found->second;
  };
  for (std::size_t i = 0; i < configs.size(); ++i) {
    std::vector<std::string> parts;
    for (const std::string& key : keys) {
      // What only teleporting series have need not be equal to nothing.
      const bool differs = std::any_of(configs.begin(), configs.end(), [&](const Config& other) {
        return other.contains(key) && configs[i].contains(key) &&
               value(other, key) != value(configs[i], key);
      });
      if (differs) parts.push_back(part_of_name(key, value(configs[i], key)));
    }
    if (parts.empty()) {
      for (const char* key : {"optimizer", "teleport"}) {
        parts.push_back(part_of_name(key, value(configs[i], key)));
      }
    }
    const std::string& given = experiment.series[i].first().name;
    experiment.series[i].name = given.empty() ? join(parts) : given;
  }
}

void choose_examples(Experiment& experiment) {
  const auto run_with = [](const RunSeries& series, const std::string& seed) -> const Run* {
    const auto found = std::find_if(series.drawn.begin(), series.drawn.end(),
                                    [&](const Run* run) { return run->seed == seed; });
    return found == series.drawn.end() ? nullptr : *found;
  };
  const std::vector<const Run*>& candidates = experiment.series.front().drawn;
  const auto good = std::find_if(candidates.begin(), candidates.end(), [&](const Run* candidate) {
    return std::all_of(
        experiment.series.begin(), experiment.series.end(),
        [&](const RunSeries& series) { return run_with(series, candidate->seed) != nullptr; });
  });
  for (RunSeries& series : experiment.series) {
    series.example =
        good == candidates.end() ? series.drawn.front() : run_with(series, (*good)->seed);
  }
}

/// Grey for the first series without teleports where there are others.
void choose_colours(Experiment& experiment) {
  bool grey_free = std::any_of(experiment.series.begin(), experiment.series.end(),
                               [](const RunSeries& series) { return series.teleports; });
  int next = 1;
  for (RunSeries& series : experiment.series) {
    if (grey_free && !series.teleports) {
      series.colour = 0;
      grey_free = false;
    } else {
      series.colour = next;
      next = next % (palette_size - 1) + 1;
    }
  }
}

/// The rows that follow a teleport of one of the runs.
std::vector<std::size_t> teleported_rows(const std::vector<const Run*>& runs,
                                         const std::vector<double>& rows) {
  std::set<double> teleported;
  for (const Run* run : runs) {
    const TraceColumns& trace = run->trace;
    if (!trace.has("teleported")) continue;
    for (std::size_t i = 0; i < trace.rows(); ++i) {
      if (trace["teleported"][i] != 0.0) teleported.insert(trace[trace.index][i]);
    }
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (teleported.contains(rows[i])) places.push_back(i);
  }
  return places;
}

}  // namespace

bool went_astray(const Run& run) {
  const std::vector<double>& loss = run.trace.loss();
  const auto first = loss.begin() + static_cast<std::ptrdiff_t>(run.trace.first_loss());
  return run.status == "diverged" || std::any_of(first, loss.end(), [&](double value) {
           return !(std::abs(value) <= 1e3 * std::abs(*first));
         });
}

std::vector<Experiment> grouped(const std::vector<Run>& runs) {
  std::vector<Experiment> experiments;
  std::map<std::string, std::size_t> experiment_at, series_at;
  for (const Run& run : runs) {
    const std::string problem = run.command + "\n" + problem_of(run) + "\n" + run.trace.index;
    const auto [experiment, new_problem] = experiment_at.try_emplace(problem, experiments.size());
    if (new_problem) experiments.push_back({problem_of(run)});
    std::vector<RunSeries>& list = experiments[experiment->second].series;
    const Config config = effective(run);
    const auto [series, new_series] =
        series_at.try_emplace(problem + "\n" + text_of(config, true), list.size());
    if (new_series) {
      list.push_back({.name = {}, .teleports = teleports(run), .base = text_of(config, false)});
    }
    list[series->second].runs.push_back(&run);
  }
  for (Experiment& experiment : experiments) {
    for (RunSeries& series : experiment.series) {
      std::copy_if(series.runs.begin(), series.runs.end(), std::back_inserter(series.drawn),
                   [](const Run* run) { return !went_astray(*run); });
      if (series.drawn.empty()) series.drawn = series.runs;
    }
    choose_examples(experiment);
    name_series(experiment);
    choose_colours(experiment);
  }
  return experiments;
}

std::vector<double> common_rows(const RunSeries& series) {
  std::vector<double> rows = series.drawn.front()->trace[series.drawn.front()->trace.index];
  for (const Run* run : series.drawn) {
    const std::vector<double>& others = run->trace[run->trace.index];
    if (others == rows) continue;
    std::vector<double> both;
    std::set_intersection(rows.begin(), rows.end(), others.begin(), others.end(),
                          std::back_inserter(both));
    rows = std::move(both);
  }
  return rows;
}

Averaged averaged(const RunSeries& series, const std::string& column) {
  if (series.drawn.size() == 1) return {series.drawn.front()->trace[column], {}, {}};
  const std::vector<double> rows = common_rows(series);
  Averaged result;
  std::vector<std::size_t> at(series.drawn.size(), 0);
  const auto count = static_cast<double>(series.drawn.size());
  for (const double row : rows) {
    std::vector<double> values;
    for (std::size_t i = 0; i < series.drawn.size(); ++i) {
      const TraceColumns& trace = series.drawn[i]->trace;
      while (trace[trace.index][at[i]] != row) ++at[i];
      values.push_back(trace[column][at[i]]);
    }
    double mean = 0.0, squares = 0.0;
    for (const double value : values) mean += value / count;
    for (const double value : values) squares += (value - mean) * (value - mean);
    const double deviation = std::sqrt(squares / (count - 1.0));
    const double smallest = *std::min_element(values.begin(), values.end());
    result.mean.push_back(mean);
    result.lower.push_back(smallest >= 0.0 ? std::max(smallest, mean - deviation)
                                           : mean - deviation);
    result.upper.push_back(mean + deviation);
  }
  return result;
}

CurveFigure gradient_against_loss(const Experiment& experiment) {
  const bool network = experiment.first().trace.has("train_loss");
  CurveFigure figure;
  figure.x_axes = {{network ? "train_loss" : "loss", network ? "training loss" : "loss", true}};
  figure.y_axis = {"grad_sq", "squared norm of the gradient, \u2212dL/dt", true};
  for (const RunSeries& group : experiment.series) {
    const Run& run = *group.example;
    const TraceColumns& trace = run.trace;
    figure.series.push_back({.name = group.name,
                             .colour = group.colour,
                             .x = {trace.loss()},
                             .y = trace["grad_sq"],
                             .teleports = teleported_rows({&run}, trace[trace.index])});
  }
  return figure;
}

CurveFigure curves(const Experiment& experiment, const std::string& column, const Axis& y_axis) {
  CurveFigure figure;
  const std::string index = experiment.first().trace.index;
  figure.x_axes = {{.key = index, .label = index, .whole = true}, {"seconds", "time in seconds"}};
  const bool counted =
      std::all_of(experiment.series.begin(), experiment.series.end(), [](const RunSeries& series) {
        return std::all_of(series.runs.begin(), series.runs.end(),
                           [](const Run* run) { return run->trace.has("evaluations"); });
      });
  if (counted) figure.x_axes.push_back({"evaluations", "work in gradient evaluations"});
  figure.y_axis = y_axis;
  for (const RunSeries& group : experiment.series) {
    const bool there = std::all_of(group.runs.begin(), group.runs.end(),
                                   [&](const Run* run) { return run->trace.has(column); });
    if (!there) continue;
    Series series{.name = group.name, .colour = group.colour};
    const std::vector<double> rows = common_rows(group);
    for (const Axis& axis : figure.x_axes) series.x.push_back(averaged(group, axis.key).mean);
    Averaged values = averaged(group, column);
    series.y = std::move(values.mean);
    series.lower = std::move(values.lower);
    series.upper = std::move(values.upper);
    series.teleports = teleported_rows(group.drawn, rows);
    figure.series.push_back(std::move(series));
  }
  return figure;
}

}  // namespace symport::lab::report
