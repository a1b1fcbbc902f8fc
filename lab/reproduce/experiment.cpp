// SPDX-License-Identifier: MIT
#include "lab/reproduce/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace symport::lab {

std::string_view to_string(Statistic statistic) {
  constexpr std::string_view names[] = {"median", "mean", "largest", "smallest"};
  return names[static_cast<std::size_t>(statistic)];
}

std::string_view to_string(SweepReduction reduction) {
  constexpr std::string_view names[] = {"none",    "exponent",        "linearity",
                                        "largest", "share_above_one", "share_missing"};
  return names[static_cast<std::size_t>(reduction)];
}

std::string Quantity::text(const std::string& run) const {
  std::string text = fmt::format("{} {} of '{}'", to_string(statistic), column, run);
  if (at) text += fmt::format(" at {}", *at);
  if (at_loss) text += fmt::format(" where its loss is {:g}", *at_loss);
  if (at_change) text += fmt::format(" where its loss changes by less than {:g}", *at_change);
  if (!relative_to.empty()) text += fmt::format(", relative to '{}'", relative_to);
  if (!speed_up_over.empty()) text += fmt::format(", speed-up over '{}'", speed_up_over);
  return text;
}

std::string Expectation::text() const {
  const std::string text = quantity.text(run);
  if (reduction == SweepReduction::none) return text;
  std::string name(to_string(reduction));
  std::replace(name.begin(), name.end(), '_', ' ');
  return name + " of the " + text;
}

}  // namespace symport::lab
