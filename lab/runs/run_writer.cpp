// SPDX-License-Identifier: MIT
#include "lab/runs/run_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lab/runs/machine.hpp"
#include "lab/runs/run_config.hpp"
#include "lab/text/json_forms.hpp"
#include "lab/text/parse_numbers.hpp"
#include "symport/core/version.hpp"

namespace symport::lab {

namespace {

Json json_row(const NetworkRow& row, const char* index) {
  return {{index, row.index},
          {"train_loss", json_number(row.train_loss)},
          {"valid_loss", json_number(row.valid_loss)},
          {"valid_accuracy", json_number(row.valid_accuracy)},
          {"grad_sq", json_number(row.grad_sq)},
          {"learning_rate", json_number(row.learning_rate)},
          {"evaluations", json_number(row.evaluations)},
          {"seconds", json_number(row.seconds)}};
}

Json json_certificates(const NetworkResult& result) {
  Json list = Json::array();
  for (const Certificate& certificate : result.teleports) {
    list.push_back(json_certificate(certificate));
    list.back()["loss_invariant"] = result.loss_invariant;
  }
  return list;
}

std::string csv(const NetworkResult& result) {
  std::string text = fmt::format(
      "{},train_loss,valid_loss,valid_accuracy,grad_sq,learning_rate,evaluations,seconds\n",
      result.spec.minibatch() ? "epoch" : "step");
  for (const NetworkRow& row : result.rows) {
    fmt::format_to(std::back_inserter(text),
                   "{},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{},{:.9f}\n", row.index,
                   unsigned_nan(row.train_loss), unsigned_nan(row.valid_loss),
                   unsigned_nan(row.valid_accuracy), unsigned_nan(row.grad_sq), row.learning_rate,
                   row.evaluations, row.seconds);
  }
  return text;
}

}  // namespace

std::string json_of(const NetworkResult& result) {
  const NetworkRunSpec& spec = result.spec;
  Json json{
      {"status", to_string(result.status)},
      {"final_loss",
       json_number(result.rows.empty() ? std::nan("") : result.rows.back().train_loss)},
      {"updates", result.steps},
      {"evaluations", json_number(result.evaluations)},
      {"seconds", result.seconds},
      {"data", spec.data},
      {"layers", spec.layers},
      {"activation", spec.activation.name()},
      {"loss", spec.loss->name()},
      {"optimizer", spec.optimizer},
      {"learning_rate", spec.learning_rate->text()},
      {"schedule", spec.teleport.to_string()},
      {"symmetry", spec.how.symmetry},
      {"loss_invariant", result.loss_invariant},
      {"search", spec.how.how.search},
      {"precision", to_string(spec.precision)},
      {"seed", spec.seed},
      {"machine", machine_text()},
      {"version", version()},
  };
  if (result.test_samples > 0) {
    json["test"] = {{"samples", result.test_samples},
                    {"loss", json_number(result.test_loss)},
                    {"accuracy", json_number(result.test_accuracy)}};
  }
  Json rows = Json::array();
  for (const NetworkRow& row : result.rows) {
    rows.push_back(json_row(row, result.spec.minibatch() ? "epoch" : "step"));
  }
  json[result.spec.minibatch() ? "epochs" : "steps"] = std::move(rows);
  json["teleports"] = json_certificates(result);
  return json_text(json);
}

void write_results(const NetworkResult& result, RunDirectory& directory) {
  directory.write("model.npz", result.model);
  directory.write("trace.csv", csv(result));
  std::string teleports;
  for (const Json& certificate : json_certificates(result)) teleports += json_line(certificate);
  directory.write("teleports.jsonl", teleports);
  directory.write("summary.json", json_of(result));
}

void write_run(const NetworkResult& result, RunDirectory& directory) {
  directory.write("config.toml", config_of(result.spec));
  write_results(result, directory);
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
      {"machine", machine_text()},
      {"teleports", Json::array()},
  };
  for (const Certificate& certificate : summary.teleports) {
    json["teleports"].push_back(json_certificate(certificate));
  }
  return json_text(json);
}

void write_run(const FunctionResult& result, RunDirectory& directory,
               const std::filesystem::path& folder) {
  directory.write(folder / "config.toml", config_of(result.spec, result.formula));
  std::ostringstream trace;
  write_csv(result.summary.trace, trace);
  directory.write(folder / "trace.csv", trace.view());
  std::string teleports;
  for (const Certificate& certificate : result.summary.teleports) {
    teleports += json_line(json_certificate(certificate));
  }
  directory.write(folder / "teleports.jsonl", teleports);
  directory.write(folder / "summary.json", json_of(result));
}

}  // namespace symport::lab
