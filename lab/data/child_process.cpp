// SPDX-License-Identifier: MIT
#include "lab/data/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>

extern char** environ;

namespace symport::lab {

namespace {

using Clock = std::chrono::steady_clock;

struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
    read_end = ends[0];
    write_end = ends[1];
    ::fcntl(read_end, F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    close_write_end();
    ::close(read_end);
  }
  void close_write_end() {
    if (write_end >= 0) ::close(write_end);
    write_end = -1;
  }
};

/// Appends what there is, keeping only the end of it. False when no more will come.
bool drain(int descriptor, std::string& text) {
  constexpr std::size_t kept = 1 << 14;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 && errno == EAGAIN;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > 2 * kept) text.erase(0, text.size() - kept);
  }
}

/// In a group of its own, so that what it starts itself can be ended with it.
int start(const std::vector<std::string>& words, const std::filesystem::path& directory, int output,
          pid_t& child) {
  SpawnSettings settings;
  posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&settings.actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, output, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&settings.actions, directory.c_str());
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&settings.attributes, &usual);
  posix_spawnattr_setpgroup(&settings.attributes, 0);
  posix_spawnattr_setflags(&settings.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return posix_spawnp(&child, arguments[0], &settings.actions, &settings.attributes,
                      arguments.data(), environ);
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& words, const std::filesystem::path& directory,
                      const std::function<bool()>& keep_going) {
  constexpr int interval_ms = 100, ending_ms = 5;
  constexpr auto grace = std::chrono::seconds(2);
  ChildResult result;
  Pipe pipe;
  pid_t child = -1;
  result.start_error = start(words, directory, pipe.write_end, child);
  if (result.start_error != 0) return result;
  pipe.close_write_end();

  bool open = true;
  int status = 0;
  std::optional<Clock::time_point> asked_to_end;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    pollfd waiting{open ? pipe.read_end : -1, POLLIN, 0};
    // A program that has closed its output is about to end.
    ::poll(&waiting, 1, open ? interval_ms : ending_ms);
    if (open && waiting.revents != 0) open = drain(pipe.read_end, result.output);
    if (!asked_to_end && !keep_going()) {
      ::kill(-child, SIGTERM);
      asked_to_end = Clock::now();
      result.stopped = true;
    } else if (asked_to_end && Clock::now() - *asked_to_end > grace) {
      ::kill(-child, SIGKILL);
    }
  }
  if (result.stopped) ::kill(-child, SIGKILL);  // what it left behind
  drain(pipe.read_end, result.output);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

}  // namespace symport::lab
