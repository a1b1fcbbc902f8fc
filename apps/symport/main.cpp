// SPDX-License-Identifier: MIT
#include "command_line.hpp"
#include "interruption.hpp"
#include "symport/core/memory.hpp"
#include "terminal.hpp"

int main(int count, char** words) {
  symport::keep_freed_memory();
  symport::cli::prepare_standard_streams();
  symport::cli::watch_for_interruption();
  return symport::cli::run_program(std::vector<std::string>(words + (count > 0), words + count));
}
