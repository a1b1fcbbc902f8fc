// SPDX-License-Identifier: MIT
#ifdef __linux__
#include <malloc.h>
#endif

#include "command_line.hpp"
#include "interruption.hpp"
#include "terminal.hpp"

namespace {

/// Matrices as large as the parameters come and go at every teleport. By default each is given back
/// to the system and its pages are cleared anew, which costs about a tenth of the time.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace

int main(int count, char** words) {
  keep_freed_memory();
  symport::cli::prepare_standard_streams();
  symport::cli::watch_for_interruption();
  return symport::cli::run_program(std::vector<std::string>(words + (count > 0), words + count));
}
