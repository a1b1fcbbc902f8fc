// SPDX-License-Identifier: MIT
// The harm grid in its quick form: one seed, short runs. docs/safety.md has the whole tables.
#include <gtest/gtest.h>

#include "harm/harm_grid.hpp"

namespace symport::harm {
namespace {

double part(Index count, Index of) { return static_cast<double>(count) / static_cast<double>(of); }

struct Sides {
  Tally defaults, unguarded;
};

Sides both(Table (*grid)(const GridOptions&), Index length) {
  GridOptions options{.seeds = 1, .lengths = {length}};
  Sides sides{.defaults = total(grid(options)), .unguarded = {}};
  options.treatment = Treatment::unguarded;
  sides.unguarded = total(grid(options));
  return sides;
}

void expect_safe(const Sides& sides, double harm, double help) {
  const Tally& tally = sides.defaults;
  EXPECT_EQ(tally.diverged, 0);
  EXPECT_LE(part(tally.harmed, tally.runs), harm);
  EXPECT_LE(part(tally.serious, tally.runs), 0.01);
  EXPECT_GE(part(tally.helped, tally.runs), help);
  // The guards are why, and they let most of the help through.
  EXPECT_GT(sides.unguarded.harmed, 2 * tally.harmed);
  EXPECT_GE(static_cast<double>(tally.helped), 0.8 * static_cast<double>(sides.unguarded.helped));
}

TEST(Harm, OfTeleportsOnFunctionsIsRare) { expect_safe(both(function_grid, 200), 0.005, 0.4); }

TEST(Harm, OfTeleportsOnNetworksIsRare) { expect_safe(both(network_grid, 300), 0.005, 0.4); }

}  // namespace
}  // namespace symport::harm
