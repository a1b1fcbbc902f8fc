// SPDX-License-Identifier: MIT
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symport/core/types.hpp"

namespace symport::detail {

/// Bytes that are handed out from front to back. What a reader keeps in memory grows with the bytes
/// that it was really given, never with a size that a header claims.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `into` and returns its size; less only at the end of the bytes.
  virtual std::size_t read(std::span<char> into) = 0;
  /// How many bytes are certainly still to come; 0 when that is not known.
  virtual std::size_t present() const { return 0; }
  /// Throws InvalidArgument unless everything was read.
  virtual void expect_end() = 0;
};

/// Bytes in memory. `field` names them in messages.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string_view bytes, std::string field)
      : bytes_(bytes), field_(std::move(field)) {}
  std::size_t read(std::span<char> into) override;
  std::size_t present() const override { return bytes_.size(); }
  void expect_end() override;

 private:
  std::string_view bytes_;
  std::string field_;
};

/// A regular file, read as it is asked for. Throws InvalidArgument with the path and the system's
/// reason, or when it is a directory, pipe, device or socket: to read those, or only to open them,
/// could take for ever.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::filesystem::path& path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  /// Whether it begins with these bytes; nothing is consumed.
  bool starts_with(std::string_view bytes) const;
  /// Everything that is left.
  std::string read_all();
  std::size_t read(std::span<char> into) override;
  std::size_t present() const override { return rest_; }
  void expect_end() override;

 private:
  std::string field_;
  int descriptor_;
  std::size_t rest_ = 0;
};

enum class Compression { raw_deflate, gzip };

/// The decompressed form of bytes in memory. Throws InvalidArgument on bytes that no compressor
/// wrote, and on compressed data that stops early or is followed by something else.
class InflateSource final : public ByteSource {
 public:
  InflateSource(std::string_view compressed, Compression format, std::string field);
  ~InflateSource() override;
  InflateSource(const InflateSource&) = delete;
  InflateSource& operator=(const InflateSource&) = delete;
  std::size_t read(std::span<char> into) override;
  void expect_end() override;

 private:
  std::string_view rest_;  ///< what zlib was not yet given
  std::string field_;
  z_stream stream_{};
  bool ended_ = false;
};

/// Passes another source through and sums it up.
class Crc32Source final : public ByteSource {
 public:
  explicit Crc32Source(ByteSource& inner) : inner_(inner) {}
  std::size_t read(std::span<char> into) override;
  std::size_t present() const override { return inner_.present(); }
  void expect_end() override { inner_.expect_end(); }
  std::uint32_t crc() const { return crc_; }

 private:
  ByteSource& inner_;
  std::uint32_t crc_ = 0;
};

/// The next `count` values. Nothing when the source has fewer.
template <class Value>
std::optional<std::vector<Value>> read_values(ByteSource& source, Index count) {
  constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  const std::size_t first_chunk = std::max(source.present(), chunk_bytes) / sizeof(Value);
  const auto wanted = static_cast<std::size_t>(count);
  std::vector<Value> values;
  while (values.size() < wanted) {
    const std::size_t have = values.size();
    const std::size_t next = std::min(wanted, std::max(2 * have, first_chunk));
    values.reserve(next);  // exactly; resize alone would round up
    values.resize(next);
    const std::span<char> room(reinterpret_cast<char*>(values.data() + have),
                               (next - have) * sizeof(Value));
    if (source.read(room) < room.size()) return std::nullopt;
  }
  return values;
}

}  // namespace symport::detail
