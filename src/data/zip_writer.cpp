// SPDX-License-Identifier: MIT
#include "data/zip_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "data/zip_format.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::detail {

namespace {

template <class Integer>
void put(std::string& bytes, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    bytes += static_cast<char>((value >> (8 * i)) & 0xff);
  }
}
void put16(std::string& bytes, std::uint64_t value) {
  put(bytes, static_cast<std::uint16_t>(value));
}
void put32(std::string& bytes, std::uint64_t value) {
  put(bytes, static_cast<std::uint32_t>(value));
}

std::uint32_t crc_of(std::uint32_t crc, std::string_view bytes) {
  if (bytes.empty()) return crc;
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32_z(crc, data, bytes.size()));
}

/// A raw deflate stream, made of parts.
class Deflater {
 public:
  Deflater() {
    constexpr int memory_level = 8;  // zlib's default
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  void add(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, std::numeric_limits<uInt>::max());
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
      stream_.avail_in = static_cast<uInt>(part.size());
      run(Z_NO_FLUSH);
      bytes.remove_prefix(part.size());
    }
  }
  std::string finish() {
    run(Z_FINISH);
    return std::move(packed_);
  }

 private:
  void run(int flush) {
    char chunk[1 << 14];
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(chunk);
      stream_.avail_out = sizeof chunk;
      deflate(&stream_, flush);
      packed_.append(chunk, sizeof chunk - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
  std::string packed_;
};

/// What a local header and a directory record have in common.
std::string common_fields(std::string_view name, bool deflate, std::uint32_t crc,
                          std::uint64_t packed, std::uint64_t size) {
  constexpr std::uint16_t version = 20;
  constexpr std::uint16_t first_date = 1 << 5 | 1;  // 1980-01-01
  std::string bytes;
  put16(bytes, version);
  put16(bytes, 0);  // flags
  put16(bytes, deflate ? zip::deflated : zip::stored);
  put16(bytes, 0);  // time
  put16(bytes, first_date);
  put32(bytes, crc);
  put32(bytes, packed);
  put32(bytes, size);
  put16(bytes, name.size());
  put16(bytes, 0);  // extra field
  return bytes;
}

}  // namespace

void ZipWriter::require_room(std::uint64_t more) const {
  const std::uint64_t total = out_.bytes_written() + directory_.size() + more;
  if (total >= zip::in_zip64 || entries_ == std::numeric_limits<std::uint16_t>::max()) {
    throw InvalidArgument(file_, std::to_string(total) + " bytes",
                          "an archive of at most 65535 arrays and 4 GiB");
  }
}

void ZipWriter::add(const std::string& name, std::string_view head, std::string_view body,
                    bool deflate) {
  const std::uint64_t size = head.size() + body.size();
  constexpr std::uint64_t overhead = zip::local_size + zip::central_size + zip::end_size;
  // Deflate stores what it cannot compress, at five bytes per 16 KB or so: 1/1024 is ample.
  require_room(size + (deflate ? size / 1024 + 64 : 0) + overhead + 2 * name.size());

  const std::uint64_t offset = out_.bytes_written();
  const std::uint32_t crc = crc_of(crc_of(0, head), body);
  std::string packed;
  if (deflate) {
    Deflater deflater;
    deflater.add(head);
    deflater.add(body);
    packed = deflater.finish();
  }
  const std::string fields =
      common_fields(name, deflate, crc, deflate ? packed.size() : size, size);

  std::string local;
  put32(local, zip::local_signature);
  out_.write(local + fields + name);
  if (deflate) {
    out_.write(packed);
  } else {
    out_.write(head);
    out_.write(body);
  }

  constexpr std::uint16_t made_on_unix = 3 << 8 | 20;
  constexpr std::uint32_t regular_file = 0100644;
  put32(directory_, zip::central_signature);
  put16(directory_, made_on_unix);
  directory_ += fields;
  put16(directory_, 0);                   // comment
  put16(directory_, 0);                   // disk
  put16(directory_, 0);                   // internal attributes
  put32(directory_, regular_file << 16);  // external attributes
  put32(directory_, offset);
  directory_ += name;
  ++entries_;
}

void ZipWriter::finish() {
  std::string end;
  put32(end, zip::end_signature);
  put16(end, 0);  // disk
  put16(end, 0);  // disk of the directory
  put16(end, entries_);
  put16(end, entries_);
  put32(end, directory_.size());
  put32(end, out_.bytes_written());
  put16(end, 0);  // comment
  out_.write(directory_);
  out_.write(end);
}

}  // namespace symport::detail
