// SPDX-License-Identifier: MIT
#include "core/pool.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include "symport/core/thread_scope.hpp"

namespace symport {

namespace {

/// The pool of the innermost scope; null within a part.
thread_local ThreadPool* current = nullptr;

/// A matrix product of a training step takes 20 to 200 us: threads look out for the next one about
/// so long before they sleep.
constexpr std::chrono::microseconds patience{100};

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Returns when `value` is no longer `old`.
template <class T>
void await_change(const std::atomic<T>& value, T old) {
  const auto until = std::chrono::steady_clock::now() + patience;
  do {
    for (int i = 0; i < 16; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() < until);
  value.wait(old, std::memory_order_acquire);
}

void run_one_by_one(int count, const std::function<void(int)>& work) {
  std::exception_ptr error;
  for (int part = 0; part < count; ++part) {
    try {
      work(part);
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace

ThreadPool::ThreadPool(int parts, int threads) : claims_(static_cast<std::size_t>(parts)) {
  const int wanted = std::min(parts, threads) - 1;
  if (wanted < 1) return;
  helpers_.reserve(static_cast<std::size_t>(wanted));
  try {
    for (int i = 1; i <= wanted; ++i) {
      helpers_.emplace_back([this, i] { serve(i); });
    }
  } catch (const std::system_error&) {  // no more threads, or no memory for one
  } catch (const std::bad_alloc&) {
  }
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  begin_round(round_ + 1);
  helpers_.clear();  // joins
}

void ThreadPool::begin_round(std::uint32_t round) {
  round_ = round;
  round_.notify_all();
}

void ThreadPool::run(int count, const std::function<void(int)>& work) {
  if (helpers_.empty() || count < 2 || count > parts()) {
    run_one_by_one(count, work);
    return;
  }
  work_ = &work;
  count_.store(count, std::memory_order_relaxed);
  left_.store(count, std::memory_order_relaxed);
  std::uint32_t round = round_.load(std::memory_order_relaxed) + 1;
  if (round == 0) ++round;  // 0 marks a part that was taken
  for (int part = 0; part < count; ++part) {
    claims_[static_cast<std::size_t>(part)].round.store(round, std::memory_order_release);
  }
  begin_round(round);
  take_parts(0, round);
  while (const int left = left_.load(std::memory_order_acquire)) await_change(left_, left);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::serve(int self) {
  std::uint32_t seen = 0;
  for (;;) {
    await_change(round_, seen);
    seen = round_;
    if (stop_) return;
    take_parts(self, seen);
  }
}

/// A thread begins with the part that was its own in the round before, which its cache may still
/// have. One that comes too late finds the claims of another round, and leaves everything alone.
void ThreadPool::take_parts(int self, std::uint32_t round) {
  const int count = count_.load(std::memory_order_relaxed);
  for (int k = 0; k < count; ++k) {
    const int part = (self + k) % count;
    std::atomic<std::uint32_t>& claim = claims_[static_cast<std::size_t>(part)].round;
    std::uint32_t open = round;
    if (claim.load(std::memory_order_relaxed) == round &&
        claim.compare_exchange_strong(open, 0, std::memory_order_acquire)) {
      do_part(part);
    }
  }
}

void ThreadPool::do_part(int part) {
  try {
    (*work_)(part);
  } catch (...) {
    const std::scoped_lock lock(error_guard_);
    if (!error_ || part < error_part_) {
      error_ = std::current_exception();
      error_part_ = part;
    }
  }
  if (left_.fetch_sub(1) == 1) left_.notify_one();
}

void run_parts(int count, const std::function<void(int)>& work) {
  struct Restored {
    ThreadPool* pool = std::exchange(current, nullptr);
    ~Restored() { current = pool; }
  } const outer;
  if (outer.pool) {
    outer.pool->run(count, work);
  } else {
    run_one_by_one(count, work);
  }
}

int processors() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

ThreadScope::ThreadScope(int requested, int limit)
    : pool_(std::make_unique<ThreadPool>(std::max(1, requested), limit)),
      outer_(std::exchange(current, pool_.get())) {}

ThreadScope::~ThreadScope() { current = outer_; }

int ThreadScope::requested() const { return pool_->parts(); }
int ThreadScope::running() const { return pool_->threads(); }

int threads() { return current ? current->parts() : 1; }

}  // namespace symport
