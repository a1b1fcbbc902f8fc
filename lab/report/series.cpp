// SPDX-License-Identifier: MIT
#include "lab/report/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lab/text/suggestion.hpp"

namespace symport::lab::report {

namespace {

using Options = std::map<std::string, std::string>;

bool concerns_teleports(const RunRecord& run, const std::string& name) {
  for (const Option& option : run_options(command_of(run.spec))) {
    if (option.name == name) return option.group == teleport_group;
  }
  return false;
}

/// See RunSeries::options.
Options effective(const RunRecord& run) {
  Options options;
  for (const ConfigEntry& entry : entries_of(run.spec)) {
    const bool idle =
        run.schedule().empty() && entry.key != "teleport" && concerns_teleports(run, entry.key);
    if (entry.key != "seed" && !idle) options[entry.key] = text_of(entry.value);
  }
  return options;
}

std::string key_of(const RunRecord& run, const Options& options, bool with_teleports) {
  std::string text;
  for (const auto& [key, value] : options) {
    if (with_teleports || !concerns_teleports(run, key)) text += key + "=" + value + "\n";
  }
  return text;
}

std::string problem_of(const RunRecord& run) {
  if (const auto* function = std::get_if<FunctionRunSpec>(&run.spec)) {
    return full_specification(function->function);
  }
  const auto& network = std::get<NetworkRunSpec>(run.spec);
  return fmt::format("{}, network {}, loss {}", absolute_data_name(network.data),
                     fmt::join(network.layers, "-"), network.loss ? network.loss->name() : "");
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
void name_series(ProblemRuns& problem) {
  std::vector<std::string> keys{"optimizer", "lr", "teleport", "symmetry", "search"};
  for (const RunSeries& series : problem.series) {
    for (const auto& [key, value] : series.options) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  for (RunSeries& series : problem.series) {
    const auto value = [&](const std::string& key) {
      const auto found = series.options.find(key);
      return found == series.options.end() ? std::string() : found->second;
    };
    std::vector<std::string> parts;
    for (const std::string& key : keys) {
      // What only teleporting series have need not be equal to nothing.
      const auto differs = [&](const RunSeries& other) {
        const auto found = other.options.find(key);
        return found != other.options.end() && series.options.contains(key) &&
               found->second != value(key);
      };
      if (std::any_of(problem.series.begin(), problem.series.end(), differs)) {
        parts.push_back(part_of_name(key, value(key)));
      }
    }
    if (parts.empty()) {
      for (const char* key : {"optimizer", "teleport"}) {
        parts.push_back(part_of_name(key, value(key)));
      }
    }
    const std::string& given = series.first().name;
    series.name = given.empty() ? join(parts) : given;
  }
}

void choose_examples(ProblemRuns& problem) {
  const auto run_with = [](const RunSeries& series, std::uint64_t seed) -> const RunRecord* {
    const auto found = std::find_if(series.drawn.begin(), series.drawn.end(),
                                    [&](const RunRecord* run) { return run->seed() == seed; });
    return found == series.drawn.end() ? nullptr : *found;
  };
  const std::vector<const RunRecord*>& candidates = problem.series.front().drawn;
  const auto good =
      std::find_if(candidates.begin(), candidates.end(), [&](const RunRecord* candidate) {
        return std::all_of(problem.series.begin(), problem.series.end(),
                           [&](const RunSeries& series) {
                             return run_with(series, candidate->seed()) != nullptr;
                           });
      });
  for (RunSeries& series : problem.series) {
    series.example =
        good == candidates.end() ? series.drawn.front() : run_with(series, (*good)->seed());
  }
}

/// Grey for the first series without teleports where there are others.
void choose_colours(ProblemRuns& problem) {
  bool grey_free = std::any_of(problem.series.begin(), problem.series.end(),
                               [](const RunSeries& series) { return series.teleports; });
  int next = 1;
  for (RunSeries& series : problem.series) {
    if (grey_free && !series.teleports) {
      series.colour = 0;
      grey_free = false;
    } else {
      series.colour = next;
      next = next % (palette_size - 1) + 1;
    }
  }
}

/// The rows at which one of the runs teleported: of full batches the row of that step, which has
/// the state after the teleport; in mini-batches the last row before it, so that what follows from
/// the teleport stands after its mark.
std::vector<std::size_t> teleported_rows(const std::vector<const RunRecord*>& runs,
                                         const std::vector<double>& rows) {
  std::set<std::size_t> places;
  for (const RunRecord* run : runs) {
    const bool by_epoch = run->trace.index == to_string(RowUnit::epoch);
    for (const TraceTeleport& jump : run->jumps) {
      const auto moment = static_cast<double>(by_epoch ? jump.epoch : jump.step);
      const auto after = std::upper_bound(rows.begin(), rows.end(), moment);
      if (jump.accepted && after != rows.begin()) {
        places.insert(static_cast<std::size_t>(after - rows.begin()) - 1);
      }
    }
  }
  return {places.begin(), places.end()};
}

}  // namespace

bool diverged(const RunRecord& run) {
  const std::vector<double>& loss = run.trace.loss();
  const auto first = loss.begin() + static_cast<std::ptrdiff_t>(run.trace.first_loss());
  return run.status == RunStatus::diverged || std::any_of(first, loss.end(), [&](double value) {
           return !(std::abs(value) <= 1e3 * std::abs(*first));
         });
}

std::vector<ProblemRuns> grouped(const std::vector<RunRecord>& runs) {
  std::vector<ProblemRuns> problems;
  std::map<std::string, std::size_t> problem_at, series_at;
  for (const RunRecord& run : runs) {
    const std::string title = problem_of(run);
    const std::string key =
        fmt::format("{}\n{}\n{}\n", command_of(run.spec), title, run.trace.index);
    const auto [problem, new_problem] = problem_at.try_emplace(key, problems.size());
    if (new_problem) problems.push_back({title});
    std::vector<RunSeries>& list = problems[problem->second].series;
    const Options options = effective(run);
    const auto [series, new_series] =
        series_at.try_emplace(key + key_of(run, options, true), list.size());
    if (new_series) {
      list.push_back({.name = {},
                      .teleports = !run.schedule().empty(),
                      .options = options,
                      .base = key_of(run, options, false)});
    }
    list[series->second].runs.push_back(&run);
  }
  for (ProblemRuns& problem : problems) {
    for (RunSeries& series : problem.series) {
      std::copy_if(series.runs.begin(), series.runs.end(), std::back_inserter(series.drawn),
                   [](const RunRecord* run) { return !diverged(*run); });
      if (series.drawn.empty()) series.drawn = series.runs;
    }
    choose_examples(problem);
    name_series(problem);
    choose_colours(problem);
  }
  return problems;
}

std::vector<double> common_rows(const RunSeries& series) {
  std::vector<double> rows = series.drawn.front()->trace[series.drawn.front()->trace.index];
  for (const RunRecord* run : series.drawn) {
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

CurveFigure gradient_against_loss(const ProblemRuns& problem) {
  const bool network = problem.first().trace.has("train_loss");
  CurveFigure figure;
  figure.x_axes = {{network ? "train_loss" : "loss", network ? "training loss" : "loss", true}};
  figure.y_axis = {"grad_sq", "squared norm of the gradient, \u2212dL/dt", true};
  for (const RunSeries& group : problem.series) {
    const RunRecord& run = *group.example;
    const TraceColumns& trace = run.trace;
    figure.series.push_back({.name = group.name,
                             .colour = group.colour,
                             .x = {trace.loss()},
                             .y = trace["grad_sq"],
                             .teleports = teleported_rows({&run}, trace[trace.index])});
  }
  return figure;
}

CurveFigure curves(const ProblemRuns& problem, const std::string& column, const Axis& y_axis) {
  CurveFigure figure;
  const std::string index = problem.first().trace.index;
  figure.x_axes = {{.key = index, .label = index, .whole = true}, {"seconds", "time in seconds"}};
  const bool counted =
      std::all_of(problem.series.begin(), problem.series.end(), [](const RunSeries& series) {
        return std::all_of(series.runs.begin(), series.runs.end(),
                           [](const RunRecord* run) { return run->trace.has("evaluations"); });
      });
  if (counted) figure.x_axes.push_back({"evaluations", "work in gradient evaluations"});
  figure.y_axis = y_axis;
  for (const RunSeries& group : problem.series) {
    const bool there = std::all_of(group.runs.begin(), group.runs.end(),
                                   [&](const RunRecord* run) { return run->trace.has(column); });
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
