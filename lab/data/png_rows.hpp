// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "symport/data/array.hpp"

namespace symport::lab {

/// A PNG in which each row of pixels is a whole image, as some packages of CIFAR-10 have it: bytes
/// of shape rows x pixels x channels, 1 channel (grey) or 3 (red, green, blue).
///
/// The stored values, not colours: gamma, profiles and other ancillary chunks are skipped. Throws
/// InvalidArgument, naming the file, on anything but 8 bits per channel, not interlaced, no palette
/// and no transparency, on damage (checksums, missing or extra data), on trailing bytes, and
/// on rows of more than a million pixels. Memory grows with the rows that are really there.
Array read_png_rows(const std::filesystem::path& path);
/// The same from bytes; `name` names them in messages.
Array parse_png_rows(std::string_view bytes, const std::string& name);

}  // namespace symport::lab
