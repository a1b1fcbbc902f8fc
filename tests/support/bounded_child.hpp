// SPDX-License-Identifier: MIT
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fstream>
#include <functional>
#include <new>
#include <string>

#include "symport/core/invalid_argument.hpp"

namespace symport::test {

/// What became of an action in a process of its own.
struct ChildEnd {
  std::string refusal;      ///< what() of the InvalidArgument; empty: it threw none
  bool gave_up = false;     ///< another exception, a signal, or a limit
  double seconds = 0.0;     ///< of the processor
  long more_kilobytes = 0;  ///< resident, beyond what the process began with
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool address_space_can_be_limited = false;  // sanitizers reserve terabytes
#else
constexpr bool address_space_can_be_limited = true;
#endif

/// Runs an action in a child that may take 10 seconds of the processor and, where that can be
/// limited, reserve so many bytes of addresses beyond what it has, whether it touches them or not.
inline ChildEnd in_bounded_child(std::size_t more_bytes, const std::function<void()>& action) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
#ifdef __GLIBC__
    ::malloc_trim(0);  // what the test has freed would not count
#endif
    long pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    if (address_space_can_be_limited) {
      const rlim_t bytes = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE)) + more_bytes;
      const rlimit addresses{bytes, bytes};
      ::setrlimit(RLIMIT_AS, &addresses);
    }
    const rlimit seconds{10, 10};
    ::setrlimit(RLIMIT_CPU, &seconds);
    int code = 0;
    std::string message = std::to_string(resident * ::sysconf(_SC_PAGESIZE) / 1024) + "\n";
    try {
      action();
    } catch (const InvalidArgument& error) {
      message += error.what();
    } catch (...) {
      code = 1;
    }
    if (::write(ends[1], message.data(), message.size()) < 0) code = 1;
    ::_exit(code);
  }
  ::close(ends[1]);
  std::string said;
  char buffer[512];
  for (ssize_t count; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    said.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  ChildEnd end;
  end.gave_up = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  end.seconds = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  const std::size_t line = said.find('\n');
  if (line != std::string::npos) {
    end.more_kilobytes = used.ru_maxrss - std::stol(said);
    end.refusal = said.substr(line + 1);
  }
  return end;
}

}  // namespace symport::test
