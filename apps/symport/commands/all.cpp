// SPDX-License-Identifier: MIT
#include "commands/all.hpp"

namespace symport::cli {

std::vector<Command> all_commands() {
  return {optimize_command(),  train_command(),     teleport_command(),   compare_command(),
          benchmark_command(), reproduce_command(), report_command(),     data_command(),
          demo_command(),      list_command(),      completion_command(), man_command()};
}

}  // namespace symport::cli
