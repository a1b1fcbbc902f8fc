// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace symport::lab {

/// The machine in a line: "AMD EPYC 7B13, 2 processors, Linux 6.1.0 x86_64".
std::string machine_text();

/// Bytes of memory that a process can have: the machine's, or less where it or its control group is
/// limited.
double machine_memory();

}  // namespace symport::lab
