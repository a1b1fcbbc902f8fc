// SPDX-License-Identifier: MIT
#include "lab/runs/run_writer.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lab/runs/machine.hpp"
#include "lab/runs/run_config.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/core/version.hpp"
#include "symport/statistics/quantile.hpp"
#include "symport/training/mlp_file.hpp"

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

Json json_teleports(const NetworkResult& result) {
  Json list = json_teleports(result.summary);
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

namespace {

Json json_object(const NetworkResult& result) {
  const NetworkRunSpec& spec = result.spec;
  const RunSummary& summary = result.summary;
  Json json{
      {"status", to_string(summary.status)},
      {"final_loss", json_number(summary.final_loss)},
      {"updates", summary.steps},
      {"evaluations", json_number(summary.evaluations)},
      {"seconds", summary.seconds},
      {"data", spec.data},
      {"layers", spec.layers},
      {"activation", spec.activation->name()},
      {"loss", spec.loss->name()},
      {"optimizer", spec.optimizer},
      {"learning_rate", spec.learning_rate->text()},
      {"schedule", spec.teleport.to_string()},
      {"round_trip", spec.trip.on() ? std::string(to_string(*spec.trip.kind)) : "never"},
      {"symmetry", *spec.how.symmetry},
      {"loss_invariant", result.loss_invariant},
      {"search", spec.how.how.search},
      {"precision", to_string(spec.precision)},
      {"seed", spec.seed},
      {"machine", machine_text()},
      {"version", version()},
      {"trace_version", Trace::version},
  };
  json["train_accuracy"] = json_number(result.train_accuracy);
  if (!result.class_names.empty()) json["class_names"] = result.class_names;
  if (result.test_samples > 0) {
    json["test"] = {{"samples", result.test_samples},
                    {"loss", json_number(result.test_loss)},
                    {"accuracy", json_number(result.test_accuracy)}};
  }
  const Trace& trace = summary.trace;
  Json rows = Json::array();
  for (const TraceRow& row : trace.rows) rows.push_back(json_row(row, trace.unit));
  json[trace.unit == RowUnit::epoch ? "epochs" : "steps"] = std::move(rows);
  json["teleports"] = json_teleports(result);
  return json;
}

}  // namespace

std::string json_of(const NetworkResult& result) { return json_text(json_object(result)); }

double median_final_loss(const std::vector<NetworkResult>& results) {
  std::vector<double> losses;
  for (const NetworkResult& result : results) {
    const double loss = result.summary.final_loss;
    const bool lost = result.summary.status == RunStatus::diverged || std::isnan(loss);
    losses.push_back(lost ? std::numeric_limits<double>::infinity() : loss);
  }
  return median(losses);
}

std::string json_of_seeds(const std::vector<NetworkResult>& results) {
  Json runs = Json::array();
  for (const NetworkResult& result : results) runs.push_back(json_object(result));
  return json_text({{"median_final_loss", json_number(median_final_loss(results))},
                    {"runs", std::move(runs)},
                    {"version", version()}});
}

void write_results(const NetworkResult& result, RunDirectory& directory,
                   const std::filesystem::path& folder) {
  ArrayMap model = result.model;
  describe_mlp(model, {*result.spec.activation, result.spec.loss});
  directory.write({{folder / "model.npz", {}, &model},
                   {folder / "trace.csv", csv(result.summary.trace, TraceLayout::training)},
                   {folder / "teleports.jsonl", lines_of(json_teleports(result))},
                   {folder / "summary.json", json_of(result)}});
}

void write_run(const NetworkResult& result, RunDirectory& directory,
               const std::filesystem::path& folder) {
  directory.write(folder / "config.toml", config_of(result.spec));
  write_results(result, directory, folder);
}

std::string json_of(const FunctionResult& result) {
  const RunSummary& summary = result.summary;
  const FunctionRunSpec& spec = result.spec;
  const auto rate = spec.learning_rate->constant();
  Json json{
      {"status", to_string(summary.status)},
      {"final_loss", json_number(summary.final_loss)},
      {"final_grad_sq", json_number(summary.final_grad_sq)},
      {"x", json_numbers(result.x)},
      {"steps", summary.steps},
      {"function", spec.function},
      {"optimizer", spec.optimizer},
      {"learning_rate", rate ? Json(*rate) : Json(spec.learning_rate->text())},
      {"schedule", spec.teleport.to_string()},
      {"search", spec.how.search},
      {"objective", to_string(*spec.how.objective)},
      {"state", to_string(spec.how.state)},
      {"seed", spec.seed},
      {"evaluations", json_number(summary.evaluations)},
      {"seconds", summary.seconds},
      {"version", version()},
      {"trace_version", Trace::version},
      {"machine", machine_text()},
      {"teleports", json_teleports(summary)},
  };
  return json_text(json);
}

void write_run(const FunctionResult& result, RunDirectory& directory,
               const std::filesystem::path& folder) {
  directory.write({{folder / "config.toml", config_of(result.spec, result.formula)},
                   {folder / "trace.csv", csv(result.summary.trace, TraceLayout::function)},
                   {folder / "teleports.jsonl", lines_of(json_teleports(result.summary))},
                   {folder / "summary.json", json_of(result)}});
}

}  // namespace symport::lab
