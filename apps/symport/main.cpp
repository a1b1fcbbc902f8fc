// SPDX-License-Identifier: MIT
#include <sys/resource.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "cli/command_line.hpp"
#include "cli/errors.hpp"
#include "commands/all.hpp"
#include "symport/core/memory.hpp"
#include "terminal/interruption.hpp"
#include "terminal/terminal.hpp"

namespace {

/// The matrix library waits for ever when it cannot reserve the address space it wants: 128 MB for
/// every processor. As much again is for the rest.
void require_address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const rlim_t needed = (std::thread::hardware_concurrency() + rlim_t{2}) << 27;
  if (limit.rlim_cur >= needed) return;
  symport::cli::print_error("symport: the address space is limited to " +
                            std::to_string(limit.rlim_cur >> 20) + " MB (ulimit -v), needed are " +
                            std::to_string(needed >> 20) + " MB\n");
  std::_Exit(symport::cli::exit_failed);  // an orderly end would wait for the library's threads
}

}  // namespace

int main(int count, char** words) {
  symport::keep_freed_memory();
  symport::cli::prepare_standard_streams();
  require_address_space();
  symport::cli::watch_for_interruption(symport::cli::exit_interrupted);
  return symport::cli::run_program(std::vector<std::string>(words + (count > 0), words + count),
                                   symport::cli::all_commands());
}
