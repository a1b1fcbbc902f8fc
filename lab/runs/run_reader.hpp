// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "symport/search/certificate.hpp"
#include "symport/training/trace_teleport.hpp"

namespace symport::lab::report {

/// The columns of a trace.csv by name.
struct TraceColumns {
  std::string file;
  std::string index;  ///< what its rows are counted by: "step" or "epoch"
  std::map<std::string, std::vector<double>> columns;

  std::size_t rows() const { return columns.at(index).size(); }
  bool has(const std::string& name) const { return columns.contains(name); }
  /// Throws UsageError, blaming the file, when it has no such column.
  const std::vector<double>& operator[](const std::string& name) const;
  /// The column that is minimised: "loss" or "train_loss".
  const std::vector<double>& loss() const;
  /// The first row whose loss is known: with a running training loss that before training is not.
  std::size_t first_loss() const;
  /// The numbers of columns x1, x2, ...; 0 where the trace has no points.
  std::size_t dimension() const;
};

/// All that a run directory says.
struct Run {
  std::filesystem::path directory;
  std::string name = {};                      ///< of its series; empty: made from the configuration
  std::string command;                        ///< "optimize" or "train"
  std::map<std::string, std::string> config;  ///< every key but `command` and `seed`
  std::string config_text;                    ///< config.toml as it is
  std::string seed;
  std::string status;
  std::string version;         ///< of the program that made it
  std::string machine;         ///< empty: not recorded
  bool loss_invariant = true;  ///< what its symmetry promises
  TraceColumns trace;
  std::vector<Certificate> teleports;
  std::vector<TraceTeleport> jumps;  ///< the same teleports, as the trace has them
};

/// The runs in these directories: each holds one (it has a config.toml), or directories that do, at
/// any depth. In the order given, those below one directory by name; none twice. Throws UsageError
/// that names the file, line and field for anything that is missing, malformed, or of a version
/// that this program does not read.
std::vector<Run> read_runs(const std::vector<std::string>& directories);

/// Throws UsageError, blaming `file` and the line, unless every line has a number in each column,
/// and the columns are the index, the loss, `seconds`, and any others.
TraceColumns parse_trace(std::string_view csv, const std::string& file);

/// Throws UsageError unless runs of that version can be read: from 0.1 to this program's own.
void check_version(const std::string& version, const std::string& origin);

}  // namespace symport::lab::report
