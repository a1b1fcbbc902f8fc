// SPDX-License-Identifier: MIT
#include "properties/teleports.hpp"

namespace symport::testing {
namespace {

TEST(Teleports, AHundredThousandKeepTheLossOrAreRefused) {
  EXPECT_GE(teleport_at_random(10200), 100000);
}

}  // namespace
}  // namespace symport::testing
