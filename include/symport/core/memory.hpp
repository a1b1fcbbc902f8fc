// SPDX-License-Identifier: MIT
#pragma once

namespace symport {

/// Keeps freed memory in the process, where the C library allows it. Matrices as large as the
/// parameters come and go at every teleport; by default each is returned to the system and its
/// pages are cleared again, which costs about a tenth of the time. The program calls this first; a
/// program of your own may, before its first thread.
void keep_freed_memory();

}  // namespace symport
