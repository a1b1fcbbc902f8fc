// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace symport {

/// Threads that help the one that made them.
class ThreadPool {
 public:
  /// For work of up to `parts` parts, done by up to `threads` threads, the calling one included;
  /// fewer when the system refuses one.
  ThreadPool(int parts, int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int parts() const { return static_cast<int>(claims_.size()); }
  int threads() const { return 1 + static_cast<int>(helpers_.size()); }

  /// As `run_parts`. By the thread that made the pool, and not from within a part.
  void run(int count, const std::function<void(int)>& work);

 private:
  /// The round in which a part is free to be taken. Each in a cache line of its own.
  struct alignas(64) Claim {
    std::atomic<std::uint32_t> round{0};
  };

  void serve(int self);
  void take_parts(int self, std::uint32_t round);
  void do_part(int part);
  void begin_round(std::uint32_t round);

  std::vector<Claim> claims_;
  std::atomic<std::uint32_t> round_{0};  ///< of work; helpers sleep on it
  std::atomic<int> count_{0};            ///< parts of this round
  std::atomic<int> left_{0};             ///< of them not yet done; the caller sleeps on it
  std::atomic<bool> stop_{false};
  /// Read by those who have taken a part of the round that it was written for.
  const std::function<void(int)>* work_ = nullptr;
  std::mutex error_guard_;
  std::exception_ptr error_;
  int error_part_ = 0;
  std::vector<std::jthread> helpers_;
};

/// Calls work(0), ..., work(count - 1), each once, on the threads of the innermost ThreadScope, and
/// returns when all are done, whatever they throw; then the exception of the first part (in their
/// order) that threw is thrown again. Who does which part is a matter of who is free: a thread that
/// is slow to come, or does not exist, is not waited for. `count` should be at most `threads()`.
/// Within a part `threads()` is 1: its products are not divided again.
void run_parts(int count, const std::function<void(int)>& work);

}  // namespace symport
