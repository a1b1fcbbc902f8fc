// SPDX-License-Identifier: MIT
// Damaged checkpoints by the thousand: checkpoint_trials FILE truncate|flip COUNT
//
// Each is either refused by the reader or, where a flipped bit means nothing (a time stamp of the
// archive), has the very same arrays. Anything else is printed and ends with 1.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <type_traits>
#include <variant>

#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"
#include "symport/data/npz.hpp"
#include "symport/training/checkpoint.hpp"

namespace {

using namespace symport;

/// The same in every bit; `==` would tell a NaN apart from itself.
bool identical(const ArrayMap& a, const ArrayMap& b) {
  const auto same = [](const auto& x, const auto& y) {
    if (x.first != y.first || x.second.shape != y.second.shape ||
        x.second.order != y.second.order || x.second.dtype() != y.second.dtype()) {
      return false;
    }
    return std::visit(
        [&](const auto& values) {
          const auto& others = std::get<std::decay_t<decltype(values)>>(y.second.values);
          return values.size() == others.size() &&
                 (values.empty() || std::memcmp(values.data(), others.data(),
                                                values.size() * sizeof(values[0])) == 0);
        },
        x.second.values);
  };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
}

/// What the reader makes of the bytes: 'r' refused, 's' the same arrays, 'd' different ones.
char trial(const std::string& bytes, const ArrayMap& right) {
  try {
    const ArrayMap arrays = parse_npz(bytes, "damaged");
    checkpoint_from_arrays<double>(arrays, "damaged");
    return identical(arrays, right) ? 's' : 'd';
  } catch (const InvalidArgument&) {
    return 'r';
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    fmt::print(stderr, "usage: checkpoint_trials FILE truncate|flip COUNT\n");
    return 2;
  }
  std::ifstream in(words[1], std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  const ArrayMap right = parse_npz(good, words[1]);
  long refused = 0, same = 0, different = 0;
  const auto tally = [&](const std::string& bytes, const std::string& what) {
    const char outcome = trial(bytes, right);
    refused += outcome == 'r';
    same += outcome == 's';
    different += outcome == 'd';
    if (outcome == 'd' && different <= 5) fmt::print("{} goes unnoticed\n", what);
    return outcome;
  };
  if (std::string(words[2]) == "truncate") {
    for (std::size_t length = 0; length < good.size(); ++length) {
      if (tally(good.substr(0, length), fmt::format("a cut at {}", length)) == 's') ++different;
    }
  } else {
    Random random(5);
    for (long i = 0; i < std::stol(words[3]); ++i) {
      std::string bytes = good;
      const Index at = random.below(static_cast<Index>(bytes.size()));
      const Index bit = random.below(8);
      bytes[static_cast<std::size_t>(at)] ^= static_cast<char>(1 << bit);
      tally(bytes, fmt::format("bit {} of byte {}", bit, at));
    }
  }
  fmt::print("{} trials of {} bytes: {} refused, {} harmless, {} unnoticed\n",
             refused + same + different, good.size(), refused, same, different);
  return different == 0 && refused > 0 ? 0 : 1;
}
