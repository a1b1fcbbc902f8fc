// SPDX-License-Identifier: MIT
#pragma once

#include <zlib.h>

#include <string>

namespace symport::test {

inline std::string packed(const std::string& bytes, int window_bits) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY);
  std::string result(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

inline std::string raw_deflate(const std::string& bytes) { return packed(bytes, -MAX_WBITS); }
inline std::string gzipped(const std::string& bytes) { return packed(bytes, MAX_WBITS + 16); }

}  // namespace symport::test
