// SPDX-License-Identifier: MIT
#include "data/input.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "data/byte_source.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::detail {

void fail_reading(const std::filesystem::path& path, int error) {
  if (error == ENOENT) throw InvalidArgument(path.string(), "no such file");
  if (error == EISDIR) throw InvalidArgument(path.string(), "a directory, not a file");
  throw InvalidArgument(path.string(), "cannot be read: " + std::generic_category().message(error));
}

std::string read_file(const std::filesystem::path& path) {
  FileSource source(path);
  return source.read_all();
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string result = "\"";
  for (const char c : text.substr(0, longest)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return result + (text.size() > longest ? "...\"" : "\"");
}

std::string array_field(const std::string& file, std::string_view array) {
  return file + ", array " + std::string(array);
}

}  // namespace symport::detail
