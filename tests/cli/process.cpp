// SPDX-License-Identifier: MIT
#include "cli/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace symport::cli::testing {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto time_limit = std::chrono::minutes(10);  // of a program that hangs

void require(bool done, const char* what) {
  if (!done) throw std::runtime_error(what);
}

/// Appends what there is to read; false at the end.
bool drain(int descriptor, std::string& text) {
  char buffer[4096];
  const ssize_t count = ::read(descriptor, buffer, sizeof buffer);
  if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

[[noreturn]] void become_symport(const std::vector<std::string>& arguments,
                                 const Surroundings& where, int out, int err) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
  if (where.ignored_signal != 0) ::signal(where.ignored_signal, SIG_IGN);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  if (where.no_more_threads) {
    // The stack of a thread is as large as this limit says: larger than all addresses. OpenBLAS
    // does not go on without the threads it asks for, so it shall ask for none.
    rlimit stack{};
    ::getrlimit(RLIMIT_STACK, &stack);
    stack.rlim_cur = std::min<rlim_t>(stack.rlim_max, rlim_t{1} << 48);
    ::setrlimit(RLIMIT_STACK, &stack);
    ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
  }
  if (where.largest_file >= 0) {
    const rlimit limit{static_cast<rlim_t>(where.largest_file), RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  for (const auto& [name, value] : where.environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  if (!where.directory.empty() && ::chdir(where.directory.c_str()) != 0) ::_exit(125);
  std::vector<char*> words{const_cast<char*>("symport")};
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::execv(SYMPORT_PROGRAM, words.data());
  ::_exit(126);
}

}  // namespace

Finished symport(const std::vector<std::string>& arguments, const Surroundings& where) {
  int out[2], err[2];
  require(::pipe2(out, O_CLOEXEC) == 0, "no pipe");
  if (where.stderr_on_terminal) {
    require(::openpty(&err[0], &err[1], nullptr, nullptr, nullptr) == 0, "no terminal");
    for (const int end : err) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  } else {
    require(::pipe2(err, O_CLOEXEC) == 0, "no pipe");
  }
  if (!where.stdout_file.empty()) {
    ::close(out[1]);
    out[1] = ::open(where.stdout_file.c_str(), O_WRONLY | O_CLOEXEC);
    require(out[1] >= 0, "cannot open the file for stdout");
  }
  if (where.close_stdout_early) ::close(out[0]);
  const pid_t child = ::fork();
  require(child >= 0, "no process");
  if (child == 0) become_symport(arguments, where, out[1], err[1]);
  ::close(out[1]);
  ::close(err[1]);
  if (where.meanwhile) where.meanwhile(child);

  Finished result;
  pollfd open[2] = {{where.close_stdout_early ? -1 : out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  std::string* texts[2] = {&result.out, &result.err};
  const auto deadline = Clock::now() + time_limit;
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    if (Clock::now() > deadline) {
      ::kill(child, SIGKILL);
      break;
    }
    if (::poll(open, 2, 1000) <= 0) continue;
    for (int i = 0; i < 2; ++i) {
      if (open[i].fd >= 0 && open[i].revents != 0 && !drain(open[i].fd, *texts[i])) {
        ::close(open[i].fd);
        open[i].fd = -1;
      }
    }
  }
  for (const pollfd& end : open) {
    if (end.fd >= 0) ::close(end.fd);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

void wait_until_handled(int process, int signal) {
  const auto handled = [&] {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    bool running = false;
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("SigIgn:") && !line.starts_with("SigCgt:")) continue;
      running = true;
      if ((std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0) return true;
    }
    return !running;
  };
  const auto deadline = Clock::now() + time_limit;
  while (!handled() && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::function<void(int)> send_after(std::chrono::milliseconds delay, int signal) {
  return [=](int process) {
    if (signal != SIGKILL) wait_until_handled(process, signal);
    std::this_thread::sleep_for(delay);
    ::kill(process, signal);
  };
}

bool still_runs(int process) {
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT);
  return ended.si_pid == 0;
}

void wait_until_exists(const std::filesystem::path& path, int process) {
  while (!std::filesystem::exists(path) && still_runs(process)) std::this_thread::yield();
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "symport-test-XXXXXX").string();
  require(::mkdtemp(pattern.data()) != nullptr, "no temporary directory");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::size_t TemporaryDirectory::entries() const {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    static_cast<void>(entry);
    ++count;
  }
  return count;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  require(static_cast<bool>(in), path.c_str());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace symport::cli::testing
