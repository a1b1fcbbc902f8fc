// SPDX-License-Identifier: MIT
#include "terminal/terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "lab/text/errors.hpp"

namespace symport::cli {

namespace {

/// 0, or the error that stopped the writing.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// How many bytes of UTF-8 the first character has; 0 when they are none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

/// The bytes of a colour (ESC [ numbers m) at the beginning of the text; 0 when there is none.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

/// How many bytes at the beginning of the text may go to a terminal as they are.
std::size_t plain_length(std::string_view text) {
  if (const std::size_t colour = colour_length(text)) return colour;
  const auto first = static_cast<unsigned char>(text[0]);
  if ((first < 0x20 && first != '\n' && first != '\t') || first == 0x7f) return 0;
  const std::size_t length = character_length(text);
  const bool c1 = length == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
  return c1 ? 0 : length;
}

bool is_terminal(int descriptor) {
  const char* kind = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

}  // namespace

std::string harmless(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size()) {
      const std::size_t length = plain_length(text.substr(plain));
      if (length == 0) break;
      plain += length;
    }
    result += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    // A control character of C1 has two bytes. In the form of JSON, which stays what it was.
    const std::size_t bytes = std::max<std::size_t>(1, character_length(text));
    result += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[bytes - 1]));
    text.remove_prefix(bytes);
  }
  return result;
}

void print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, harmless(text));
  if (error != 0 && error != EPIPE) {
    throw lab::OutputError(
        fmt::format("cannot write to standard output: {}", std::strerror(error)));
  }
}

void print_error(std::string_view text) { write_all(STDERR_FILENO, harmless(text)); }

void print_progress(std::string_view text) {
  while (!text.empty()) {
    // A pipe that can be written to takes this many bytes at once.
    const std::string_view part = text.substr(0, PIPE_BUF);
    pollfd stream{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&stream, 1, 0) != 1 || (stream.revents & POLLOUT) == 0) return;
    if (write_all(STDERR_FILENO, part) != 0) return;
    text.remove_prefix(part.size());
  }
}

bool stdout_is_terminal() { return is_terminal(STDOUT_FILENO); }
bool stderr_is_terminal() { return is_terminal(STDERR_FILENO); }

int stderr_width() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

Style Style::for_stdout() {
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org
  return Style(stdout_is_terminal() && (no_color == nullptr || *no_color == '\0'));
}

std::string Style::wrap(std::string_view code, std::string_view text) const {
  return colours_ ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

void prepare_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) {
      // The lowest free descriptor is this one.
      static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY));
    }
  }
}

}  // namespace symport::cli
