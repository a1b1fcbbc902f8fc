// SPDX-License-Identifier: MIT
#include "symport/core/version.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <zlib.h>

#include <Eigen/Core>

namespace symport {

namespace {

/// "OpenBLAS 0.3.21 NO_AFFINITY ..." -> "0.3.21"
std::string openblas_version() {
  const std::string text = openblas_get_config();
  const std::size_t first = text.find_first_of("0123456789");
  if (first == std::string::npos) return text;
  return text.substr(first, text.find(' ', first) - first);
}

}  // namespace

std::string_view version() { return SYMPORT_VERSION; }

std::vector<Dependency> dependencies() {
  return {
      {"Eigen",
       fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
      {"OpenBLAS", openblas_version()},
      {"Random123", SYMPORT_RANDOM123_VERSION},
      {"fmt",
       fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"zlib", zlibVersion()},
  };
}

}  // namespace symport
