// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "symport/search/teleport_tally.hpp"

namespace symport::lab {

/// On which data the accepted teleports kept the loss, and what they did to it elsewhere, for a
/// terminal and for a page: "The loss was kept on 6 of 200 samples (the least of all teleports); on
/// 200 samples that were watched it grew to 1.8 times at most." Empty without accepted teleports.
std::string scope_sentence(const TeleportTally& tally);

}  // namespace symport::lab
