// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/data/data_summary.hpp"
#include "lab/data/fetch.hpp"
#include "lab/data/open_data.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

/// A file that data was read from.
struct FileReport {
  std::string path;
  std::uint64_t bytes = 0;
  std::string sha256;
  std::optional<bool> as_known = std::nullopt;  ///< for files of the catalogue
};

/// All that `symport data describe` has to say.
struct DataReport {
  std::string name;
  const lab::CatalogEntry* entry = nullptr;  ///< for sets of the catalogue
  lab::DataSummary training;
  std::optional<lab::DataSummary> test = std::nullopt;
  std::vector<FileReport> files;
};

/// Reads the data and its files' hashes. Throws as open_data does, blaming `origin` for the name.
DataReport describe_data(const std::string& name, const lab::DataOptions& options,
                         const lab::Given& given, const std::string& origin);

std::string describe_text(const DataReport& report, const Style& style);
std::string describe_json(const DataReport& report);
std::string catalog_text(const lab::DataDirectory& directory, const Style& style);
std::string catalog_json(const lab::DataDirectory& directory);
std::string fetch_text(const lab::CatalogEntry& entry, const lab::DataDirectory& directory,
                       const lab::FetchResult& result);
std::string fetch_json(const lab::CatalogEntry& entry, const lab::DataDirectory& directory,
                       const lab::FetchResult& result);

/// "54.9 MB", in powers of 1000.
std::string size_text(std::uint64_t bytes);

}  // namespace symport::cli
