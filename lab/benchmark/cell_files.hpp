// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "lab/runs/run_directory.hpp"

namespace symport::lab::benchmark {

/// Where finished cells are kept: one file for each stage (tuning, judging) of each method on each
/// problem, which appears whole. Its name holds a hash of all that decides what is in it, so that a
/// file is used again exactly where it would come out the same; only the version of the program
/// speaks for its code.
struct CellFiles {
  /// Nothing: there is no such file.
  std::function<std::optional<std::string>(const std::string& name)> read = [](const std::string&) {
    return std::nullopt;
  };
  std::function<void(const std::string& name, const std::string& text)> write =
      [](const std::string&, const std::string&) {};
};

/// In the folder `cells` of a directory, with `reuse` what is there already; null: nowhere.
CellFiles cell_files(RunDirectory* directory, bool reuse);

}  // namespace symport::lab::benchmark
