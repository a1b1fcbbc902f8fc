// SPDX-License-Identifier: MIT
#include "data/zip_reader.hpp"

#include <algorithm>
#include <set>

#include "data/input.hpp"
#include "data/zip_format.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::detail {

namespace {

template <class Integer>
Integer little_endian(std::string_view bytes, std::uint64_t at) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    value |= static_cast<Integer>(Integer{static_cast<unsigned char>(bytes[at + i])} << (8 * i));
  }
  return value;
}

std::uint16_t u16(std::string_view bytes, std::uint64_t at) {
  return little_endian<std::uint16_t>(bytes, at);
}
std::uint32_t u32(std::string_view bytes, std::uint64_t at) {
  return little_endian<std::uint32_t>(bytes, at);
}
std::uint64_t u64(std::string_view bytes, std::uint64_t at) {
  return little_endian<std::uint64_t>(bytes, at);
}

/// Where the directory is and how many entries it has.
struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// The part of the archive that an entry takes: local header to last byte.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string_view name;
};

class ZipReader {
 public:
  ZipReader(std::string_view archive, const std::string& file) : archive_(archive), file_(file) {}

  std::vector<ZipEntry> entries() const {
    const Directory directory = find_directory();
    std::vector<ZipEntry> entries;
    std::vector<Extent> extents;
    std::set<std::string_view> names;
    std::uint64_t at = directory.offset;
    const std::uint64_t end = directory.offset + directory.size;
    while (at < end) {
      const std::string_view record = central_record(at, end);
      at += record.size();
      Extent extent;
      entries.push_back(read_entry(record, directory.offset, extent));
      extents.push_back(extent);
      if (!names.insert(entries.back().name).second) {
        refuse(entries.back().name, "the entry twice", "each name once");
      }
    }
    if (entries.size() != directory.entries) {
      refuse(std::to_string(entries.size()) + " directory entries where " +
                 std::to_string(directory.entries) + " are declared",
             "equal numbers");
    }
    require_disjoint(extents);
    return entries;
  }

 private:
  [[noreturn]] void refuse(const std::string& found, const std::string& allowed) const {
    throw InvalidArgument(file_, found, allowed);
  }
  [[noreturn]] void refuse(std::string_view name, const std::string& found,
                           const std::string& allowed) const {
    throw InvalidArgument(file_ + ", entry " + quoted(name), found, allowed);
  }

  bool has(std::uint64_t at, std::uint64_t size) const {
    return at <= archive_.size() && size <= archive_.size() - at;
  }

  /// The end record is the last thing in the file: a comment may follow, of exactly its declared
  /// length.
  std::uint64_t find_end() const {
    constexpr std::uint64_t longest_comment = 0xffff;
    for (std::uint64_t comment = 0; comment <= longest_comment; ++comment) {
      if (archive_.size() < zip::end_size + comment) break;
      const std::uint64_t at = archive_.size() - zip::end_size - comment;
      if (u32(archive_, at) == zip::end_signature && u16(archive_, at + 20) == comment) return at;
    }
    const bool begins_as_zip = archive_.size() >= 4 && u32(archive_, 0) == zip::local_signature;
    refuse(begins_as_zip ? "a zip archive without its end" : "no zip archive",
           "an .npz file as numpy.savez writes it");
  }

  Directory find_directory() const {
    std::uint64_t end = find_end();
    if (u16(archive_, end + 4) != 0 || u16(archive_, end + 6) != 0 ||
        u16(archive_, end + 8) != u16(archive_, end + 10)) {
      refuse("one part of an archive on several disks", "a whole archive");
    }
    Directory directory{u16(archive_, end + 10), u32(archive_, end + 16), u32(archive_, end + 12)};
    if (end >= zip::locator64_size &&
        u32(archive_, end - zip::locator64_size) == zip::locator64_signature) {
      end = find_end64(end - zip::locator64_size);
      const Directory wide{u64(archive_, end + 32), u64(archive_, end + 48),
                           u64(archive_, end + 40)};
      const auto agree = [](std::uint64_t narrow, std::uint64_t saturated, std::uint64_t value) {
        return narrow == value || narrow == saturated;
      };
      if (!agree(directory.entries, 0xffff, wide.entries) ||
          !agree(directory.offset, zip::in_zip64, wide.offset) ||
          !agree(directory.size, zip::in_zip64, wide.size)) {
        refuse("two end records that differ", "an intact archive");
      }
      directory = wide;
    }
    if (directory.offset > end || directory.size != end - directory.offset) {
      refuse("a directory of " + std::to_string(directory.size) + " bytes at " +
                 std::to_string(directory.offset) + " in front of an end record at " +
                 std::to_string(end),
             "a directory that ends where its end record begins");
    }
    return directory;
  }

  std::uint64_t find_end64(std::uint64_t locator) const {
    const std::uint64_t at = u64(archive_, locator + 8);
    const bool intact = locator >= zip::end64_size && at <= locator - zip::end64_size &&
                        u32(archive_, at) == zip::end64_signature &&
                        u64(archive_, at + 4) == locator - at - 12 && u32(archive_, at + 16) == 0 &&
                        u32(archive_, at + 20) == 0;
    if (!intact) refuse("a damaged zip64 end record", "an intact archive");
    return at;
  }

  std::string_view central_record(std::uint64_t at, std::uint64_t end) const {
    if (end - at >= zip::central_size && u32(archive_, at) == zip::central_signature) {
      const std::uint64_t size = zip::central_size + u16(archive_, at + 28) +
                                 u16(archive_, at + 30) + u16(archive_, at + 32);
      if (size <= end - at) return archive_.substr(at, size);
    }
    refuse("a damaged directory entry at byte " + std::to_string(at), "an intact archive");
  }

  ZipEntry read_entry(std::string_view record, std::uint64_t directory, Extent& extent) const {
    const std::uint64_t name_size = u16(record, 28);
    const std::string_view extra = record.substr(zip::central_size + name_size, u16(record, 30));
    ZipEntry entry;
    entry.name = record.substr(zip::central_size, name_size);
    entry.crc = u32(record, 16);

    // Encryption, patched data, strong encryption, masked headers.
    constexpr std::uint16_t unreadable = 0x0001 | 0x0020 | 0x0040 | 0x2000;
    const std::uint16_t flags = u16(record, 8);
    if ((flags & unreadable) != 0) refuse(entry.name, "an encrypted entry", "a plain one");
    const std::uint16_t method = u16(record, 10);
    if (method != zip::stored && method != zip::deflated) {
      refuse(entry.name, "compression method " + std::to_string(method),
             "0 (stored) or 8 (deflated)");
    }
    entry.deflated = method == zip::deflated;

    // A saturated 32-bit number stands in the zip64 field instead, in this order.
    std::string_view wide = zip64_field(entry.name, extra);
    entry.size = narrow_or_wide(entry.name, u32(record, 24), wide);
    const std::uint64_t packed = narrow_or_wide(entry.name, u32(record, 20), wide);
    extent.begin = narrow_or_wide(entry.name, u32(record, 42), wide);
    extent.name = entry.name;

    const std::uint64_t data = local_data(record, entry, packed, extent.begin, directory);
    extent.end = data + packed;
    entry.data = archive_.substr(data, packed);

    // Deflate's longest copy is 258 bytes for two bits.
    constexpr std::uint64_t deflate_limit = 1032;
    const bool possible = entry.deflated ? entry.size / deflate_limit <= packed  // no overflow
                                         : entry.size == packed;
    if (!possible) {
      refuse(entry.name,
             std::to_string(entry.size) + " bytes declared for " + std::to_string(packed) +
                 (entry.deflated ? " compressed ones" : " stored ones"),
             entry.deflated ? "at most 1032 times as many" : "equal numbers");
    }
    return entry;
  }

  std::string_view zip64_field(std::string_view name, std::string_view extra) const {
    while (extra.size() >= 4) {
      const std::uint64_t size = u16(extra, 2);
      if (size > extra.size() - 4) break;
      if (u16(extra, 0) == zip::zip64_extra) return extra.substr(4, size);
      extra.remove_prefix(4 + size);
    }
    if (!extra.empty()) refuse(name, "a damaged extra field", "an intact archive");
    return {};
  }

  std::uint64_t narrow_or_wide(std::string_view name, std::uint32_t narrow,
                               std::string_view& wide) const {
    if (narrow != zip::in_zip64) return narrow;
    if (wide.size() < 8) refuse(name, "a size without its zip64 field", "an intact archive");
    const std::uint64_t value = u64(wide, 0);
    wide.remove_prefix(8);
    return value;
  }

  /// Where the entry's bytes begin. Its local header must say the same as the directory's record.
  std::uint64_t local_data(std::string_view record, const ZipEntry& entry, std::uint64_t packed,
                           std::uint64_t at, std::uint64_t directory) const {
    const std::string intact = "a local header that agrees with the directory";
    if (!has(at, zip::local_size) || u32(archive_, at) != zip::local_signature) {
      refuse(entry.name, "no local header at byte " + std::to_string(at), intact);
    }
    const std::string_view local = archive_.substr(at);
    const std::uint64_t name_size = u16(local, 26);
    const std::uint64_t header_size = zip::local_size + name_size + u16(local, 28);
    if (header_size > local.size() || local.substr(zip::local_size, name_size) != entry.name) {
      refuse(entry.name, "another name in the local header", intact);
    }
    if (u16(local, 6) != u16(record, 8) || u16(local, 8) != u16(record, 10)) {
      refuse(entry.name, "other flags or another compression in the local header", intact);
    }
    constexpr std::uint16_t descriptor_follows = 0x0008;
    if ((u16(local, 6) & descriptor_follows) == 0) {
      const std::string_view extra =
          local.substr(zip::local_size + name_size, header_size - zip::local_size - name_size);
      std::string_view wide = zip64_field(entry.name, extra);
      const std::uint64_t size = narrow_or_wide(entry.name, u32(local, 22), wide);
      if (u32(local, 14) != entry.crc || size != entry.size ||
          narrow_or_wide(entry.name, u32(local, 18), wide) != packed) {
        refuse(entry.name, "another size or checksum in the local header", intact);
      }
    }
    const std::uint64_t data = at + header_size;
    if (data > directory || packed > directory - data) {
      refuse(entry.name, std::to_string(packed) + " bytes declared at " + std::to_string(data),
             "bytes in front of the directory at " + std::to_string(directory));
    }
    return data;
  }

  /// Overlapping entries would let a small file expand without limit.
  void require_disjoint(std::vector<Extent> extents) const {
    std::sort(extents.begin(), extents.end(),
              [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < extents.size(); ++i) {
      if (extents[i].begin < extents[i - 1].end) {
        refuse(extents[i].name, "bytes that overlap entry " + quoted(extents[i - 1].name),
               "entries of their own");
      }
    }
  }

  std::string_view archive_;
  const std::string& file_;
};

}  // namespace

std::vector<ZipEntry> read_zip(std::string_view archive, const std::string& file) {
  return ZipReader(archive, file).entries();
}

}  // namespace symport::detail
