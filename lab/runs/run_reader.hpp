// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "lab/runs/run_record.hpp"

namespace symport::lab {

/// The runs in these directories: each holds one (it has a config.toml), or directories that do, at
/// any depth. In the order given, those below one directory by name; none twice. Throws UsageError
/// that names the file, line and field for anything that is missing, malformed, or of a version
/// that this program does not read.
std::vector<RunRecord> read_runs(const std::vector<std::string>& directories);
/// The run in this directory.
RunRecord read_run(const std::filesystem::path& directory);

/// Throws UsageError unless runs of that version can be read: from 0.1 to this program's own.
void check_version(const std::string& version, const std::string& origin);

}  // namespace symport::lab
