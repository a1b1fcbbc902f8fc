// SPDX-License-Identifier: MIT
#include "cli/command.hpp"
#include "commands/compare.hpp"
#include "commands/data.hpp"
#include "commands/demo.hpp"
#include "commands/list.hpp"
#include "commands/optimize.hpp"
#include "commands/report.hpp"
#include "commands/reproduce.hpp"
#include "commands/teleport.hpp"
#include "commands/train.hpp"

namespace symport::cli {

using namespace lab;

std::vector<Command> all_commands() {
  return {optimize_command(), train_command(),     teleport_command(),
          compare_command(),  reproduce_command(), report_command(),
          data_command(),     demo_command(),      list_command()};
}

namespace common {

namespace {
const std::string output = "Output";
}

Option out() { return {"out", "DIR", "write the run to this directory, new or empty", output}; }
Option report() {
  return {"report", "FILE.html", "write a page with figures at the end (see symport report)",
          output};
}
Option force() {
  return {"force", "",
          "let --out (and --report) replace the files of an earlier run; all others stay", output};
}
Option json() { return {"json", "", "the result as one JSON object on stdout", output}; }
Option quiet() { return {"quiet", "", "nothing but errors on stderr", output}; }
Option no_progress() { return {"no-progress", "", "no progress line", output}; }

}  // namespace common

}  // namespace symport::cli
