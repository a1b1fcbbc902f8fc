// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <mutex>

namespace symport {

/// Buffers that the const functions of an object reuse from call to call, for any number of threads
/// at once. A call borrows one for as long as it runs, so there are as many as there were calls at
/// the same time, and one where only one thread ever calls. Borrowing allocates nothing unless all
/// are on loan, and takes the one that came back last.
template <class Workspace>
class Workspaces {
 public:
  Workspaces() = default;
  /// A copy of an object begins without any.
  Workspaces(const Workspaces&) {}
  Workspaces& operator=(const Workspaces&) {
    free_.clear();
    return *this;
  }

  class Loan {
   public:
    explicit Loan(Workspaces& from) : from_(from) {
      {
        const std::scoped_lock lock(from_.guard_);
        if (!from_.free_.empty()) own_.splice(own_.begin(), from_.free_, from_.free_.begin());
      }
      if (own_.empty()) own_.emplace_back();
    }
    ~Loan() {
      const std::scoped_lock lock(from_.guard_);
      from_.free_.splice(from_.free_.begin(), own_);
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    Workspace& operator*() { return own_.front(); }
    Workspace* operator->() { return &own_.front(); }

   private:
    Workspaces& from_;
    std::list<Workspace> own_;  ///< one, moved from list to list without an allocation
  };

 private:
  std::mutex guard_;
  std::list<Workspace> free_;
};

}  // namespace symport
