// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// Images and their classes, 8 bits each, as the files of MNIST and CIFAR-10 hold them.
struct ImageSet {
  Index rows = 0;
  Index cols = 0;
  Index channels = 1;                 ///< 1: grey
  std::vector<std::uint8_t> pixels;   ///< image after image, row after row, channels together
  std::vector<std::uint8_t> classes;  ///< one per image

  Index size() const { return static_cast<Index>(classes.size()); }
  /// Values per image.
  Index features() const { return rows * cols * channels; }
  /// The values of one image.
  std::span<const std::uint8_t> image(Index i) const {
    const auto length = static_cast<std::size_t>(features());
    return std::span(pixels).subspan(static_cast<std::size_t>(i) * length, length);
  }
};

}  // namespace symport
