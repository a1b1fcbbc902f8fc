// SPDX-License-Identifier: MIT
// The learning-rate grammar: rates are finite and not negative, and the text form keeps them.
#include "symport/schedules/learning_rate.hpp"

#include <cmath>
#include <limits>

#include "support/bounded.hpp"
#include "support/mutate_inside.hpp"
#include "symport/core/invalid_argument.hpp"

using namespace symport;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const fuzz::MemoryBound bound(size, fuzz::plain);
  const LearningRate rate = LearningRate::parse(fuzz::text_of(data, size));
  const LearningRate again = LearningRate::parse(rate.to_string());
  for (const Index t : {Index{0}, Index{1}, Index{1000}, std::numeric_limits<Index>::max()}) {
    fuzz::require(std::isfinite(rate.at(t)) && rate.at(t) >= 0.0, "a rate is finite and >= 0");
    fuzz::require(rate.at(t) == again.at(t), "the text form keeps the rates");
  }
  return 0;
} catch (const InvalidArgument&) {
  return 0;
}
