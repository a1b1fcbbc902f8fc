// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

namespace symport::lab::report {

/// Which points of a curve to draw: of those that fall into the same column of pixels the first,
/// the lowest, the highest and the last, in their order. x and y are in pixels, x does not
/// decrease; a point whose x or y is not finite is left out and begins a new piece.
std::vector<std::vector<std::size_t>> pieces_to_draw(const std::vector<double>& x,
                                                     const std::vector<double>& y);

}  // namespace symport::lab::report
