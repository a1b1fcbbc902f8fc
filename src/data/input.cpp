// SPDX-License-Identifier: MIT
#include "data/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "symport/core/status.hpp"

namespace symport::detail {

namespace {

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

void fail_reading(const std::filesystem::path& path, int error) {
  throw InvalidArgument(path.string(),
                        "the error \"" + std::generic_category().message(error) + "\" on reading",
                        "a file that can be read");
}

std::string read_file(const std::filesystem::path& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) fail_reading(path, errno);
  struct stat status {};
  const bool sized = ::fstat(file.number, &status) == 0 && S_ISREG(status.st_mode);
  // One byte more than a regular file has, so that its end is seen without growing.
  std::string bytes(sized ? static_cast<std::size_t>(status.st_size) + 1 : 1 << 16, '\0');
  std::size_t length = 0;
  for (;;) {
    if (length == bytes.size()) bytes.resize(2 * length);
    const ssize_t count = ::read(file.number, bytes.data() + length, bytes.size() - length);
    if (count == 0) break;
    if (count > 0) {
      length += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      fail_reading(path, errno);
    }
  }
  bytes.resize(length);
  return bytes;
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
