// SPDX-License-Identifier: MIT
// The schedule grammar: the text form of what was read gives the same set.
#include "symport/schedules/schedule.hpp"

#include <limits>

#include "support/bounded.hpp"
#include "support/mutate_inside.hpp"
#include "symport/core/invalid_argument.hpp"

using namespace symport;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const fuzz::MemoryBound bound(size, fuzz::plain);
  const Schedule schedule = Schedule::parse(fuzz::text_of(data, size));
  const Schedule again = Schedule::parse(schedule.to_string());
  fuzz::require(again.to_string() == schedule.to_string(), "the text form stays");
  constexpr Index last = std::numeric_limits<Index>::max();
  for (const Index t : {Index{0}, Index{1}, Index{5}, Index{99}, Index{100}, last - 1, last}) {
    fuzz::require(schedule.contains(t) == again.contains(t), "the set stays");
  }
  return 0;
} catch (const InvalidArgument&) {
  return 0;
}
