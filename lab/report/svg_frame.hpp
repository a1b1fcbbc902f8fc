// SPDX-License-Identifier: MIT
#pragma once

namespace symport::lab::report {

/// Of every picture, and where what is drawn in it begins and ends.
inline constexpr double width = 720, left = 74, right = 700;

}  // namespace symport::lab::report
