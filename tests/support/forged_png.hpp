// SPDX-License-Identifier: MIT
#pragma once

#include <zlib.h>

#include <string>

#include "support/forged_idx.hpp"
#include "support/packed.hpp"

namespace symport::test {

struct ForgedPng {
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  int depth = 8;
  int colour = 2;  ///< RGB
  int interlace = 0;
  std::string before_data = {};  ///< chunks between IHDR and IDAT
};

inline std::string png_chunk(const std::string& type, const std::string& content) {
  const std::string body = type + content;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(content.size())) + body +
         big_endian(static_cast<std::uint32_t>(sum));
}

/// A PNG written by hand; `filtered` are its rows, each behind the number of its filter.
inline std::string forged_png(const ForgedPng& png, const std::string& filtered) {
  std::string header = big_endian(png.width) + big_endian(png.height);
  for (const int byte : {png.depth, png.colour, 0, 0, png.interlace}) {
    header += static_cast<char>(byte);
  }
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png.before_data +
         png_chunk("IDAT", packed(filtered, MAX_WBITS)) + png_chunk("IEND", "");
}

}  // namespace symport::test
