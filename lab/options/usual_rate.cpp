// SPDX-License-Identifier: MIT
#include "lab/options/usual_rate.hpp"

#include "lab/options/registry.hpp"

namespace symport::lab {

bool finds_its_own_steps(const std::string& optimizer) {
  const OptimizerEntry* entry = entry_named(optimizers(), optimizer);
  return entry != nullptr && !entry->plain;
}

RateSpec usual_network_rate(const std::string& optimizer, double of_the_problem) {
  const OptimizerEntry* entry = entry_named(optimizers(), optimizer);
  if (entry == nullptr) return {of_the_problem};
  if (!entry->plain) return {};
  return {entry->rate.on_networks.value_or(of_the_problem)};
}

RateSpec usual_function_rate(const std::string& optimizer, double of_the_problem) {
  const OptimizerEntry* entry = entry_named(optimizers(), optimizer);
  if (entry == nullptr) return {of_the_problem};
  if (!entry->plain) return {};
  return {entry->rate.on_functions.value_or(entry->rate.share * of_the_problem)};
}

}  // namespace symport::lab
