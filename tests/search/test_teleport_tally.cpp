// SPDX-License-Identifier: MIT
#include "symport/search/teleport_tally.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace symport {
namespace {

Certificate teleport(Index step, bool accepted, double drift, std::string reason = "") {
  Certificate c;
  c.step = step;
  c.accepted = accepted;
  c.drift = drift;
  c.reason = std::move(reason);
  return c;
}

TEST(TeleportTally, CountsAndRemembersTheLargestDriftAndTheFirstRefusal) {
  const std::vector<Certificate> teleports = {
      teleport(0, true, 1e-14), teleport(3, false, 0.5, "too far"), teleport(6, true, 3e-12),
      teleport(9, false, 0.7, "nothing better"), teleport(12, true, 2e-13)};
  const TeleportTally tally(teleports);
  EXPECT_EQ(tally.accepted, 3);
  EXPECT_EQ(tally.refused, 2);
  EXPECT_EQ(tally.total(), 5);
  EXPECT_EQ(tally.largest_drift, 3e-12) << "that of a refused teleport did not happen";
  ASSERT_TRUE(tally.first_refusal);
  EXPECT_EQ(tally.first_refusal->step, 3);
  EXPECT_EQ(tally.first_refusal->reason, "too far");
}

TEST(TeleportTally, CountsAcceptedTeleportsAtRoundingLevel) {
  Certificate kept = teleport(0, true, 0.1), rounded = teleport(1, true, 1e-9);
  for (Certificate* c : {&kept, &rounded}) {
    c->loss_before = 1.0;
    c->loss_after = 1.1;
  }
  kept.drift = kept.relative_change();
  Certificate refused = rounded;
  refused.accepted = false;
  refused.loss_after = 9.0;
  const TeleportTally tally(std::vector{kept, rounded, refused});
  EXPECT_EQ(tally.at_rounding_level, 1);
  EXPECT_EQ(tally.largest_relative_change, kept.relative_change());
}

TEST(TeleportTally, OfNothingIsNothing) {
  const TeleportTally tally{std::span<const Certificate>{}};
  EXPECT_EQ(tally.total(), 0);
  EXPECT_EQ(tally.largest_drift, 0.0);
  EXPECT_FALSE(tally.first_refusal);
}

// Wherever it stands: a maximum taken carelessly forgets it, or everything after it.
TEST(TeleportTally, ADriftThatIsNotANumberIsTheLargest) {
  const Certificate small = teleport(0, true, 1e-14), broken = teleport(1, true, std::nan("")),
                    large = teleport(2, true, 0.1);
  for (const auto& order : {std::vector{broken, small, large}, std::vector{small, broken, large},
                            std::vector{small, large, broken}}) {
    EXPECT_EQ(TeleportTally(order).largest_drift, HUGE_VAL);
  }
}

}  // namespace
}  // namespace symport
