// SPDX-License-Identifier: MIT
#include "terminal/interruption.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

namespace symport::cli {

namespace {

std::atomic<bool> asked_to_stop{false};
std::atomic<int> exit_code{1};
std::atomic<int> graceful{0};  ///< how many GracefulStops there are
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler uses them");

void on_signal(int) {
  if (graceful > 0 && !asked_to_stop.exchange(true)) return;
  constexpr std::string_view text = "symport: interrupted\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(exit_code);
}

}  // namespace

void watch_for_interruption(int exit_code_of_interrupted) {
  exit_code = exit_code_of_interrupted;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current {};
    if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

GracefulStop::GracefulStop() { ++graceful; }
GracefulStop::~GracefulStop() { --graceful; }

bool interrupted() { return asked_to_stop.load(std::memory_order_relaxed); }

}  // namespace symport::cli
