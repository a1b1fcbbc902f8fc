// SPDX-License-Identifier: MIT
#include "lab/report/decimation.hpp"

#include <algorithm>
#include <cmath>

namespace symport::lab::report {

std::vector<std::vector<std::size_t>> pieces_to_draw(const std::vector<double>& x,
                                                     const std::vector<double>& y) {
  std::vector<std::vector<std::size_t>> pieces;
  const auto drawable = [&](std::size_t i) { return std::isfinite(x[i]) && std::isfinite(y[i]); };
  bool in_piece = false;
  for (std::size_t i = 0; i < x.size();) {
    if (!drawable(i)) {
      in_piece = false;
      ++i;
      continue;
    }
    if (!in_piece) pieces.emplace_back();
    in_piece = true;
    const double column = std::floor(x[i]);
    std::size_t lowest = i, highest = i, end = i;
    for (; end < x.size() && drawable(end) && std::floor(x[end]) == column; ++end) {
      if (y[end] < y[lowest]) lowest = end;
      if (y[end] > y[highest]) highest = end;
    }
    std::vector<std::size_t> chosen{i, lowest, highest, end - 1};
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    pieces.back().insert(pieces.back().end(), chosen.begin(), chosen.end());
    i = end;
  }
  return pieces;
}

}  // namespace symport::lab::report
