// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>

#include "cli/output_options.hpp"
#include "lab/report/report.hpp"

namespace symport::cli {

/// The page that `--report FILE` asks a command to write at its end.
class ReportFile {
 public:
  /// Nothing when it was not asked for. Throws UsageError for a file that exists, unless --force
  /// was given, and for one that cannot be made: both before the work begins.
  static std::optional<ReportFile> asked_for(const OutputOptions& options);

  /// Throws OutputError.
  void write(const lab::report::Report& content) const;

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ReportFile(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace symport::cli
