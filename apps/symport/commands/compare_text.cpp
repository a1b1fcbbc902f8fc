// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "commands/texts.hpp"
#include "lab/compare/output.hpp"
#include "lab/compare/summary.hpp"
#include "terminal/text_table.hpp"

namespace symport::cli {

using namespace lab::compare;

namespace {

std::string table_of(const Comparison& comparison, const ProblemResult& problem,
                     const Style& style) {
  using enum TextTable::Align;
  TextTable table({{"method", left},
                   {"rate"},
                   {"reached"},
                   {"steps"},
                   {"evaluations"},
                   {"seconds"},
                   {"median last loss"},
                   {"teleports"},
                   {"refused"},
                   {"drift"},
                   {"diverged"}});
  for (std::size_t m = 0; m < problem.entries.size(); ++m) {
    const Entry& entry = problem.entries[m];
    if (!entry.fits()) {
      table.add({comparison.options.methods[m].text, "-", "does not fit"});
      continue;
    }
    const Summary s = summary_of(comparison, entry);
    table.add({comparison.options.methods[m].text,
               entry.rate + (entry.tuned || entry.rate == "auto" ? "" : " (given)"),
               fmt::format("{} of {}", s.reached, entry.trials.size()), spread_text(s.steps),
               spread_text(s.evaluations), spread_text(s.seconds), last_loss_text(s),
               s.teleports == 0 ? "-" : fmt::format("{}", s.teleports),
               s.teleports == 0 ? "-" : fmt::format("{}", s.refused),
               s.accepted == 0 ? "-" : fmt::format("{:.1e}", s.drift),
               s.diverged == 0 ? "-" : fmt::format("{}", s.diverged)});
  }
  return table.text(style);
}

std::string sentence(const Judgement& judgement, const Style& style) {
  switch (judgement.effect) {
    case Effect::helped:
      return style.good(judgement.text);
    case Effect::did_not_help:
      return style.bad(judgement.text);
    case Effect::cannot_tell:
      break;
  }
  return judgement.text;
}

std::string profile_table(const Comparison& comparison, const Style& style) {
  using enum TextTable::Align;
  const double factors[] = {1.0, 1.5, 2.0, 5.0, 10.0};
  std::vector<TextTable::Column> columns{{"share solved within a factor of the best", left}};
  for (const double factor : factors) columns.push_back({fmt::format("{}", factor)});
  columns.push_back({"ever"});
  TextTable table(std::move(columns));
  const PerformanceProfile profile = profile_of(comparison);
  for (std::size_t m = 0; m < comparison.options.methods.size(); ++m) {
    const auto solver = static_cast<Index>(m);
    std::vector<std::string> cells{comparison.options.methods[m].text};
    for (const double factor : factors) {
      cells.push_back(fmt::format("{:.0f} %", 100.0 * profile.at(solver, factor)));
    }
    cells.push_back(
        fmt::format("{:.0f} %", 100.0 * static_cast<double>(profile.ratios(solver).size()) /
                                    static_cast<double>(profile.problems())));
    table.add(std::move(cells));
  }
  return table.text(style);
}

}  // namespace

std::string compare_text(const Comparison& comparison, const Style& style) {
  const CompareOptions& options = comparison.options;
  std::string text = fmt::format(
      "{} seeds, paired; budget {} a run. Costs are to the target: median [{:.3g} % interval], "
      "censored at the budget.\n{}\n",
      comparison.seeds.size(), options.budget.text(), 100.0 * options.confidence,
      tuning_text(comparison));
  for (const ProblemResult& problem : comparison.problems) {
    text += fmt::format(
        "\n{}\n{}",
        style.bold(fmt::format("{}, target {}", problem.problem.name, problem.target.text())),
        table_of(comparison, problem, style));
  }
  text += "\n" + profile_table(comparison, style);
  const std::vector<Judgement> list = judgements(comparison);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i == 0 || list[i].method != list[i - 1].method) text += "\n";
    text += (list[i].best ? "" : "  ") + sentence(list[i], style) + "\n";
  }
  if (list.empty()) text += "\nNo method teleports: there is nothing to judge.\n";
  const std::vector<std::string> notes = remarks(comparison);
  if (!notes.empty()) text += "\n";
  for (const std::string& note : notes) text += "note: " + note + "\n";
  return text;
}

}  // namespace symport::cli
