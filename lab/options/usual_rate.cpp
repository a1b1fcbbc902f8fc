// SPDX-License-Identifier: MIT
#include "lab/options/usual_rate.hpp"

#include "lab/options/registry.hpp"

namespace symport::lab {

bool finds_its_own_steps(const std::string& optimizer) {
  const OptimizerEntry* entry = entry_named(optimizers(), optimizer);
  return entry != nullptr && !entry->plain;
}

RateSpec usual_rate_of(const std::string& optimizer, const LearningRate& of_the_problem) {
  if (finds_its_own_steps(optimizer)) return {};
  return {default_rate(optimizer, of_the_problem)};
}

}  // namespace symport::lab
