// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "symport/data/array.hpp"

namespace symport::lab {

/// The checkpoints of a run directory: `checkpoint/latest.npz` and, should that one be damaged,
/// `checkpoint/previous.npz`. Each is written whole or not at all and carries checksums, so at
/// every moment of a run there is one to go on from.
class CheckpointFiles {
 public:
  static constexpr const char* folder = "checkpoint";
  static constexpr const char *latest = "latest.npz", *previous = "previous.npz";
  static constexpr const char* next = "next.npz";        ///< until it becomes the latest
  static constexpr const char* damaged = "damaged.npz";  ///< set aside, see `load`

  /// What a checkpoint must have been made with, to be one of this run.
  struct Identity {
    std::string run;   ///< its configuration
    std::string data;  ///< a fingerprint of its data
  };

  CheckpointFiles(const std::filesystem::path& run_directory, Identity identity)
      : directory_(run_directory / folder), identity_(std::move(identity)) {}

  /// The latest becomes the previous. Throws InvalidArgument or std::filesystem::filesystem_error
  /// when it cannot be written; what was there is then still usable.
  void save(ArrayMap arrays) const;

  struct Found {
    ArrayMap arrays;
    std::filesystem::path file;
    std::string complaint;  ///< what is wrong with a newer one; empty if nothing
  };
  /// The newest that can be read; nothing when the run has none yet. A damaged one that is newer
  /// becomes `damaged.npz`. Throws InvalidArgument, naming
  /// the file and what is wrong with it, when there are some and none can be read, or when it is of
  /// another run or other data.
  std::optional<Found> load() const;

  /// Removes all of them, for a new run in the same directory.
  void clear() const;

 private:
  void require_ours(const Found& found) const;

  std::filesystem::path directory_;
  Identity identity_;
};

}  // namespace symport::lab
