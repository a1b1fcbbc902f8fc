// SPDX-License-Identifier: MIT
#include "properties/teleports.hpp"

namespace symport::testing {
namespace {

TEST(Teleports, KeepTheLossOrAreRefusedAndChangeNothing) { teleport_at_random(250); }

}  // namespace
}  // namespace symport::testing
