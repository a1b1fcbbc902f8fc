// SPDX-License-Identifier: MIT
#include "lab/text/scope_sentence.hpp"

#include <fmt/format.h>

#include <cmath>

namespace symport::lab {

std::string scope_sentence(const TeleportTally& tally) {
  if (!tally.narrowest_scope) return {};
  const Scope& scope = *tally.narrowest_scope;
  if (scope.data == Scope::Data::all) return "The loss was kept on all data.";
  std::string text = fmt::format("The loss was kept {}{}{}", scope.text(),
                                 scope.data == Scope::Data::batch ? " only" : "",
                                 tally.accepted > 1 ? " (the least of these teleports)" : "");
  if (std::isnan(tally.largest_growth_elsewhere)) {
    return text + "; what became of it on other data was not measured.";
  }
  return text + fmt::format(
                    "; on {} samples that were watched a teleport changed it to {:.3g} "
                    "times what it was, at most.",
                    tally.checked_elsewhere, tally.largest_growth_elsewhere);
}

}  // namespace symport::lab
