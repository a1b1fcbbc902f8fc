// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "symport/data/idx.hpp"

namespace symport::testing {

/// The files of a set that `symport data fetch` stored; nothing when nobody did.
inline std::optional<IdxFiles> find_set(const std::string& name) {
  namespace fs = std::filesystem;
  const char* own = std::getenv("SYMPORT_DATA");
  const char* home = std::getenv("HOME");
  const fs::path folder =
      (own ? fs::path(own) : fs::path(home ? home : "") / ".local/share/symport") / name;
  if (!fs::exists(folder)) return std::nullopt;
  return find_idx_files(folder);
}

}  // namespace symport::testing
