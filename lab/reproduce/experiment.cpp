// SPDX-License-Identifier: MIT
#include "lab/reproduce/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace symport::lab {

namespace fs = std::filesystem;

std::string_view to_string(Statistic statistic) {
  constexpr std::string_view names[] = {"median", "mean", "largest", "smallest"};
  return names[static_cast<std::size_t>(statistic)];
}

std::string_view to_string(Reduction reduction) {
  constexpr std::string_view names[] = {"none",    "exponent",        "linearity",
                                        "largest", "share_above_one", "share_missing"};
  return names[static_cast<std::size_t>(reduction)];
}

std::string ExperimentRun::folder() const {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || (c == '.' && !out.empty())) {
      out += static_cast<char>(std::tolower(byte));
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
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
  if (reduction == Reduction::none) return text;
  std::string name(to_string(reduction));
  std::replace(name.begin(), name.end(), '_', ' ');
  return name + " of the " + text;
}

std::vector<std::string> experiment_names(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(directory, ignored)) {
    if (entry.path().filename() != experiment_file_name) continue;
    names.push_back(entry.path().parent_path().lexically_relative(directory).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace symport::lab
