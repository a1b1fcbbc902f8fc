// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace symport::detail {

struct ZipEntry {
  std::string_view name;  ///< as the archive has it: unchecked bytes, never a path
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;  ///< of the decompressed bytes, as declared
  std::string_view data;   ///< stored or deflated bytes
};

/// The entries of a zip archive in the order of its directory.
///
/// Strict: whatever two readers could understand differently is refused with InvalidArgument.
/// Allowed are stored and deflated entries, with or without zip64 fields and data descriptors, that
/// do not overlap and that agree with their local headers; the directory must fill the space
/// between the last entry and its end record. Refused are encrypted entries, several disks,
/// repeated names, and declared sizes that the compressed bytes cannot expand to (deflate: 1032 to
/// 1). Entries refer to `archive`; contents and checksums are left to the caller.
std::vector<ZipEntry> read_zip(std::string_view archive, const std::string& file);

}  // namespace symport::detail
