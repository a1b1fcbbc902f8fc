// SPDX-License-Identifier: MIT
#include "lab/runs/run_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lab/runs/machine.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/core/version.hpp"

namespace symport::lab {

namespace {

Json json_row(const TrainingRow& row, const char* index) {
  return {{index, row.index},
          {"train_loss", json_number(row.train_loss)},
          {"valid_loss", json_number(row.valid_loss)},
          {"valid_accuracy", json_number(row.valid_accuracy)},
          {"grad_sq", json_number(row.grad_sq)},
          {"learning_rate", json_number(row.learning_rate)},
          {"evaluations", json_number(row.evaluations)},
          {"seconds", json_number(row.seconds)}};
}

Json json_certificates(const TrainingResult& result) {
  Json list = Json::array();
  for (const Certificate& certificate : result.teleports) {
    list.push_back(json_certificate(certificate));
    list.back()["loss_invariant"] = result.loss_invariant;
  }
  return list;
}

std::string csv(const TrainingResult& result) {
  std::string text = fmt::format(
      "{},train_loss,valid_loss,valid_accuracy,grad_sq,learning_rate,evaluations,seconds\n",
      result.minibatch ? "epoch" : "step");
  for (const TrainingRow& row : result.rows) {
    fmt::format_to(std::back_inserter(text),
                   "{},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{},{:.9f}\n", row.index,
                   row.train_loss, row.valid_loss, row.valid_accuracy, row.grad_sq,
                   row.learning_rate, row.evaluations, row.seconds);
  }
  return text;
}

}  // namespace

std::string train_json(const TrainingResult& result) {
  const TrainingOptions& options = result.options;
  Json json{
      {"status", to_string(result.status)},
      {"final_loss",
       json_number(result.rows.empty() ? std::nan("") : result.rows.back().train_loss)},
      {"updates", result.steps},
      {"evaluations", json_number(result.evaluations)},
      {"seconds", result.seconds},
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
  };
  if (result.test_samples > 0) {
    json["test"] = {{"samples", result.test_samples},
                    {"loss", json_number(result.test_loss)},
                    {"accuracy", json_number(result.test_accuracy)}};
  }
  Json rows = Json::array();
  for (const TrainingRow& row : result.rows) {
    rows.push_back(json_row(row, result.minibatch ? "epoch" : "step"));
  }
  json[result.minibatch ? "epochs" : "steps"] = std::move(rows);
  json["teleports"] = json_certificates(result);
  return json_text(json);
}

void write_training(const TrainingResult& result, RunDirectory& directory) {
  directory.write("model.npz", result.model);
  directory.write("config.toml", training_config(result.options));
  directory.write("trace.csv", csv(result));
  std::string teleports;
  for (const Json& certificate : json_certificates(result)) teleports += json_line(certificate);
  directory.write("teleports.jsonl", teleports);
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

}  // namespace symport::lab
