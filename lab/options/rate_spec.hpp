// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "lab/options/codec.hpp"
#include "symport/schedules/learning_rate.hpp"

namespace symport::lab {

/// A learning rate, or `auto`: the optimizer measures every step.
struct RateSpec {
  std::optional<LearningRate> rate = std::nullopt;  ///< unset: auto

  bool automatic() const { return !rate; }
  /// Where it is one number, neither `auto` nor a schedule.
  std::optional<double> constant() const;
  std::string text() const;  ///< "0.1", "cosine:0.1,100", "auto"

  static RateSpec parse(const std::string& text);
};

Codec<RateSpec> as_rate();

}  // namespace symport::lab
