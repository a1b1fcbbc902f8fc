// SPDX-License-Identifier: MIT
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "symport/core/types.hpp"

namespace symport::testing {

/// A file of tests/golden, see its README.
inline nlohmann::json read_golden(const std::string& name) {
  std::ifstream file(std::string(SYMPORT_GOLDEN_DIR) + "/" + name);
  if (!file) throw std::runtime_error("no golden file " + name);
  return nlohmann::json::parse(file);
}

inline Vector golden_vector(const nlohmann::json& list) {
  Vector x(static_cast<Index>(list.size()));
  for (std::size_t i = 0; i < list.size(); ++i) x[static_cast<Index>(i)] = list[i].get<double>();
  return x;
}

}  // namespace symport::testing
