// SPDX-License-Identifier: MIT
// Everything that uses more than one thread is in this folder; ./check --tsan runs it under
// ThreadSanitizer. A limit equal to the threads asked for starts them all, on any machine.
#include <gtest/gtest.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/pool.hpp"
#include "support/bounded_child.hpp"
#include "symport/core/gemm.hpp"
#include "symport/core/random.hpp"
#include "symport/core/thread_scope.hpp"

namespace symport {
namespace {

std::size_t at(int part) { return static_cast<std::size_t>(part); }

/// Whether a thread of this process sleeps, as the kernel says: R is running, S is sleeping.
bool sleeps(const std::filesystem::path& task) {
  std::ifstream file(task / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line.substr(name_end + 2, 1) == "S";
}

/// Whether all these threads sleep within ten seconds. One that spins never does.
bool fall_asleep(const std::vector<std::filesystem::path>& tasks) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < until) {
    if (std::all_of(tasks.begin(), tasks.end(), sleeps)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

std::filesystem::path this_task() {
  return std::filesystem::path("/proc/self/task") / std::to_string(::gettid());
}

std::vector<std::filesystem::path> other_tasks() {
  std::vector<std::filesystem::path> tasks;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    if (entry.path() != this_task()) tasks.push_back(entry.path());
  }
  return tasks;
}

/// The text of what a call throws; empty: nothing.
std::string thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

/// Whether all parts are done once, and seen by the caller.
void expect_all_parts_done(int count) {
  std::vector<int> done(at(count), 0);  // not atomic: one writer each
  run_parts(count, [&](int part) { ++done[at(part)]; });
  EXPECT_EQ(done, std::vector<int>(at(count), 1));
}

TEST(Pool, EveryPartIsDoneOnceAndSeenByTheCaller) {
  for (const int count : {1, 2, 3, 7}) {
    for (const int running : {1, 2, count}) {
      const ThreadScope some(count, running);
      for (int round = 0; round < 200; ++round) expect_all_parts_done(1 + round % count);
    }
  }
}

TEST(Pool, DoesMorePartsThanItWasMadeFor) {
  const ThreadScope some(2, 2);
  expect_all_parts_done(5);
  expect_all_parts_done(2);
}

TEST(Pool, SleepingThreadsWakeUp) {
  const ThreadScope some(3, 3);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // longer than they look out for
    expect_all_parts_done(3);
  }
}

TEST(Pool, PartsAreDoneAtTheSameTime) {
  const ThreadScope some(3, 3);
  std::atomic<int> there = 0;
  run_parts(3, [&](int) {
    ++there;
    while (there < 3) std::this_thread::yield();
  });
  EXPECT_EQ(there, 3);
}

/// Calls work in two parts, of which the helper has the second while the caller waits in the first
/// until it has begun.
void run_with_helper(const std::function<void()>& caller, const std::function<void()>& helper) {
  const std::thread::id self = std::this_thread::get_id();
  std::atomic<bool> begun = false;
  run_parts(2, [&](int) {
    if (std::this_thread::get_id() == self) {
      while (!begun) std::this_thread::yield();
      caller();
    } else {
      begun = true;
      helper();
    }
  });
}

TEST(Pool, WaitingThreadsSleep) {
  const ThreadScope some(2, 2);
  ASSERT_FALSE(other_tasks().empty());
  EXPECT_TRUE(fall_asleep(other_tasks()));  // the helper has nothing to do
  const std::vector<std::filesystem::path> caller{this_task()};
  bool slept = false;
  run_with_helper([] {}, [&] { slept = fall_asleep(caller); });
  EXPECT_TRUE(slept);
}

TEST(Pool, ThrowsTheFirstExceptionInTheOrderOfPartsWhenAllAreDone) {
  for (const int running : {1, 2, 4}) {
    const ThreadScope some(4, running);
    for (int round = 0; round < 200; ++round) {
      std::vector<int> done(4, 0);
      const auto throwing_from = [&](int first) {
        return thrown_by([&] {
          run_parts(4, [&](int part) {
            ++done[at(part)];
            if (part >= first) throw std::runtime_error("part " + std::to_string(part));
          });
        });
      };
      ASSERT_EQ(throwing_from(round % 4), "part " + std::to_string(round % 4)) << running;
      ASSERT_EQ(done, std::vector<int>(4, 1));
      expect_all_parts_done(4);
    }
  }
}

TEST(Pool, WaitsForHelpersWhenTheCallerThrows) {
  const ThreadScope some(2, 2);
  bool helper_done = false;
  EXPECT_EQ(thrown_by([&] {
              run_with_helper([] { throw std::runtime_error("of the caller"); },
                              [&] {
                                std::this_thread::sleep_for(std::chrono::milliseconds(30));
                                helper_done = true;
                              });
            }),
            "of the caller");
  EXPECT_TRUE(helper_done);
  expect_all_parts_done(2);
}

TEST(Pool, ExhaustedMemoryInAHelperReachesTheCaller) {
  const ThreadScope some(2, 2);
  EXPECT_THROW(run_with_helper([] {}, [] { throw std::bad_alloc(); }), std::bad_alloc);
  expect_all_parts_done(2);
}

/// While it lives, no thread can be started: their stacks would be larger than all addresses.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    ::pthread_getattr_default_np(&before_);
    set_stack(std::size_t{1} << 48);
  }
  ~NoMoreThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  static void set_stack(std::size_t bytes) {
    pthread_attr_t large;
    ::pthread_getattr_default_np(&large);
    ::pthread_attr_setstacksize(&large, bytes);
    ::pthread_setattr_default_np(&large);
    ::pthread_attr_destroy(&large);
  }

 private:
  pthread_attr_t before_;
};

/// Large enough to be divided among 4.
Matrix divided_product() {
  Random random(6);
  const Matrix A = random.normal_matrix(200, 150), B = random.normal_matrix(150, 180);
  Matrix C(200, 180);
  multiply<double>(1, false, A, false, B, 0, C);
  return C;
}

TEST(Pool, WorksWithoutTheThreadsThatCannotBeStarted) {
  const Matrix reference = [] {
    const ThreadScope all(4, 4);
    EXPECT_EQ(all.running(), 4);
    return divided_product();
  }();
  const NoMoreThreads refused;
  ASSERT_ANY_THROW(std::jthread([] {}));
  const ThreadScope none(4, 4);
  EXPECT_EQ(none.requested(), 4);
  EXPECT_EQ(none.running(), 1);
  EXPECT_EQ(threads(), 4);
  for (int round = 0; round < 10; ++round) expect_all_parts_done(4);
  EXPECT_EQ(divided_product(), reference);
}

TEST(Pool, WorksWithThoseThreadsThatCouldBeStarted) {
  constexpr std::size_t stack = std::size_t{64} << 20;
  const test::ChildEnd end = test::in_bounded_child(3 * stack, [] {
    NoMoreThreads::set_stack(stack);
    const ThreadScope some(8, 8);
    const bool some_only = some.running() > 1 && some.running() < 8;
    if (some_only != test::address_space_can_be_limited) throw std::runtime_error("threads");
    for (int round = 0; round < 100; ++round) {
      std::vector<int> done(8, 0);
      run_parts(8, [&](int part) { ++done[at(part)]; });
      if (done != std::vector<int>(8, 1)) throw std::runtime_error("parts");
    }
  });
  EXPECT_FALSE(end.gave_up);
}

TEST(ThreadScope, EndsWhereItBegan) {
  EXPECT_EQ(threads(), 1);
  {
    const ThreadScope outer(3);
    EXPECT_EQ(threads(), 3);
    {
      const ThreadScope inner(2);
      EXPECT_EQ(threads(), 2);
      expect_all_parts_done(2);
    }
    EXPECT_EQ(threads(), 3);
    expect_all_parts_done(3);
  }
  EXPECT_EQ(threads(), 1);
}

TEST(ThreadScope, StartsNoMoreThreadsThanThereAreProcessors) {
  const ThreadScope many(1024);
  EXPECT_EQ(many.requested(), 1024);
  EXPECT_EQ(threads(), 1024);
  EXPECT_LE(many.running(), processors());
  expect_all_parts_done(1024);
  EXPECT_EQ(ThreadScope(0).requested(), 1);
  EXPECT_EQ(ThreadScope(-3).running(), 1);
}

TEST(ThreadScope, IsOfTheThreadThatMadeIt) {
  const ThreadScope mine(3, 3);
  std::jthread([] {
    EXPECT_EQ(threads(), 1);
    const ThreadScope other(2);
    EXPECT_EQ(threads(), 2);
  }).join();
  EXPECT_EQ(threads(), 3);
}

TEST(ThreadScope, PartsDoNotDivideTheirWorkAgain) {
  for (const int running : {1, 3}) {
    const ThreadScope some(3, running);
    run_parts(3, [](int) {
      EXPECT_EQ(threads(), 1);
      expect_all_parts_done(3);
    });
    EXPECT_EQ(threads(), 3);
    EXPECT_ANY_THROW(run_parts(3, [](int) { throw std::runtime_error("part"); }));
    EXPECT_EQ(threads(), 3);
  }
}

TEST(ThreadScope, OfOtherThreadsDoesNotDisturb) {
  std::vector<std::vector<int>> done(4, std::vector<int>(3, 0));
  {
    std::vector<std::jthread> callers;
    for (std::vector<int>& mine : done) {
      callers.emplace_back([&mine] {
        for (int scope = 0; scope < 10; ++scope) {
          const ThreadScope some(3, 1 + scope % 3);
          for (int round = 0; round < 20; ++round) {
            run_parts(3, [&mine](int part) { ++mine[at(part)]; });
          }
        }
      });
    }
  }
  for (const std::vector<int>& mine : done) EXPECT_EQ(mine, std::vector<int>(3, 200));
}

TEST(Blas, WithoutRoomForAnotherThreadThrowsInsteadOfWaitingForEver) {
  // Products that take a few milliseconds: more of them at once than OpenBLAS has buffers for.
  Random random(6);
  const Matrix A = random.normal_matrix(500, 500), B = random.normal_matrix(500, 500);
  const auto product = [&] {
    Matrix C(500, 500);
    multiply<double>(1, false, A, false, B, 0, C);
    return C;
  };
  const Matrix reference = product();  // the first thread has its room
  const test::ChildEnd end = test::in_bounded_child(std::size_t{100} << 20, [&] {
#ifdef __GLIBC__
    // A heap for each thread would take the addresses that their stacks and matrices need.
    ::mallopt(M_ARENA_MAX, 1);
#endif
    std::atomic<int> wrong = 0;
    const auto multiply_often = [&] {
      for (int round = 0; round < 10; ++round) {
        try {
          if (product() != reference) ++wrong;
        } catch (const std::bad_alloc&) {
          if (!test::address_space_can_be_limited) ++wrong;
        }
      }
    };
    {
      std::vector<std::jthread> callers;
      for (int i = 0; i < 6; ++i) callers.emplace_back(multiply_often);
    }
    if (wrong > 0 || product() != reference) throw std::runtime_error("a wrong product");
  });
  EXPECT_FALSE(end.gave_up);
}

}  // namespace
}  // namespace symport
