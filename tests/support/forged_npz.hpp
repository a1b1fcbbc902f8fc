// SPDX-License-Identifier: MIT
#pragma once

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/packed.hpp"

/// Writers of NumPy files that can lie in every field. Written against the formats' descriptions,
/// sharing nothing with the library.
namespace symport::test {

inline std::string le(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

inline std::string forged_npy(const std::string& dictionary, const std::string& values,
                              int version = 1) {
  return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' +
         le(dictionary.size(), version == 1 ? 2 : 4) + dictionary + values;
}

inline std::string npy_dictionary(const std::string& descr, const std::string& shape,
                                  const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

/// Three doubles: 0, 1, 2.
inline std::string three_doubles() {
  return forged_npy(npy_dictionary("<f8", "(3,)"),
                    le(0, 8) + le(0x3ff0000000000000, 8) + le(0x4000000000000000, 8));
}

inline std::uint32_t crc_of(const std::string& bytes) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

struct ForgedEntry {
  std::string name = "W1.npy";
  std::string contents = three_doubles();
  bool deflated = false;
  std::uint16_t flags = 0;
  std::optional<std::string> packed{};      ///< compressed bytes other than those of `contents`
  std::optional<std::uint16_t> method{};    ///< other than what `deflated` says
  std::optional<std::uint64_t> size{};      ///< declared, other than the true one
  std::optional<std::uint32_t> crc{};       ///< other than the true one
  std::optional<std::string> local_name{};  ///< in the local header, other than `name`
  std::optional<std::uint64_t> offset{};    ///< of the local header, other than the true one
  bool zip64_local = false;                 ///< sizes in a zip64 field of the local header
  bool zip64_central = false;               ///< sizes and offset in one of the directory
  bool descriptor = false;                  ///< sizes behind the data only
};

struct ForgedEnd {
  std::optional<std::uint64_t> entries{};
  std::optional<std::uint64_t> offset{};
  std::optional<std::uint64_t> size{};
  std::uint16_t disk = 0;
  bool zip64 = false;
  std::string comment{};
};

inline std::string forged_npz(const std::vector<ForgedEntry>& entries, const ForgedEnd& end = {}) {
  constexpr std::uint64_t saturated = 0xffffffff;
  std::string archive;
  std::string directory;
  for (const ForgedEntry& entry : entries) {
    const std::string data =
        entry.packed.value_or(entry.deflated ? raw_deflate(entry.contents) : entry.contents);
    const std::uint64_t size = entry.size.value_or(entry.contents.size());
    const std::uint32_t crc = entry.crc.value_or(crc_of(entry.contents));
    const std::uint64_t offset = entry.offset.value_or(archive.size());
    const std::uint16_t flags =
        static_cast<std::uint16_t>(entry.flags | (entry.descriptor ? 8 : 0));
    const auto fields = [&](const std::string& name, bool zip64, bool sizes, std::size_t extra) {
      const std::uint64_t shown_packed = !sizes ? 0 : zip64 ? saturated : data.size();
      const std::uint64_t shown_size = !sizes ? 0 : zip64 ? saturated : size;
      return le(20, 2) + le(flags, 2) + le(entry.method.value_or(entry.deflated ? 8 : 0), 2) +
             le(0, 2) + le(33, 2) + le(sizes ? crc : 0, 4) + le(shown_packed, 4) +
             le(shown_size, 4) + le(name.size(), 2) + le(extra, 2);
    };
    const std::string wide = le(size, 8) + le(data.size(), 8);
    const std::string local_extra =
        entry.zip64_local ? le(1, 2) + le(wide.size(), 2) + wide : std::string();
    const std::string central_extra =
        entry.zip64_central ? le(1, 2) + le(24, 2) + wide + le(offset, 8) : std::string();
    const std::string local_name = entry.local_name.value_or(entry.name);
    archive += le(0x04034b50, 4) +
               fields(local_name, entry.zip64_local, !entry.descriptor, local_extra.size()) +
               local_name + local_extra + data;
    if (entry.descriptor) {
      archive += le(0x08074b50, 4) + le(crc, 4) + le(data.size(), 4) + le(size, 4);
    }
    directory += le(0x02014b50, 4) + le(20, 2) +
                 fields(entry.name, entry.zip64_central, true, central_extra.size()) + le(0, 2) +
                 le(0, 2) + le(0, 2) + le(0, 4) + le(entry.zip64_central ? saturated : offset, 4) +
                 entry.name + central_extra;
  }
  const std::uint64_t count = end.entries.value_or(entries.size());
  const std::uint64_t offset = end.offset.value_or(archive.size());
  const std::uint64_t size = end.size.value_or(directory.size());
  const std::uint64_t end64 = archive.size() + directory.size();
  archive += directory;
  if (end.zip64) {
    archive += le(0x06064b50, 4) + le(44, 8) + le(45, 2) + le(45, 2) + le(0, 4) + le(0, 4) +
               le(count, 8) + le(count, 8) + le(size, 8) + le(offset, 8);
    archive += le(0x07064b50, 4) + le(0, 4) + le(end64, 8) + le(1, 4);
  }
  return archive + le(0x06054b50, 4) + le(end.disk, 2) + le(0, 2) +
         le(end.zip64 ? 0xffff : count, 2) + le(end.zip64 ? 0xffff : count, 2) +
         le(end.zip64 ? saturated : size, 4) + le(end.zip64 ? saturated : offset, 4) +
         le(end.comment.size(), 2) + end.comment;
}

}  // namespace symport::test
