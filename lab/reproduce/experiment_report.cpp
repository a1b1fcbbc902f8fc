// SPDX-License-Identifier: MIT
#include "lab/reproduce/experiment_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/report/run_report.hpp"
#include "lab/runs/run_directory.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/search/teleport_tally.hpp"

namespace symport::lab {

namespace {

using report::Finding;
using report::Verdict;

Verdict verdict_of(std::size_t met, std::size_t all) {
  if (all == 0) return Verdict::inconclusive;
  return met == all ? Verdict::as_expected : met > 0 ? Verdict::partly : Verdict::not_confirmed;
}

std::size_t count_met(const std::vector<const Outcome*>& outcomes) {
  return static_cast<std::size_t>(
      std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome* o) { return o->met(); }));
}

Finding whole_finding(const Reproduction& result) {
  std::vector<const Outcome*> all;
  for (const Outcome& outcome : result.outcomes) all.push_back(&outcome);
  return {finding_text(result), verdict_of(count_met(all), all.size())};
}

report::Table expected_table(const Reproduction& result) {
  report::Table table{"expected",
                      "Expected numbers",
                      "",
                      {{"number"}, {"found", true}, {"at least", true}, {"at most", true}, {"is"}},
                      {}};
  for (const Outcome& outcome : result.outcomes) {
    table.rows.push_back({{outcome.expected.text()},
                          report::number_cell(outcome.found),
                          report::number_cell(outcome.expected.low),
                          report::number_cell(outcome.expected.high),
                          {outcome.met() ? "as expected" : "outside"}});
  }
  return table;
}

/// What one should see in a figure, and the expected numbers that are about its methods.
Finding figure_finding(const Reproduction& result, const SweepFigure& figure,
                       const std::vector<std::size_t>& methods) {
  std::vector<const Outcome*> about;
  std::vector<std::string> parts;
  for (const Outcome& outcome : result.outcomes) {
    for (const std::size_t method : methods) {
      const std::string& name = result.experiment.methods[method].name;
      const bool same =
          outcome.expected.run == name || outcome.expected.run.starts_with(name + ", ");
      if (!same || outcome.expected.quantity.column != figure.quantity.column) continue;
      about.push_back(&outcome);
      std::string what = outcome.expected.run == name
                             ? std::string(to_string(outcome.expected.reduction))
                             : outcome.expected.run.substr(name.size() + 2);
      std::replace(what.begin(), what.end(), '_', ' ');
      if (methods.size() > 1) what = name + ", " + what;
      parts.push_back(fmt::format("{} {}", what, report::short_text(outcome.found)));
      break;
    }
  }
  const std::size_t seeds = result.experiment.seeds.size();
  std::string text = "To be seen: " + figure.see;
  if (parts.empty()) {
    text += " No expected number is about this figure.";
  } else {
    text += fmt::format(" Found with {} seed{}: {}; {} of {} inside their intervals.", seeds,
                        seeds == 1 ? "" : "s", join(parts, "; "), count_met(about), about.size());
  }
  return {text, verdict_of(count_met(about), about.size())};
}

report::Axis axis_of(const SweepAxis& axis) { return {axis.name, axis.label, axis.logarithmic}; }

report::CurveFigure sweep_curves(const Reproduction& result, const SweepFigure& figure) {
  const Experiment& experiment = result.experiment;
  const SweepAxis& axis = experiment.axes[experiment.methods[figure.methods.front()].axes.front()];
  report::CurveFigure out;
  out.id = figure.id;
  out.title = figure.title;
  out.finding = figure_finding(result, figure, figure.methods);
  out.x_axes = {axis_of(axis)};
  out.x_axes[0].ticks = axis.values;
  out.y_axis = {figure.quantity.column, figure.label, figure.logarithmic};
  int colour = 0;
  for (const std::size_t method : figure.methods) {
    out.series.push_back({.name = experiment.methods[method].name,
                          .colour = colour,
                          .x = {axis.values},
                          .y = result.numbers(method, figure.quantity)});
    colour = colour % (report::palette_size - 1) + 1;
  }
  out.note = fmt::format("Points: {} of {} runs.", to_string(figure.quantity.statistic),
                         experiment.seeds.size());
  return out;
}

report::HeatMap sweep_map(const Reproduction& result, const SweepFigure& figure,
                          std::size_t method) {
  const Experiment& experiment = result.experiment;
  const ExperimentMethod& shown = experiment.methods[method];
  const SweepAxis &across = experiment.axes[shown.axes[0]], &up = experiment.axes[shown.axes[1]];
  report::HeatMap out;
  out.id = figure.id + "-" + folder_name(shown.name);
  out.title = figure.title + ": " + shown.name;
  out.finding = figure_finding(result, figure, {method});
  out.x_axis = axis_of(across);
  out.y_axis = axis_of(up);
  out.value = {figure.quantity.speed_up_over.empty() ? figure.quantity.column : "speed_up",
               figure.label, true};
  out.x = across.values;
  out.y = up.values;
  const std::vector<double> numbers = result.numbers(method, figure.quantity);
  for (std::size_t row = 0; row < out.y.size(); ++row) {
    for (std::size_t column = 0; column < out.x.size(); ++column) {
      const double number = numbers[column * out.y.size() + row];
      out.values.push_back(number > 0.0 ? number : std::nan(""));
    }
  }
  out.note = fmt::format(
      "Cells: {} of {} runs. A cross marks what was left out: more than half of the runs diverged "
      "or did not get there.",
      to_string(figure.quantity.statistic), experiment.seeds.size());
  return out;
}

/// One row for every run of a sweep.
report::Table sweep_table(const Reproduction& result) {
  report::Table table{"runs",
                      "Runs",
                      "",
                      {{"run"},
                       {"seed", true},
                       {"status"},
                       {"last row", true},
                       {"last loss", true},
                       {"evaluations", true},
                       {"teleports", true},
                       {"drift", true},
                       {"seconds", true},
                       {"version"},
                       {"machine"}},
                      {}};
  for (const RunResults& one : result.results) {
    for (const RunRecord& run : one.seeds) {
      const TeleportTally tally(run.teleports);
      table.rows.push_back(
          {{one.run.name},
           {std::to_string(run.seed())},
           {std::string(to_string(run.status))},
           report::number_cell(run.trace[run.trace.index].back()),
           report::loss_cell(run.status, run.trace.loss().back()),
           report::number_cell(run.trace["evaluations"].back()),
           {fmt::format("{} of {} accepted", tally.accepted, tally.total())},
           tally.accepted > 0 ? report::number_cell(tally.largest_drift) : report::Cell{"-"},
           report::number_cell(run.trace["seconds"].back()),
           {run.version},
           {run.machine.empty() ? "not recorded" : run.machine}});
    }
  }
  return table;
}

report::Section sweep_section(const Reproduction& result) {
  const Experiment& experiment = result.experiment;
  report::Section section;
  section.title = "Along the axes";
  for (const SweepFigure& figure : experiment.figures) {
    if (experiment.methods[figure.methods.front()].axes.size() == 1) {
      section.figures.emplace_back(sweep_curves(result, figure));
      continue;
    }
    for (const std::size_t method : figure.methods) {
      section.figures.emplace_back(sweep_map(result, figure, method));
    }
  }
  section.tables.push_back(sweep_table(result));
  return section;
}

/// The panels in the order of their first run; one without a name where there are none.
std::vector<std::string> panels_of(const Experiment& experiment) {
  std::vector<std::string> panels;
  for (const ExperimentMethod& method : experiment.methods) {
    if (method.panel.empty()) continue;
    if (std::find(panels.begin(), panels.end(), method.panel) == panels.end()) {
      panels.push_back(method.panel);
    }
  }
  if (panels.empty()) panels.emplace_back();
  return panels;
}

/// The sections of one panel, without the figures that are not to be shown.
std::vector<report::Section> panel_sections(const Reproduction& result, const std::string& panel) {
  const Experiment& experiment = result.experiment;
  std::vector<RunRecord> runs;
  for (const RunResults& one : result.results) {
    const std::string& own = experiment.methods[one.run.method].panel;
    if (own.empty() || panel.empty() || own == panel) {
      runs.insert(runs.end(), one.seeds.begin(), one.seeds.end());
    }
  }
  const std::string prefix = panel.empty() ? "" : folder_name(panel) + "-";
  std::vector<report::Section> sections = report::run_report(runs, "", prefix).sections;
  for (report::Section& section : sections) {
    if (panel.empty() && sections.size() == 1) section.title = "Figures";
    if (!panel.empty()) {
      section.text = section.title + ". " + section.text;
      section.title = panel;
    }
    if (experiment.shown.empty()) continue;
    std::erase_if(section.figures, [&](const report::Figure& any) {
      // Without the panel, and the number of the problem where there are several.
      std::string id = std::visit([](const auto& figure) { return figure.id; }, any);
      id.erase(0, prefix.size());
      if (const auto end = id.find_first_not_of("0123456789"); end > 0) id.erase(0, end + 1);
      return std::find(experiment.shown.begin(), experiment.shown.end(), id) ==
             experiment.shown.end();
    });
  }
  return sections;
}

}  // namespace

std::string finding_text(const Reproduction& result) {
  const std::size_t seeds = result.experiment.seeds.size(), all = result.outcomes.size();
  const auto met = std::count_if(result.outcomes.begin(), result.outcomes.end(),
                                 [](const Outcome& outcome) { return outcome.met(); });
  std::string text = "To be seen: " + result.experiment.see;
  if (all == 0) return text + " No number is expected, so nothing is judged.";
  return text +
         fmt::format(
             " Found with {} seed{}: {} of the {} expected numbers are inside their "
             "intervals. The badge says \"as expected\" where all are, \"partly\" where some are.",
             seeds, seeds == 1 ? "" : "s", met, all);
}

report::Report experiment_report(const Reproduction& result) {
  const Experiment& experiment = result.experiment;
  report::Report out;
  out.footer = report::report_footer();
  out.title = experiment.name + ": " + experiment.title;
  out.finding = whole_finding(result);
  if (!experiment.figures.empty()) {
    out.sections.push_back(sweep_section(result));
  } else {
    for (const std::string& panel : panels_of(experiment)) {
      for (report::Section& section : panel_sections(result, panel)) {
        out.sections.push_back(std::move(section));
      }
    }
  }
  report::Section numbers;
  numbers.title = "Expected and found";
  if (!result.outcomes.empty()) numbers.tables.push_back(expected_table(result));
  numbers.listings.push_back({"The experiment", experiment.text});
  out.sections.push_back(std::move(numbers));
  return out;
}

}  // namespace symport::lab
