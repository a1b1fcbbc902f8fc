// SPDX-License-Identifier: MIT
#include "lab/runs/own_run.hpp"

#include "lab/options/own_function.hpp"
#include "lab/runs/run_directory.hpp"
#include "lab/runs/run_writer.hpp"

namespace symport::lab {

void write_own_run(const std::filesystem::path& directory, const OwnRun& run,
                   const RunSummary& summary, bool force) {
  if (run.name.empty() && run.formula.empty()) throw UsageError("name", "missing");
  FunctionRunSpec spec{.function = run.formula.empty() ? "own:" + run.name : run.formula,
                       .seed = run.seed};
  if (!run.formula.empty()) with_origin("formula", [&] { make_own_function(run.formula); });
  spec.optimizer =
      with_origin("optimizer", [&] { return find_entry(optimizers(), run.optimizer).name; });
  spec.learning_rate =
      with_origin("learning_rate", [&] { return RateSpec{LearningRate(run.learning_rate)}; });
  spec.teleport = with_origin("teleport", [&] { return Schedule::parse(run.teleport); });
  spec.steps = summary.steps;
  spec.start.emplace();
  if (!summary.trace.points.empty()) {
    const Vector& start = summary.trace.points.front();
    spec.start->assign(start.begin(), start.end());
  }
  spec.how.objective = ObjectiveKind::predicted_decrease;
  RunDirectory place(directory, force, directory.string());
  write_run(FunctionResult{spec, run.name, 0.0, run.x, summary}, place);
}

}  // namespace symport::lab
