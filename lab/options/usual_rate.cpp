// SPDX-License-Identifier: MIT
#include "lab/options/usual_rate.hpp"

#include "lab/options/registry.hpp"

namespace symport::lab {

bool finds_its_own_steps(const std::string& optimizer) {
  const OptimizerEntry* entry = entry_named(optimizers(), optimizer);
  return entry != nullptr && !entry->plain;
}

RateSpec usual_rate_of(const std::string& optimizer, const LearningRate& of_the_problem) {
  const OptimizerEntry* entry = entry_named(optimizers(), optimizer);
  if (entry == nullptr) return {of_the_problem};
  if (!entry->plain) return {};
  return {entry->rate ? LearningRate(*entry->rate) : of_the_problem};
}

}  // namespace symport::lab
