// SPDX-License-Identifier: MIT
#include "terminal/terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

bool is_terminal(int descriptor) {
  const char* kind = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

}  // namespace

void print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0 && error != EPIPE) {
    throw lab::OutputError(
        fmt::format("cannot write to standard output: {}", std::strerror(error)));
  }
}

void print_error(std::string_view text) { write_all(STDERR_FILENO, text); }

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
