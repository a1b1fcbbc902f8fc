// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/data/data_source.hpp"
#include "lab/data/data_summary.hpp"

namespace symport::lab {

/// A file that data was read from.
struct DataFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::string sha256;
  std::optional<bool> as_known = std::nullopt;  ///< for files of the catalogue
};

/// A data set at a glance.
struct DataDescription {
  std::string name;
  const CatalogEntry* entry = nullptr;  ///< for sets of the catalogue
  DataSummary training;
  std::optional<DataSummary> test = std::nullopt;
  std::vector<DataFile> files;
};

/// Reads the data and its files' hashes. Throws OptionError about `option` for the name, about the
/// label; an InvalidArgument names the file.
DataDescription describe_data(const std::string& name, const DataOptions& options,
                              const std::string& option);

}  // namespace symport::lab
