// SPDX-License-Identifier: MIT
#include "commands/report_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "lab/report/page.hpp"
#include "lab/text/errors.hpp"
#include "symport/data/atomic_file.hpp"

namespace symport::cli {

namespace fs = std::filesystem;
using lab::OutputError;
using lab::UsageError;

std::optional<ReportFile> ReportFile::asked_for(const OutputOptions& options) {
  if (!options.report) return std::nullopt;
  const fs::path path = *options.report;
  const auto refuse = [&](const char* problem) {
    throw UsageError("--report",
                     fmt::format("found '{}' ({}), allowed is a file that can be written",
                                 path.string(), problem));
  };
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) refuse("a directory");
  if (fs::exists(path, ignored) && !options.force) {
    throw UsageError("--report", fmt::format("'{}' exists; --force replaces it", path.string()));
  }
  // The run's own directory is made by the run.
  const fs::path place = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const bool inside =
      options.out && fs::weakly_canonical(place) == fs::weakly_canonical(*options.out);
  if (!inside && !fs::is_directory(place, ignored)) refuse("its directory does not exist");
  if (!inside && ::access(place.c_str(), W_OK | X_OK) != 0) refuse("its directory is not writable");
  return ReportFile(path, options.existing());
}

void ReportFile::write(const lab::report::Report& content) const {
  try {
    symport::write_file(path_, lab::report::page(content), existing_);
  } catch (const InvalidArgument& error) {
    throw OutputError(fmt::format("cannot write {}", error.what()));
  }
}

}  // namespace symport::cli
