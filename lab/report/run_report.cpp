// SPDX-License-Identifier: MIT
#include "lab/report/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "lab/report/decimation.hpp"
#include "lab/report/level_sets.hpp"
#include "lab/report/sentences.hpp"
#include "lab/report/series.hpp"
#include "lab/runs/machine.hpp"
#include "lab/text/scope_sentence.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/core/version.hpp"
#include "symport/search/teleport_tally.hpp"

namespace symport::lab::report {

namespace {

std::string count(std::size_t number, const std::string& what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::size_t runs_of(const ProblemRuns& problem) {
  std::size_t number = 0;
  for (const RunSeries& series : problem.series) number += series.runs.size();
  return number;
}

bool has_values(const ProblemRuns& problem, const std::string& column) {
  for (const RunSeries& series : problem.series) {
    for (const RunRecord* run : series.runs) {
      if (!run->trace.has(column)) return false;
      const std::vector<double>& values = run->trace[column];
      if (std::all_of(values.begin(), values.end(), [](double v) { return std::isnan(v); })) {
        return false;
      }
    }
  }
  return true;
}

/// Past the row before training, where that is not known.
std::vector<double>::const_iterator first_known(const std::vector<double>& values) {
  return values.begin() + (values.size() > 1 && std::isnan(values[0]) ? 1 : 0);
}

/// Whether an axis of that kind cannot show some of the values.
bool hides_values(const CurveFigure& figure) {
  const auto hidden = [&](double value) {
    return !(value <= figure.y_axis.most) || !std::isfinite(value) ||
           (figure.y_axis.logarithmic && value <= 0.0);
  };
  return std::any_of(figure.series.begin(), figure.series.end(), [&](const Series& series) {
    return std::any_of(first_known(series.y), series.y.end(), hidden);
  });
}

/// A thousand times the largest first value, where a logarithmic axis would go on.
double sensible_top(const CurveFigure& figure) {
  double first = 0.0;
  for (const Series& series : figure.series) {
    if (series.y.empty()) continue;
    const double value = *first_known(series.y);
    if (std::isfinite(value)) first = std::max(first, value);
  }
  return figure.y_axis.logarithmic && first > 0.0 ? 1e3 * first
                                                  : std::numeric_limits<double>::infinity();
}

std::string curve_note(const ProblemRuns& problem, const CurveFigure& figure) {
  std::vector<std::string> notes;
  std::set<std::size_t> sizes;
  bool cut = false;
  for (const RunSeries& series : problem.series) {
    if (series.drawn.size() > 1) sizes.insert(series.drawn.size());
    const std::size_t rows = common_rows(series).size();
    for (const RunRecord* run : series.drawn) cut = cut || run->trace.rows() != rows;
  }
  if (!sizes.empty()) {
    std::vector<std::string> texts;
    for (const std::size_t size : sizes) texts.push_back(std::to_string(size));
    notes.push_back(
        fmt::format("Line: mean of {} runs; shade: one standard deviation to either "
                    "side, but not below the smallest run.",
                    join(texts, " or ")));
  }
  for (const RunSeries& series : problem.series) {
    const std::size_t lost = series.runs.size() - series.drawn.size();
    if (lost == 0) continue;
    notes.push_back(fmt::format("{} of the {} runs of '{}' diverged and {} not shown.", lost,
                                series.runs.size(), series.name, lost == 1 ? "is" : "are"));
  }
  if (cut) notes.push_back("Runs of different length are averaged over the rows that all have.");
  if (hides_values(figure)) {
    notes.push_back(
        "Some values are zero, not finite, or a thousand times the first one or more, and have no "
        "place on the axis.");
  }
  return join(notes, " ");
}

struct Shown {
  std::string id, title;
  Measure measure;
  Axis y_axis;
};

void add_figures(const ProblemRuns& problem, const std::string& prefix, Section& section) {
  if (auto figure = level_sets(problem)) {
    figure->id = prefix + "level-sets";
    thin(*figure);
    section.figures.emplace_back(std::move(*figure));
  }
  const bool network = problem.first().trace.has("train_loss");
  const std::string loss = network ? "train_loss" : "loss";
  const std::vector<Shown> all{
      {"loss",
       network ? "Training loss" : "Loss",
       {.column = loss, .name = network ? "training loss" : "loss", .tell_time = true},
       {loss, network ? "training loss" : "loss", true}},
      {"validation-loss",
       "Validation loss",
       {"valid_loss", "validation loss"},
       {"valid_loss", "validation loss", true}},
      {"validation-accuracy",
       "Validation accuracy",
       {.column = "valid_accuracy", .name = "validation accuracy", .larger_is_better = true},
       {"valid_accuracy", "share of samples classified correctly", false}},
      {"gradient",
       "Squared gradient",
       {"grad_sq", "squared gradient"},
       {"grad_sq", "squared norm of the gradient, \u2212dL/dt", true}},
  };
  for (const Shown& shown : all) {
    if (!has_values(problem, shown.measure.column)) continue;
    CurveFigure figure = curves(problem, shown.measure.column, shown.y_axis);
    figure.id = prefix + shown.id;
    figure.title = shown.title;
    figure.finding =
        shown.id == "gradient" ? gradient_finding(problem) : end_finding(problem, shown.measure);
    figure.y_axis.most = sensible_top(figure);
    figure.note = curve_note(problem, figure);
    thin(figure);
    section.figures.emplace_back(std::move(figure));
  }
  if (has_values(problem, "grad_sq")) {
    CurveFigure figure = gradient_against_loss(problem);
    figure.id = prefix + "gradient-loss";
    figure.title = "Squared gradient against loss";
    figure.finding = same_loss_finding(problem);
    figure.y_axis.most = sensible_top(figure);
    figure.x_axes[0].most = 1e3 * figure.series[0].x[0][0];
    figure.note = "Time runs from high losses to low ones.";
    if (runs_of(problem) > problem.series.size()) {
      figure.note += fmt::format(" Of each series the run of seed {} is drawn.",
                                 problem.series.front().example->seed());
    }
    thin(figure);
    section.figures.emplace_back(std::move(figure));
  }
}

/// In gradients, teleports included.
Cell evaluations_cell(const RunRecord& run) {
  if (!run.trace.has("evaluations")) return {"not recorded"};
  return number_cell(run.trace["evaluations"].back());
}

Table run_table(const ProblemRuns& problem, const std::string& prefix) {
  Table table{prefix + "runs",
              "Runs",
              "",
              {{"series"},
               {"directory"},
               {"seed", true},
               {"status"},
               {"last row", true},
               {"last loss", true},
               {"evaluations", true},
               {"teleports", true},
               {"seconds", true},
               {"version"},
               {"machine"}},
              {}};
  for (const RunSeries& series : problem.series) {
    for (const RunRecord* run : series.runs) {
      const TeleportTally tally(run->teleports);
      table.rows.push_back({{series.name},
                            {run->directory.empty() ? "not kept" : run->directory.string()},
                            {std::to_string(run->seed())},
                            {std::string(to_string(run->status))},
                            number_cell(run->trace[run->trace.index].back()),
                            loss_cell(run->status, run->trace.loss().back()),
                            evaluations_cell(*run),
                            {fmt::format("{} of {} accepted", tally.accepted, tally.total())},
                            number_cell(run->trace["seconds"].back()),
                            {run->version},
                            {run->machine.empty() ? "not recorded" : run->machine}});
    }
  }
  return table;
}

Table certificate_table(const ProblemRuns& problem, const std::string& prefix) {
  Table table{prefix + "certificates",
              "Certificates",
              "",
              {{"series"},
               {"seed", true},
               {"step", true},
               {"accepted"},
               {"drift", true},
               {"relative change", true},
               {"loss is kept"},
               {"loss before", true},
               {"loss after", true},
               {"|gradient|² before", true},
               {"|gradient|² after", true},
               {"curvature before", true},
               {"curvature after", true},
               {"condition", true},
               {"evaluations", true},
               {"seconds", true},
               {"reason"}},
              {}};
  TeleportTally tally;
  bool invariant = true;
  for (const RunSeries& series : problem.series) {
    for (const RunRecord* run : series.runs) {
      if (!run->teleports.empty()) invariant = invariant && run->loss_invariant;
      for (const Certificate& c : run->teleports) {
        tally.add(c);
        table.rows.push_back({{series.name},
                              {std::to_string(run->seed())},
                              number_cell(static_cast<double>(c.step)),
                              {c.accepted ? "yes" : "refused"},
                              number_cell(c.drift),
                              number_cell(c.relative_change()),
                              {c.accepted ? c.scope.text() : ""},
                              number_cell(c.loss_before),
                              number_cell(c.loss_after),
                              number_cell(c.grad_sq_before),
                              number_cell(c.grad_sq_after),
                              number_cell(c.curvature_before),
                              number_cell(c.curvature_after),
                              number_cell(c.condition),
                              number_cell(c.evaluations),
                              number_cell(c.seconds),
                              {c.reason}});
      }
    }
  }
  table.note = fmt::format("{}, {} refused; the largest drift of an accepted one is {}.",
                           count(table.rows.size(), "teleport"), tally.refused,
                           short_text(tally.largest_drift));
  if (tally.narrowest_scope) table.note += " " + scope_sentence(tally);
  if (tally.at_rounding_level > 0) {
    table.note += fmt::format(
        " {} of the accepted found the loss at rounding level: their drift is measured by what "
        "rounding the parameters before the teleport does to it, not by the loss.",
        tally.at_rounding_level);
  }
  if (!invariant) table.note += " The symmetry 'paper' is not loss-invariant.";
  return table;
}

std::string section_text(const ProblemRuns& problem) {
  std::vector<std::string> same;
  for (const char* key : {"optimizer", "lr", "steps", "epochs", "batch", "start", "precision"}) {
    const auto& options = problem.series.front().options;
    const auto value = options.find(key);
    const auto equal = [&](const RunSeries& series) {
      const auto found = series.options.find(key);
      return found != series.options.end() && found->second == value->second;
    };
    if (value != options.end() &&
        std::all_of(problem.series.begin(), problem.series.end(), equal)) {
      same.push_back(fmt::format("{} {}", key, value->second));
    }
  }
  return fmt::format("{} in {} series{}.", count(runs_of(problem), "run"), problem.series.size(),
                     same.empty() ? "" : "; all with " + join(same));
}

}  // namespace

Report run_report(const std::vector<RunRecord>& runs, const std::string& title,
                  const std::string& first) {
  const std::vector<ProblemRuns> problems = grouped(runs);
  Report report;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const ProblemRuns& problem = problems[i];
    const std::string prefix = first + (problems.size() == 1 ? "" : fmt::format("{}-", i + 1));
    names.push_back(problem.title);
    Section section;
    section.title = problem.title;
    section.text = section_text(problem);
    add_figures(problem, prefix, section);
    section.tables.push_back(run_table(problem, prefix));
    Table certificates = certificate_table(problem, prefix);
    if (!certificates.rows.empty()) section.tables.push_back(std::move(certificates));
    for (const RunSeries& series : problem.series) {
      section.listings.push_back(
          {fmt::format("Configuration of {}", series.name), series.first().config_text});
    }
    report.sections.push_back(std::move(section));
  }
  report.title = title.empty() ? join(names, " · ") : title;
  if (problems.size() > 1) {
    report.text = fmt::format("{} on {} problems.", count(runs.size(), "run"), problems.size());
  }
  report.footer = report_footer();
  return report;
}

std::string report_footer() {
  return fmt::format("Written by symport {} on {}.", version(), machine_text());
}

}  // namespace symport::lab::report
