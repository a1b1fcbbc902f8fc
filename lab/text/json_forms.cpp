// SPDX-License-Identifier: MIT
#include "lab/text/json_forms.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace symport::lab {

Json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

Json json_numbers(const Vector& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(json_number(value));
  return list;
}

namespace {

/// Of a teleport that was refused there is none: nothing changed.
Json json_scope(const Certificate& c) {
  if (!c.accepted) return nullptr;
  const Scope& scope = c.scope;
  Json json{{"data", to_string(scope.data)}, {"text", "the loss is kept " + scope.text()}};
  if (scope.data != Scope::Data::all) {
    json["samples"] = scope.samples;
    json["of"] = scope.of;
  }
  if (scope.checked > 0) {
    json["check"] = {{"samples", scope.checked},
                     {"loss_before", json_number(scope.loss_before)},
                     {"loss_after", json_number(scope.loss_after)}};
  }
  return json;
}

}  // namespace

Json json_certificate(const Certificate& c) {
  return {
      {"step", c.step},
      {"loss_before", json_number(c.loss_before)},
      {"loss_after", json_number(c.loss_after)},
      {"drift", json_number(c.drift)},
      {"relative_change", json_number(c.relative_change())},
      {"at_rounding_level", c.at_rounding_level()},
      {"grad_sq_before", json_number(c.grad_sq_before)},
      {"grad_sq_after", json_number(c.grad_sq_after)},
      {"curvature_before", json_number(c.curvature_before)},
      {"curvature_after", json_number(c.curvature_after)},
      {"condition", json_number(c.condition)},
      {"evaluations", json_number(c.evaluations)},
      {"seconds", json_number(c.seconds)},
      {"accepted", c.accepted},
      {"reason", c.reason},
      {"scope", json_scope(c)},
  };
}

std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace symport::lab
