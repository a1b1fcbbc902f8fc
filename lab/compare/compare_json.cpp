// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "lab/compare/output.hpp"
#include "lab/compare/summary.hpp"
#include "lab/runs/machine.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/core/version.hpp"

namespace symport::lab::compare {

namespace {

Json bounds_json(const Bounds& bounds) {
  return Json::array({json_number(bounds.low), json_number(bounds.high)});
}

/// A median of known numbers with its interval.
Json median_json(const MedianInterval& value) {
  return {{"median", json_number(value.median.high)}, {"interval", bounds_json(value.interval)}};
}

Json run_json(const Trial& trial, std::uint64_t seed) {
  Json json{{"seed", seed},
            {"status", symport::to_string(trial.status)},
            {"reached", trial.reached.has_value()},
            {"last_loss", json_number(trial.last_loss)},
            {"teleports", trial.teleports.total()},
            {"accepted", trial.teleports.accepted},
            {"drift", json_number(trial.teleports.largest_drift)}};
  if (trial.reached) {
    json["steps"] = trial.reached->steps;
    json["evaluations"] = trial.reached->evaluations;
    json["seconds"] = trial.reached->seconds;
  }
  return json;
}

Json entry_json(const Comparison& comparison, const Entry& entry, const Method& method) {
  Json json{{"method", method.text}, {"fits", entry.fits()}};
  if (!entry.fits()) {
    json["misfit"] = entry.misfit;
    return json;
  }
  const Summary s = summary_of(comparison, entry);
  json.update({{"learning_rate", entry.rate},
               {"tuned", entry.tuned},
               {"at_edge_of_grid", entry.at_edge},
               {"tuning",
                {{"runs", entry.tuning.runs},
                 {"evaluations", entry.tuning.evaluations},
                 {"seconds", entry.tuning.seconds}}},
               {"reached", s.reached},
               {"steps", median_json(s.steps)},
               {"evaluations", median_json(s.evaluations)},
               {"seconds", median_json(s.seconds)},
               {"last_loss", median_json(s.last_loss)},
               {"teleports", s.teleports},
               {"accepted", s.accepted},
               {"refused", s.refused},
               {"first_refusal", s.refusal},
               {"drift", json_number(s.drift)},
               {"loss_invariant", s.loss_invariant},
               {"diverged", s.diverged},
               {"diverged_later", s.diverged_later},
               {"runs", Json::array()}});
  for (std::size_t i = 0; i < entry.trials.size(); ++i) {
    json["runs"].push_back(run_json(entry.trials[i], comparison.seeds[i]));
  }
  return json;
}

Json judgement_json(const Judgement& j) {
  return {{"method", j.method},
          {"problem", j.problem.empty() ? Json(nullptr) : Json(j.problem)},
          {"baseline", j.baseline.empty() ? Json(nullptr) : Json(j.baseline)},
          {"baseline_is_best", j.best},
          {"outcome", to_string(j.effect)},
          {"speed_up",
           {{"median", bounds_json(j.speed_up.median)},
            {"interval", bounds_json(j.speed_up.interval)},
            {"coverage", j.speed_up.coverage}}},
          {"pairs", j.pairs},
          {"reached", j.reached},
          {"baseline_reached", j.baseline_reached},
          {"text", j.text}};
}

}  // namespace

std::string compare_json(const Comparison& comparison) {
  const CompareOptions& options = comparison.options;
  Json json{{"status", comparison.interrupted ? "interrupted" : "done"},
            {"budget", options.budget.text()},
            {"confidence", options.confidence},
            {"seeds", comparison.seeds},
            {"problems", Json::array()},
            {"profile", Json::array()},
            {"verdicts", Json::array()},
            {"notes", remarks(comparison)},
            {"seconds", comparison.seconds},
            {"machine", machine_text()},
            {"version", version()}};
  for (const ProblemResult& problem : comparison.problems) {
    Json entries = Json::array();
    for (std::size_t m = 0; m < problem.entries.size(); ++m) {
      entries.push_back(entry_json(comparison, problem.entries[m], options.methods[m]));
    }
    json["problems"].push_back({{"problem", problem.problem.name},
                                {"target", problem.target.text()},
                                {"methods", std::move(entries)}});
  }
  const PerformanceProfile profile = profile_of(comparison);
  for (std::size_t m = 0; m < options.methods.size(); ++m) {
    json["profile"].push_back({{"method", options.methods[m].text},
                               {"pairs", profile.problems()},
                               {"ratios", profile.ratios(static_cast<Index>(m))}});
  }
  for (const Judgement& j : judgements(comparison)) json["verdicts"].push_back(judgement_json(j));
  return json_text(json);
}

}  // namespace symport::lab::compare
