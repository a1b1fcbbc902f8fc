// SPDX-License-Identifier: MIT
#include "terminal/interruption.hpp"

#include <signal.h>

#include <atomic>

namespace symport::cli {

namespace {

std::atomic<bool> asked_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void on_signal(int) { asked_to_stop.store(true, std::memory_order_relaxed); }

}  // namespace

void watch_for_interruption() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current {};
    if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

bool interrupted() { return asked_to_stop.load(std::memory_order_relaxed); }

}  // namespace symport::cli
