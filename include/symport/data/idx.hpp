// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symport/data/array.hpp"

namespace symport {

/// Grey images and their classes, 8 bits each, as MNIST's files hold them.
struct ImageSet {
  Index rows = 0;
  Index cols = 0;
  std::vector<std::uint8_t> pixels;   ///< image after image, row after row
  std::vector<std::uint8_t> classes;  ///< one per image

  Index size() const { return static_cast<Index>(classes.size()); }
  /// The pixels of one image, row after row.
  std::span<const std::uint8_t> image(Index i) const {
    const auto area = static_cast<std::size_t>(rows * cols);
    return std::span(pixels).subspan(static_cast<std::size_t>(i) * area, area);
  }
};

/// An array of unsigned bytes in the IDX format (LeCun's, of MNIST), plain or gzipped, whatever the
/// file's name: two zero bytes, type 0x08, number of dimensions (1 to 4), each extent as 32 bits
/// big-endian, then exactly as many bytes as they ask for.
///
/// Throws InvalidArgument, naming the file, on anything else. Memory grows with the bytes that are
/// really there.
Array read_idx(const std::filesystem::path& path);
/// The same from bytes; `name` stands for them in messages.
Array parse_idx(std::string_view bytes, const std::string& name);

/// Images (three dimensions) with classes (one dimension, as many).
ImageSet read_idx_images(const std::filesystem::path& images, const std::filesystem::path& classes);

}  // namespace symport
