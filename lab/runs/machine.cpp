// SPDX-License-Identifier: MIT
#include "lab/runs/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <fstream>
#include <thread>

namespace symport::lab {

namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace

std::string machine_text() {
  const unsigned processors = std::thread::hardware_concurrency();
  utsname system{};
  const bool known = ::uname(&system) == 0;
  return fmt::format("{}, {} processor{}, {} {} {}", processor(), processors,
                     processors == 1 ? "" : "s", known ? system.sysname : "unknown system",
                     known ? system.release : "", known ? system.machine : "");
}

}  // namespace symport::lab
