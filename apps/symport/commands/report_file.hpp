// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "lab/options/given.hpp"
#include "lab/report/report.hpp"
#include "lab/runs/run_directory.hpp"

namespace symport::cli {

/// The page that `--report FILE` asks a command to write at its end.
class ReportFile {
 public:
  /// Nothing when it was not asked for. Throws UsageError for a file that exists, unless --force
  /// was given, and for one that cannot be made: both before the work begins.
  static std::optional<ReportFile> asked_for(const lab::Given& given);

  /// Throws OutputError.
  void write(const lab::report::Report& content) const;
  /// The page that `symport report` makes of a run. Without a directory of its own (null)
  /// `write_run` puts the run into a temporary one. False, and no page: the run has no row yet.
  bool write_run(lab::RunDirectory* directory,
                 const std::function<void(lab::RunDirectory&)>& write_run) const;

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ReportFile(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace symport::cli
