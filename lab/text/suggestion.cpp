// SPDX-License-Identifier: MIT
#include "lab/text/suggestion.hpp"

#include <algorithm>
#include <cstddef>

namespace symport::lab {

namespace {

/// Damerau and Levenshtein's distance, neighbours swapped at most once (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) current[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(previous);
    previous.swap(current);
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replaced, previous[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
  }
  return current[b.size()];
}

/// No name is nearly as long; longer words need no measuring.
constexpr std::size_t longest_word = 64;

}  // namespace

std::string nearest_name(std::string_view text, const std::vector<std::string>& names) {
  if (text.empty() || text.size() > longest_word) return {};
  // A word that was cut short is more likely than one that was mistyped.
  std::string shortest;
  for (const std::string& name : names) {
    const bool longer = name.starts_with(text) && text.find_first_not_of('-') != text.npos;
    if (longer && (shortest.empty() || name.size() < shortest.size())) shortest = name;
  }
  if (!shortest.empty()) return shortest;
  std::string nearest;
  std::size_t smallest = longest_word;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(text, name);
    const std::size_t forgiven = std::max<std::size_t>(1, std::max(text.size(), name.size()) / 3);
    if (distance <= forgiven && distance < smallest) {
      smallest = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(text, names);
  return nearest.empty() ? std::string{} : "; did you mean '" + nearest + "'?";
}

std::string join(const std::vector<std::string>& names, std::string_view separator) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += separator;
    text += name;
  }
  return text;
}

}  // namespace symport::lab
