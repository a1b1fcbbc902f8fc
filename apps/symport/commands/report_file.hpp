// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>

#include "cli/output_options.hpp"
#include "lab/report/report.hpp"
#include "symport/data/atomic_file.hpp"

namespace symport::cli {

/// The page that `--report FILE` asks a command to write at its end.
class ReportFile {
 public:
  /// Nothing when it was not asked for. Throws UsageError for a file that exists, unless --force
  /// was given, and for one that cannot be made: both before the work begins.
  static std::optional<ReportFile> asked_for(const OutputOptions& options);

  /// Throws OutputError. A file that was put there since `asked_for` is not replaced without
  /// --force.
  void write(const lab::report::Report& content) const;

  const std::filesystem::path& path() const { return path_; }

 private:
  ReportFile(std::filesystem::path path, Existing existing)
      : path_(std::move(path)), existing_(existing) {}

  std::filesystem::path path_;
  Existing existing_;
};

}  // namespace symport::cli
