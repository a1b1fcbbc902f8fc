// SPDX-License-Identifier: MIT
#include "commands/run_output.hpp"

#include <fmt/format.h>

#include "cli/errors.hpp"
#include "lab/report/run_report.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

RunOutput::RunOutput(std::string command, const OutputOptions& options)
    : command_(std::move(command)), options_(options), page_(ReportFile::asked_for(options)) {}

void RunOutput::resume(const std::string& directory) {
  directory_ = lab::RunDirectory::of_earlier_run(directory, "--resume");
}

void RunOutput::deliver(const std::function<void(lab::RunDirectory&)>& write,
                        const std::string& shown,
                        const std::function<lab::RunRecord()>& record) const {
  do_both(
      [&] {
        if (directory_) write(*directory_);
      },
      [&] { print(shown); });
  if (directory_ && !options_.quiet) {
    print_error(fmt::format("Written to {}\n", directory_->path().string()));
  }
  if (!page_) return;
  lab::RunRecord run = record();
  if (run.trace.rows() == 0) {
    print_error(fmt::format("{}: no report written: the run recorded no rows\n", command_));
    return;
  }
  if (directory_) run.directory = directory_->path();
  page_->write(lab::report::run_report({run}, ""));
  if (!options_.quiet) print_error(fmt::format("Written to {}\n", page_->path().string()));
}

}  // namespace symport::cli
