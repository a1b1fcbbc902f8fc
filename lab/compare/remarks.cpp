// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lab/compare/output.hpp"
#include "lab/compare/summary.hpp"
#include "lab/text/parse_numbers.hpp"

namespace symport::lab::compare {

std::vector<std::string> remarks(const Comparison& comparison) {
  std::vector<std::string> list;
  std::size_t edges = 0;
  std::string example;
  for (const ProblemResult& problem : comparison.problems) {
    for (std::size_t m = 0; m < problem.entries.size(); ++m) {
      const Entry& entry = problem.entries[m];
      const std::string& name = comparison.options.methods[m].text;
      if (!entry.fits()) {
        list.push_back(
            fmt::format("{} does not fit {} and counts as not reaching the target there: "
                        "{}",
                        name, problem.problem.name, entry.misfit));
      }
      const auto lost = std::count_if(
          entry.trials.begin(), entry.trials.end(),
          [](const Trial& trial) { return trial.reached && trial.status == RunStatus::diverged; });
      if (lost > 0) {
        list.push_back(
            fmt::format("{} reached the target on {} and diverged afterwards in {} run{}", name,
                        problem.problem.name, lost, lost == 1 ? "" : "s"));
      }
      const bool exact = std::all_of(entry.trials.begin(), entry.trials.end(),
                                     [](const Trial& trial) { return trial.loss_invariant; });
      if (!exact) {
        list.push_back(
            fmt::format("{} is not loss-invariant: its teleports change the loss on {} by "
                        "themselves (drift up to {:.2g})",
                        name, problem.problem.name, summary_of(comparison, entry).drift));
      }
      if (entry.at_edge) {
        ++edges;
        example = fmt::format("{} on {}, {}", name, problem.problem.name, entry.rate);
      }
    }
  }
  if (edges > 0) {
    list.push_back(
        fmt::format("{} best rate{} at an end of the grid ({}); a wider --grid may be "
                    "fairer",
                    edges, edges == 1 ? " is" : "s are", example));
  }
  if (comparison.options.rate) {
    list.push_back(
        fmt::format("the learning rate {} was given and not tuned: nothing here is about "
                    "methods at their best rates",
                    comparison.options.rate->text()));
  }
  return list;
}

std::string tuning_text(const Comparison& comparison) {
  TuningCost total;
  bool tuned = false;
  for (const ProblemResult& problem : comparison.problems) {
    for (const Entry& entry : problem.entries) {
      tuned = tuned || entry.tuned;
      total.runs += entry.tuning.runs;
      total.evaluations += entry.tuning.evaluations;
      total.seconds += entry.tuning.seconds;
    }
  }
  if (!tuned) return "Learning rates were given, not tuned.";
  const RateGrid& grid = comparison.options.grid;
  return fmt::format(
      "Learning rates of all methods tuned on the same {} rates from {:g} to {:g} with {} other "
      "seeds: "
      "{} "
      "runs, {:.3g} evaluations, {}, not counted.",
      rates_of(grid).size(), grid.lowest, grid.highest, comparison.options.tuning_seeds, total.runs,
      total.evaluations, duration_text(total.seconds));
}

std::string runs_csv(const Comparison& comparison) {
  std::string text =
      "problem,method,seed,learning_rate,reached,steps,evaluations,seconds,last_loss,status,"
      "teleports,accepted,drift\n";
  const auto quoted = [](const std::string& cell) {
    return cell.find(',') == std::string::npos ? cell : "\"" + cell + "\"";
  };
  for (const ProblemResult& problem : comparison.problems) {
    for (std::size_t m = 0; m < problem.entries.size(); ++m) {
      const Entry& entry = problem.entries[m];
      for (std::size_t i = 0; i < entry.trials.size(); ++i) {
        const Trial& trial = entry.trials[i];
        const Cost at = trial.reached.value_or(trial.spent);
        fmt::format_to(
            std::back_inserter(text), "{},{},{},{},{},{:.0f},{},{:.9f},{:.17g},{},{},{},{:.17g}\n",
            quoted(problem.problem.name), quoted(comparison.options.methods[m].text),
            comparison.seeds[i], entry.rate, trial.reached ? 1 : 0, at.steps, at.evaluations,
            at.seconds, trial.last_loss, symport::to_string(trial.status), trial.teleports.total(),
            trial.teleports.accepted, trial.teleports.largest_drift);
      }
    }
  }
  return text;
}

}  // namespace symport::lab::compare
