// SPDX-License-Identifier: MIT
#include "lab/options/usual_rate.hpp"

#include "lab/options/registry.hpp"
#include "symport/optimizers/scaled_gd.hpp"

namespace symport::lab {

bool finds_its_own_steps(const std::string& optimizer) {
  const OptimizerEntry* entry = entry_named(optimizers(), optimizer);
  return entry != nullptr && !entry->plain;
}

RateSpec usual_rate_of(const std::string& optimizer, const LearningRate& of_the_problem) {
  if (finds_its_own_steps(optimizer)) return {};
  if (same_name(optimizer, ScaledGd<double>{}.name()))
    return {LearningRate(ScaledGd<>::usual_rate)};
  return {of_the_problem};
}

}  // namespace symport::lab
