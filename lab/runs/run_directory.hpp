// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "symport/data/array.hpp"
#include "symport/data/atomic_file.hpp"

namespace symport::lab {

/// A directory for the results of a run. It is made when the run is about to start, so that a bad
/// path is found before the work is done, and removed again if nothing was written.
///
/// A file appears under its name complete or not at all (AtomicFile). `summary.json` is written
/// last; a directory that has one is whole. While one process has it, another one is refused.
///
/// Nothing is written through symbolic links in it: what is in a directory, which may come from
/// others, does not decide where files are written.
class RunDirectory {
 public:
  /// Throws UsageError, naming `origin`, when the path cannot be made or written to, is no
  /// directory, has links where a run's files go, or is a directory that is not `free` and `force`
  /// is false. With `force` files of the same names are replaced and others left alone; an
  /// old summary.json goes before the first file of a run. Without, files that somebody else puts
  /// there later are not replaced either.
  RunDirectory(std::filesystem::path path, bool force, const std::string& origin);
  /// The directory of a run that is to go on; throws UsageError unless it has a configuration, or
  /// when it has links where a run's files go.
  static std::unique_ptr<RunDirectory> of_earlier_run(const std::filesystem::path& path,
                                                      const std::string& origin);
  /// Throws UsageError, naming `origin`, when root/name is a symbolic link, or reached through one
  /// below `root`.
  static void refuse_link(const std::filesystem::path& root, const std::filesystem::path& name,
                          const std::string& origin);
  /// The same for all files that a run writes to root/folder.
  static void refuse_links(const std::filesystem::path& root, const std::filesystem::path& folder,
                           const std::string& origin);
  /// Whether there is a config.toml that a run of this program wrote.
  static bool holds_a_run(const std::filesystem::path& path);
  /// Whether a directory is empty, except for temporary files that a killed process left.
  static bool is_free(const std::filesystem::path& path);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  struct File {
    std::filesystem::path name;  ///< may lie in a subdirectory, but not outside, nor behind a link
    std::string text{};
    const ArrayMap* arrays = nullptr;  ///< as an .npz file, instead of the text
  };

  const std::filesystem::path& path() const { return path_; }
  /// Throws OutputError, also when the directory was removed meanwhile; then none of the files is
  /// there, and what was, summary.json included, still is (unless a rename fails halfway). A file
  /// that has this text already is not touched, nor the summary for its sake.
  void write(const std::vector<File>& files);
  void write(const std::filesystem::path& name, std::string text) {
    write({File{name, std::move(text)}});
  }
  void write(const std::filesystem::path& name, const ArrayMap& arrays) {
    write({File{name, {}, &arrays}});
  }

 private:
  explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::unique_ptr<AtomicFile> staged(const File& file);
  void begin(const std::filesystem::path& name);
  void make_directories(const std::filesystem::path& path);
  /// Removes, once no other process has the directory, what killed ones left there.
  void lock(const std::string& origin);
  void require_place() const;

  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  ///< outermost first
  std::set<std::filesystem::path> begun_;    ///< subdirectories with files of a new run
  std::set<std::filesystem::path> own_;      ///< files written so far
  bool fresh_ = false;                       ///< new or empty, and nothing may be replaced
  bool written_ = false;
  bool stays_ = false;   ///< even if nothing is written
  int descriptor_ = -1;  ///< of the directory, which holds the lock
};

/// A name as that of a folder, which is never "." or "..": "SGD, kappa 2" becomes "sgd-kappa-2".
std::string folder_name(const std::string& name);

}  // namespace symport::lab
