// SPDX-License-Identifier: MIT
#include "lab/runs/run_writer.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "lab/runs/machine.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/core/version.hpp"

namespace symport::lab {

namespace {

Json json_row(const TraceRow& row, RowUnit unit) {
  Json json{{to_string(unit), unit == RowUnit::epoch ? row.epoch : row.step},
            {"train_loss", json_number(row.loss)},
            {"valid_loss", json_number(row.valid_loss)},
            {"valid_accuracy", json_number(row.valid_accuracy)},
            {"grad_sq", json_number(row.grad_sq)},
            {"learning_rate", json_number(row.learning_rate)},
            {"evaluations", json_number(row.evaluations)},
            {"seconds", json_number(row.seconds)},
            {"teleported", row.teleported}};
  if (unit == RowUnit::epoch) json["step"] = row.step;
  return json;
}

/// The certificates with what the trace knows of their teleports.
Json json_teleports(const RunSummary& run) {
  Json list = Json::array();
  for (std::size_t i = 0; i < run.teleports.size(); ++i) {
    list.push_back(json_certificate(run.teleports[i]));
    if (run.trace.teleports.empty()) continue;  // no trace was kept
    const TraceTeleport& teleport = run.trace.teleports[i];
    if (run.trace.unit == RowUnit::epoch) {
      list.back()["epoch"] = teleport.epoch;
      list.back()["batch"] = teleport.batch;
    }
    if (teleport.before.size() > 0) {
      list.back()["x_before"] = json_numbers(teleport.before);
      list.back()["x_after"] = json_numbers(teleport.after);
    }
  }
  return list;
}

Json json_teleports(const TrainingResult& result) {
  Json list = json_teleports(result.run);
  for (Json& teleport : list) teleport["loss_invariant"] = result.loss_invariant;
  return list;
}

std::string lines_of(const Json& list) {
  std::string text;
  for (const Json& object : list) text += json_line(object);
  return text;
}

std::string csv(const Trace& trace, TraceLayout layout) {
  std::ostringstream text;
  write_csv(trace, text, layout);
  return std::move(text).str();
}

}  // namespace

std::string train_json(const TrainingResult& result) {
  const TrainingOptions& options = result.options;
  Json json{
      {"status", to_string(result.run.status)},
      {"final_loss", json_number(result.run.final_loss)},
      {"updates", result.run.steps},
      {"evaluations", json_number(result.run.evaluations)},
      {"seconds", result.run.seconds},
      {"data", options.data},
      {"layers", options.layers},
      {"activation", options.activation.name()},
      {"loss", options.loss->name()},
      {"optimizer", options.optimizer},
      {"learning_rate", *options.learning_rate},
      {"schedule", options.teleport.to_string()},
      {"symmetry", options.how.symmetry},
      {"loss_invariant", result.loss_invariant},
      {"search", options.how.search},
      {"precision", to_string(options.precision)},
      {"seed", options.seed},
      {"machine", machine_text()},
      {"version", version()},
      {"trace_version", Trace::version},
  };
  if (result.test_samples > 0) {
    json["test"] = {{"samples", result.test_samples},
                    {"loss", json_number(result.test_loss)},
                    {"accuracy", json_number(result.test_accuracy)}};
  }
  Json rows = Json::array();
  for (const TraceRow& row : result.run.trace.rows) {
    rows.push_back(json_row(row, result.run.trace.unit));
  }
  json[result.minibatch() ? "epochs" : "steps"] = std::move(rows);
  json["teleports"] = json_teleports(result);
  return json_text(json);
}

void write_training(const TrainingResult& result, RunDirectory& directory) {
  directory.write("model.npz", result.model);
  directory.write("config.toml", training_config(result.options));
  directory.write("trace.csv", csv(result.run.trace, TraceLayout::training));
  directory.write("teleports.jsonl", lines_of(json_teleports(result)));
  directory.write("summary.json", train_json(result));
}

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
      {"trace_version", Trace::version},
      {"machine", machine_text()},
      {"teleports", json_teleports(summary)},
  };
  return json_text(json);
}

void write_run(const Optimization& run, RunDirectory& directory,
               const std::filesystem::path& folder) {
  directory.write(folder / "config.toml", run.config());
  directory.write(folder / "trace.csv", csv(run.summary().trace, TraceLayout::function));
  directory.write(folder / "teleports.jsonl", lines_of(json_teleports(run.summary())));
  directory.write(folder / "summary.json", optimize_json(run));
}

}  // namespace symport::lab
