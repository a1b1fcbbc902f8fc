// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lab/data/catalog.hpp"

namespace symport::lab {

/// Where fetched sets are kept, one folder each.
struct DataDirectory {
  std::filesystem::path path;
  std::string origin;  ///< what named it: "--data-dir", "$SYMPORT_DATA", ...

  std::filesystem::path of(const CatalogEntry& entry) const { return path / entry.name; }
  /// Files of the set that are there with their right size.
  std::size_t files_present(const CatalogEntry& entry) const;
  bool complete(const CatalogEntry& entry) const {
    return files_present(entry) == entry.files.size();
  }
};

/// `given` (--data-dir), else $SYMPORT_DATA, else $XDG_DATA_HOME/symport, else
/// ~/.local/share/symport. Throws UsageError when none of them is known.
DataDirectory data_directory(const std::optional<std::string>& given);

}  // namespace symport::lab
