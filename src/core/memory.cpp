// SPDX-License-Identifier: MIT
#include "symport/core/memory.hpp"

#ifdef __linux__
#include <malloc.h>
#endif

namespace symport {

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace symport
