// SPDX-License-Identifier: MIT
#include "lab/benchmark/recorded_run.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "lab/text/json_forms.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::lab::benchmark {

namespace {

/// What `json_number` writes.
double number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const auto text = json.get<std::string>();
  if (text == "inf") return infinity;
  if (text == "-inf") return -infinity;
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw InvalidArgument("number", "'" + text + "'", "a number, inf, -inf or nan");
}

Json list_json(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(json_number(value));
  return list;
}

std::vector<double> list_of(const Json& json) {
  std::vector<double> values;
  for (const Json& value : json) values.push_back(number_of(value));
  return values;
}

RunStatus status_of(const std::string& text) {
  constexpr std::array all{RunStatus::step_limit, RunStatus::converged, RunStatus::diverged,
                           RunStatus::interrupted};
  const auto found = std::find_if(
      all.begin(), all.end(), [&](RunStatus status) { return symport::to_string(status) == text; });
  if (found == all.end()) throw InvalidArgument("status", "'" + text + "'", "how a run ended");
  return *found;
}

}  // namespace

double RecordedRun::best() const { return losses.empty() ? infinity : losses.back(); }

std::optional<compare::Cost> RecordedRun::reached(double loss) const {
  // They descend: the first that is not above.
  const auto found = std::partition_point(losses.begin(), losses.end(),
                                          [&](double value) { return value > loss; });
  if (found == losses.end()) return std::nullopt;
  const auto i = static_cast<std::size_t>(found - losses.begin());
  return compare::Cost{.evaluations = evaluations[i], .seconds = seconds[i]};
}

RecordedRun recorded(const compare::Trial& trial, std::uint64_t seed,
                     const compare::StartLoss& start) {
  RecordedRun run{.seed = seed,
                  .start = start.start,
                  .minimum = start.minimum,
                  .last_loss = trial.last_loss,
                  .status = trial.status,
                  .spent = trial.spent,
                  .accepted = trial.teleports.accepted,
                  .refused = trial.teleports.refused,
                  .drift = trial.teleports.largest_drift,
                  .loss_invariant = trial.loss_invariant};
  if (trial.teleports.first_refusal) run.refusal = trial.teleports.first_refusal->reason;
  for (std::size_t i = 0; i < trial.points.size(); ++i) {
    if (!(trial.losses[i] < run.best())) continue;
    run.evaluations.push_back(trial.points[i].evaluations);
    run.seconds.push_back(trial.points[i].seconds);
    run.losses.push_back(trial.losses[i]);
  }
  return run;
}

Json run_json(const RecordedRun& run) {
  return {{"seed", run.seed},
          {"start", json_number(run.start)},
          {"minimum", json_number(run.minimum)},
          {"evaluations", list_json(run.evaluations)},
          {"seconds", list_json(run.seconds)},
          {"losses", list_json(run.losses)},
          {"last_loss", json_number(run.last_loss)},
          {"status", symport::to_string(run.status)},
          {"spent", list_json({run.spent.steps, run.spent.evaluations, run.spent.seconds})},
          {"accepted", run.accepted},
          {"refused", run.refused},
          {"drift", json_number(run.drift)},
          {"loss_invariant", run.loss_invariant},
          {"refusal", run.refusal}};
}

RecordedRun recorded_run(const Json& json) {
  const std::vector<double> spent = list_of(json.at("spent"));
  RecordedRun run{.seed = json.at("seed").get<std::uint64_t>(),
                  .start = number_of(json.at("start")),
                  .minimum = number_of(json.at("minimum")),
                  .evaluations = list_of(json.at("evaluations")),
                  .seconds = list_of(json.at("seconds")),
                  .losses = list_of(json.at("losses")),
                  .last_loss = number_of(json.at("last_loss")),
                  .status = status_of(json.at("status").get<std::string>()),
                  .accepted = json.at("accepted").get<Index>(),
                  .refused = json.at("refused").get<Index>(),
                  .drift = number_of(json.at("drift")),
                  .loss_invariant = json.at("loss_invariant").get<bool>(),
                  .refusal = json.at("refusal").get<std::string>()};
  const bool even = run.losses.size() == run.evaluations.size() &&
                    run.losses.size() == run.seconds.size() && spent.size() == 3;
  if (!even) throw InvalidArgument("curve", "columns of different length", "the same length");
  run.spent = {spent[0], spent[1], spent[2]};
  return run;
}

}  // namespace symport::lab::benchmark
