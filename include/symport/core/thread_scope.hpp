// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

namespace symport {

class ThreadPool;

/// Processors that this process may use; at least 1.
int processors();

/// While it lives, the matrix products of the thread that created it are divided among several
/// threads:
///
///     const ThreadScope threads(4);
///     train(objective, optimizer, w, options);
///
/// How a product is divided depends on the number requested, never on how many threads there are: a
/// result is a function of the inputs and of `requested`, bit for bit; for different numbers it is
/// equal up to rounding. Every scope has threads of its own, so runs on different threads of a
/// program do not affect each other. A scope within a scope hides the outer one. The BLAS itself is
/// kept to one thread.
class ThreadScope {
 public:
  /// No more than `limit` threads are started, including the calling one: more than there are
  /// processors would only wait for each other. Where the system refuses a thread, those that could
  /// be started do the work.
  explicit ThreadScope(int requested, int limit = processors());
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

  int requested() const;
  int running() const;  ///< threads that do the work, including the calling one

 private:
  std::unique_ptr<ThreadPool> pool_;
  ThreadPool* outer_;
};

/// The number requested by the innermost scope of the calling thread; 1 without one.
int threads();

}  // namespace symport
