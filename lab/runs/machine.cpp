// SPDX-License-Identifier: MIT
#include "lab/runs/machine.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
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

double machine_memory() {
  double bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                 static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  rlimit allowed{};
  if (::getrlimit(RLIMIT_AS, &allowed) == 0 && allowed.rlim_cur != RLIM_INFINITY) {
    bytes = std::min(bytes, static_cast<double>(allowed.rlim_cur));
  }
  for (const char* limit :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    double limited = 0.0;  // "max" where there is no limit
    if (std::ifstream(limit) >> limited) bytes = std::min(bytes, limited);
  }
  return bytes;
}

}  // namespace symport::lab
