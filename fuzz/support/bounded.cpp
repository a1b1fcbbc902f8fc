// SPDX-License-Identifier: MIT
#include "support/bounded.hpp"

#include <sanitizer/allocator_interface.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace symport::fuzz {

namespace {

std::atomic<bool> watching = false;
std::atomic<long long> live = 0;
long long limit = 0;

void on_malloc(const volatile void*, std::size_t size) {
  if (!watching) return;
  const long long now = live += static_cast<long long>(size);
  if (now <= limit) return;
  watching = false;
  std::fprintf(stderr, "%lld bytes are allocated, at most %lld are allowed\n", now, limit);
  std::abort();
}

void on_free(const volatile void* pointer) {
  if (!watching || pointer == nullptr) return;
  live -= static_cast<long long>(__sanitizer_get_allocated_size(const_cast<void*>(pointer)));
}

}  // namespace

MemoryBound::MemoryBound(std::size_t size, std::size_t factor) {
  static const int installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
  require(installed != 0, "the allocator can be watched");
  limit = static_cast<long long>(base + factor * size);
  live = 0;
  watching = true;
}

MemoryBound::~MemoryBound() { watching = false; }

void broken(const char* what) {
  watching = false;
  std::fprintf(stderr, "It should be true that %s.\n", what);
  std::abort();
}

}  // namespace symport::fuzz
