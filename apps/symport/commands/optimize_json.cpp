// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands/optimize.hpp"
#include "lab/runs/machine.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/core/version.hpp"

namespace symport::cli {

std::string optimize_json(const Optimization& run) {
  const RunSummary& summary = run.summary();
  const OptimizeOptions& options = run.options();
  const auto rate = run.constant_rate();
  Json json{
      {"status", to_string(summary.status)},
      {"final_loss", json_number(summary.final_loss)},
      {"final_grad_sq", json_number(summary.final_grad_sq)},
      {"x", json_numbers(run.x())},
      {"steps", summary.steps},
      {"function", options.function},
      {"optimizer", options.optimizer},
      {"learning_rate", rate ? Json(*rate) : Json(*options.learning_rate)},
      {"schedule", options.teleport.to_string()},
      {"search", options.search},
      {"objective", to_string(*options.objective)},
      {"state", to_string(options.state)},
      {"seed", options.seed},
      {"evaluations", json_number(summary.evaluations)},
      {"seconds", summary.seconds},
      {"version", version()},
      {"machine", machine_text()},
      {"teleports", Json::array()},
  };
  for (const Certificate& certificate : summary.teleports) {
    json["teleports"].push_back(json_certificate(certificate));
  }
  return json_text(json);
}

void write_run(const Optimization& run, RunDirectory& directory,
               const std::filesystem::path& folder) {
  directory.write(folder / "config.toml", run.config());
  std::ostringstream trace;
  write_csv(run.summary().trace, trace);
  directory.write(folder / "trace.csv", trace.view());
  std::string teleports;
  for (const Certificate& certificate : run.summary().teleports) {
    teleports += json_line(json_certificate(certificate));
  }
  directory.write(folder / "teleports.jsonl", teleports);
  directory.write(folder / "summary.json", optimize_json(run));
}

}  // namespace symport::cli
