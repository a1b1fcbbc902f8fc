// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "cli/command.hpp"

/// The commands of the program, each in a file of its own.
namespace symport::cli {

/// `symport optimize FUNCTION`: Algorithm 1 on a named test function, or on a formula.
Command optimize_command();

/// `symport train`: Algorithms 1 (full batches) and 2 (mini-batches) on a network.
Command train_command();

/// `symport teleport`: one teleport of somebody's network, certificate on stdout.
Command teleport_command();

/// `symport compare`: several methods on several problems, each at its best learning rate.
Command compare_command();

/// `symport benchmark [SUITE]`: many methods on many problems, and which one wins.
Command benchmark_command();

/// `symport reproduce [FIGURE...]`: runs experiments and compares what comes out with what should.
Command reproduce_command();

/// `symport report DIR...`: the runs of some directories as one HTML file, and as SVG files.
Command report_command();

/// `symport data list|fetch|describe`: the sets that can be trained on.
Command data_command();

/// `symport demo`, and `symport` alone: the paper's test functions with and without teleportation,
/// in one table, and one run directory where it is asked for.
Command demo_command();

/// `symport list`: every name that can be typed, with one line each, from the registry.
Command list_command();

/// `symport completion SHELL`: a script that completes commands and options.
Command completion_command();

/// `symport man`: the manual page.
Command man_command();

/// All of them, in the order of the program's help.
std::vector<Command> all_commands();

}  // namespace symport::cli
