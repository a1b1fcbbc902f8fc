// SPDX-License-Identifier: MIT
#include "lab/benchmark/cell_files.hpp"

#include "data/input.hpp"
#include "lab/runs/removal.hpp"

namespace symport::lab::benchmark {

namespace {

const std::filesystem::path cells_folder = "cells";

}  // namespace

CellFiles cell_files(RunDirectory* directory, bool reuse) {
  CellFiles files;
  if (directory == nullptr) return files;
  remove_temporaries(directory->path(), cells_folder);
  if (reuse) {
    files.read = [directory](const std::string& name) -> std::optional<std::string> {
      RunDirectory::refuse_link(directory->path(), cells_folder / name, "--resume");
      const std::filesystem::path path = directory->path() / cells_folder / name;
      std::error_code error;
      if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
      return detail::read_file(path);
    };
  }
  files.write = [directory](const std::string& name, const std::string& text) {
    directory->write(cells_folder / name, text);
  };
  return files;
}

}  // namespace symport::lab::benchmark
