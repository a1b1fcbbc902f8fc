// SPDX-License-Identifier: MIT
#pragma once

namespace symport {

/// To be called before the BLAS. OpenBLAS maps a buffer for every thread that is inside it and,
/// where there is no room for one, tries again for ever. This has the buffer mapped once there is
/// known to be room; throws std::bad_alloc if there is none. Free after a thread's first call.
void require_blas_buffer();

/// The same, and the BLAS is kept to one thread: work is divided before it gets there.
void prepare_blas();

}  // namespace symport
