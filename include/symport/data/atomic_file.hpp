// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "symport/core/invalid_argument.hpp"

namespace symport {

/// A file could be begun but not finished: the disk is full, or its directory was removed
/// meanwhile.
class WriteError : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

/// What becomes of a file that has the target's name already.
enum class Existing {
  replace,  ///< it is replaced
  /// It stays, and `commit` throws: for a name that was free when long work began, and under which
  /// somebody may have put a file since.
  keep,
};

/// A file that appears whole or not at all.
///
/// Bytes go to a temporary file in the target's directory; `commit` flushes them to the disk and
/// renames the temporary over the target, so that at every moment, power loss included, the target
/// is either what it was before or complete. Without `commit` the destructor removes the temporary.
/// A symbolic link is followed; a file that is replaced keeps its permissions.
///
/// All failures (no such directory, no permission, the target is not a regular file) throw an
/// InvalidArgument whose field is the target's path and whose text gives the system's reason; that
/// is a WriteError when the disk is full or the path was fine at first.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& target, Existing existing = Existing::replace);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  std::uint64_t bytes_written() const { return written_; }
  const std::filesystem::path& target() const { return target_; }
  /// All bytes are on the disk after it, still in the temporary file. Nothing may be written after
  /// it, and only the rename of `commit` is left to fail.
  void flush();
  /// The last call: nothing may be written after it.
  void commit();

 private:
  [[noreturn]] void fail(const char* action, int error) const;
  void discard() noexcept;

  std::filesystem::path target_;     ///< as the caller named it, for messages
  std::filesystem::path real_;       ///< with symbolic links followed
  std::filesystem::path temporary_;  ///< empty once renamed or removed
  Existing existing_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
};

/// Whether a path is named like the temporary file of an AtomicFile, which a killed process leaves
/// behind.
bool is_temporary_file(const std::filesystem::path& path);

/// The whole of `bytes` as the file `target`, by AtomicFile.
void write_file(const std::filesystem::path& target, std::string_view bytes,
                Existing existing = Existing::replace);

}  // namespace symport
