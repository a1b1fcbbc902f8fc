// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/output_options.hpp"
#include "commands/report_file.hpp"
#include "lab/runs/run_record.hpp"

namespace symport::cli {

/// Where the results of a run go: to stdout, a directory, a page.
class RunOutput {
 public:
  /// Throws UsageError for a page that cannot be written.
  RunOutput(std::string command, const OutputOptions& options);

  /// Makes the directory of --out, if there is one. Throws UsageError.
  void open_directory() { directory_ = options_.directory(); }
  /// Goes on with the directory of an earlier run.
  void resume(const std::string& directory);

  lab::RunDirectory* directory() const { return directory_.get(); }
  /// Whether somebody will want the rows of the run.
  bool needs_trace() const { return directory_ || page_; }

  /// Calls `write` on the directory, prints `shown`, and makes the page of the run; each is tried
  /// even if the others fail. Says on stderr what was written.
  void deliver(const std::function<void(lab::RunDirectory&)>& write, const std::string& shown,
               const std::function<lab::RunRecord()>& record) const;

 private:
  std::string command_;
  OutputOptions options_;
  std::optional<ReportFile> page_;
  std::unique_ptr<lab::RunDirectory> directory_;
};

}  // namespace symport::cli
