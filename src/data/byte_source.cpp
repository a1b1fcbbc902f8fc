// SPDX-License-Identifier: MIT
#include "data/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <new>

#include "data/input.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::detail {

namespace {

/// zlib counts in 32 bits.
uInt portion(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

std::size_t MemorySource::read(std::span<char> into) {
  const std::size_t count = std::min(into.size(), bytes_.size());
  if (count > 0) std::memcpy(into.data(), bytes_.data(), count);
  bytes_.remove_prefix(count);
  return count;
}

void MemorySource::expect_end() {
  if (!bytes_.empty()) {
    throw InvalidArgument(field_, std::to_string(bytes_.size()) + " bytes behind the last value",
                          "as many bytes as the header declares");
  }
}

FileSource::FileSource(const std::filesystem::path& path) : field_(path.string()) {
  // Without O_NONBLOCK, opening a pipe waits for somebody who writes to it.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor_ < 0) fail_reading(path, errno);
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw InvalidArgument(field_,
                          S_ISDIR(status.st_mode) ? "a directory" : "a pipe, device or socket",
                          "a regular file");
  }
  rest_ = static_cast<std::size_t>(status.st_size);
}

FileSource::~FileSource() { ::close(descriptor_); }

bool FileSource::starts_with(std::string_view bytes) const {
  std::string begin(bytes.size(), '\0');
  const ssize_t count = ::pread(descriptor_, begin.data(), begin.size(), 0);
  return count == static_cast<ssize_t>(bytes.size()) && begin == bytes;
}

std::string FileSource::read_all() {
  constexpr std::size_t smallest = 1 << 16;
  std::string bytes;
  std::size_t length = 0;
  do {
    // One byte more than the file has, so that its end is seen without growing.
    bytes.resize(std::max({2 * length, rest_ + 1, smallest}));
    length += read(std::span(bytes).subspan(length));
  } while (length == bytes.size());
  bytes.resize(length);
  return bytes;
}

std::size_t FileSource::read(std::span<char> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = ::read(descriptor_, into.data() + done, into.size() - done);
    if (count == 0) break;
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      fail_reading(field_, errno);
    }
  }
  rest_ -= std::min(rest_, done);
  return done;
}

void FileSource::expect_end() {
  const std::size_t known = rest_;
  char extra = 0;
  if (read({&extra, 1}) != 0) {
    throw InvalidArgument(
        field_, std::to_string(std::max<std::size_t>(known, 1)) + " bytes behind the last value",
        "as many bytes as the header declares");
  }
}

InflateSource::InflateSource(std::string_view compressed, Compression format, std::string field)
    : rest_(compressed), field_(std::move(field)) {
  const int window_bits = format == Compression::gzip ? MAX_WBITS + 16 : -MAX_WBITS;
  if (inflateInit2(&stream_, window_bits) != Z_OK) throw std::bad_alloc();
}

InflateSource::~InflateSource() { inflateEnd(&stream_); }

std::size_t InflateSource::read(std::span<char> into) {
  std::size_t done = 0;
  while (done < into.size() && !ended_) {
    if (stream_.avail_in == 0) {
      const uInt given = portion(rest_.size());
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));
      stream_.avail_in = given;
      rest_.remove_prefix(given);
    }
    const uInt room = portion(into.size() - done);
    stream_.next_out = reinterpret_cast<Bytef*>(into.data() + done);
    stream_.avail_out = room;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    done += room - stream_.avail_out;
    if (result == Z_STREAM_END) {
      ended_ = true;
    } else if (result == Z_BUF_ERROR) {
      throw InvalidArgument(field_, "compressed data that stops early", "a complete file");
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != Z_OK) {
      const std::string reason = stream_.msg != nullptr ? stream_.msg : "a preset dictionary";
      throw InvalidArgument(field_, "damaged compressed data (" + reason + ")", "intact data");
    }
  }
  return done;
}

void InflateSource::expect_end() {
  char extra = 0;
  if (read({&extra, 1}) != 0) {
    throw InvalidArgument(field_, "more decompressed bytes than declared",
                          "as many bytes as the header declares");
  }
  const std::size_t left = stream_.avail_in + rest_.size();
  if (left != 0) {
    throw InvalidArgument(field_, std::to_string(left) + " bytes behind the compressed data",
                          "nothing there");
  }
}

std::size_t Crc32Source::read(std::span<char> into) {
  const std::size_t count = inner_.read(into);
  const auto* bytes = reinterpret_cast<const Bytef*>(into.data());
  if (count > 0) crc_ = static_cast<std::uint32_t>(crc32_z(crc_, bytes, count));
  return count;
}

}  // namespace symport::detail
