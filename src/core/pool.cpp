// SPDX-License-Identifier: MIT
#include "core/pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace symport {

namespace {

/// A matrix product of a training step takes 20 to 200 us: threads look out for the next one about
/// so long before they sleep.
constexpr int patience = 4000;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

class Pool {
 public:
  static Pool& instance() {
    static Pool pool;
    return pool;
  }
  ~Pool() { resize(1); }

  int threads() const { return count_.load(std::memory_order_relaxed); }

  void resize(int count) {
    const std::scoped_lock lock(busy_);
    stop_ = true;
    announce();
    workers_.clear();  // joins
    stop_ = false;
    count_ = std::max(1, count);
    const std::uint32_t seen = round_.load();
    for (int i = 1; i < count_; ++i) {
      workers_.emplace_back([this, i, seen] { serve(i, seen); });
    }
  }

  void run(int parts, const std::function<void(int)>& work) {
    const std::unique_lock lock(busy_, std::try_to_lock);
    if (!lock || parts > threads()) {
      for (int i = 0; i < parts; ++i) work(i);
      return;
    }
    work_ = &work;
    parts_ = parts;
    pending_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
    announce();
    work(0);
    for (int spins = 0; pending_.load(std::memory_order_acquire) > 0; ++spins) {
      if (spins < patience) {
        pause_briefly();
      } else {
        std::this_thread::yield();
      }
    }
  }

 private:
  Pool() = default;

  void announce() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }

  void serve(int part, std::uint32_t seen) {
    for (;;) {
      for (int spins = 0; round_.load(std::memory_order_acquire) == seen && spins < patience;
           ++spins) {
        pause_briefly();
      }
      round_.wait(seen, std::memory_order_acquire);
      ++seen;
      if (stop_) return;
      if (part < parts_) (*work_)(part);
      pending_.fetch_sub(1, std::memory_order_release);
    }
  }

  std::mutex busy_;
  std::atomic<int> count_ = 1;
  std::vector<std::jthread> workers_;
  std::atomic<std::uint32_t> round_ = 0;
  std::atomic<int> pending_ = 0;
  // Written before a round is announced, read after.
  const std::function<void(int)>* work_ = nullptr;
  int parts_ = 0;
  bool stop_ = false;
};

}  // namespace

void set_pool_threads(int count) { Pool::instance().resize(count); }
int pool_threads() { return Pool::instance().threads(); }
void run_parts(int parts, const std::function<void(int)>& work) {
  Pool::instance().run(parts, work);
}

}  // namespace symport
