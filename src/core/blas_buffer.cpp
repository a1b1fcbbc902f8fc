// SPDX-License-Identifier: MIT
#include "core/blas_buffer.hpp"

#include <cblas.h>
#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

// OpenBLAS has these for its own kernels. A library that hides them is used as it is.
extern "C" {
[[gnu::weak]] void* blas_memory_alloc(int unused);
[[gnu::weak]] void blas_memory_free(void* buffer);
}

namespace symport {

namespace {

/// What OpenBLAS maps for a buffer on x86-64 (32 MB or less elsewhere), and a page.
constexpr std::size_t buffer_bytes = (std::size_t{128} << 20) + 4096;

std::mutex guard;
std::size_t users = 0;      ///< threads that use the BLAS
std::vector<void*> mapped;  ///< buffers known to exist; once mapped they stay

void require_room() {
  void* room =
      ::mmap(nullptr, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  ::munmap(room, buffer_bytes);
}

/// Takes buffers until one is new. Those that other threads have in use at the moment are known.
void map_another() {
  std::vector<void*> taken;
  taken.reserve(mapped.size() + 1);
  mapped.reserve(mapped.size() + 1);
  const auto give_back = [&] {
    for (void* buffer : taken) blas_memory_free(buffer);
  };
  try {
    for (bool fresh = false; !fresh;) {
      require_room();
      void* buffer = blas_memory_alloc(0);
      if (!buffer) throw std::bad_alloc();
      taken.push_back(buffer);
      fresh = std::find(mapped.begin(), mapped.end(), buffer) == mapped.end();
      if (fresh) mapped.push_back(buffer);
    }
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
}

/// A thread's place among the users of the BLAS.
struct User {
  User() {
    const std::scoped_lock lock(guard);
    while (mapped.size() <= users) map_another();
    ++users;
  }
  ~User() {
    const std::scoped_lock lock(guard);
    --users;
  }
};

}  // namespace

void require_blas_buffer() {
  if (!blas_memory_alloc || !blas_memory_free) return;
  thread_local const User user;
  static_cast<void>(user);
}

void prepare_blas() {
  static const bool once = (openblas_set_num_threads(1), true);
  static_cast<void>(once);
  require_blas_buffer();
}

}  // namespace symport
