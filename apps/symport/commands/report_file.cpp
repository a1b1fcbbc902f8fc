// SPDX-License-Identifier: MIT
#include "commands/report_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <system_error>

#include "lab/report/page.hpp"
#include "lab/report/run_report.hpp"
#include "lab/runs/removal.hpp"
#include "lab/text/errors.hpp"
#include "symport/data/atomic_file.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

using namespace lab;

namespace fs = std::filesystem;

namespace {

std::unique_ptr<ScratchDirectory> temporary_directory() try {
  return std::make_unique<ScratchDirectory>(fs::temp_directory_path(), "symport");
} catch (const fs::filesystem_error& error) {
  throw OutputError(fmt::format("cannot make a temporary directory '{}': {}",
                                error.path1().string(), error.code().message()));
}

}  // namespace

std::optional<ReportFile> ReportFile::asked_for(const Given& given) {
  const auto text = given.text("report");
  if (!text) return std::nullopt;
  const fs::path path = *text;
  const std::string origin = given.origin("report");
  const auto refuse = [&](const char* problem) {
    throw UsageError(origin, fmt::format("found '{}' ({}), allowed is a file that can be written",
                                         path.string(), problem));
  };
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) refuse("a directory");
  if (fs::exists(path, ignored) && !given.is_on("force")) {
    throw UsageError(origin, fmt::format("'{}' exists; --force replaces it", path.string()));
  }
  // The run's own directory is made by the run.
  const fs::path place = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const auto out = given.text("out");
  const bool inside = out && fs::weakly_canonical(place) == fs::weakly_canonical(*out);
  if (!inside && !fs::is_directory(place, ignored)) refuse("its directory does not exist");
  if (!inside && ::access(place.c_str(), W_OK | X_OK) != 0) refuse("its directory is not writable");
  return ReportFile(path);
}

void ReportFile::write(const report::Report& content) const {
  try {
    symport::write_file(path_, report::page(content));
  } catch (const InvalidArgument& error) {
    throw OutputError(fmt::format("cannot write {}", error.what()));
  }
}

bool ReportFile::write_run(RunDirectory* directory,
                           const std::function<void(RunDirectory&)>& write_run) const {
  std::vector<report::Run> runs;
  if (directory != nullptr) {
    runs = report::read_runs({directory->path().string()});
  } else {
    const std::unique_ptr<ScratchDirectory> scratch = temporary_directory();
    {
      RunDirectory place(scratch->path(), true, "--report");
      write_run(place);
    }
    runs = report::read_runs({scratch->path().string()});
    for (report::Run& run : runs) run.directory = "not kept";
  }
  if (runs.at(0).trace.rows() == 0) return false;
  write(report::run_report(runs, ""));
  return true;
}

}  // namespace symport::cli
