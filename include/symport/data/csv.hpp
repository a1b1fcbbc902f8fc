// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "symport/core/types.hpp"
#include "symport/data/sample_set.hpp"

namespace symport {

/// A table of numbers with named columns.
struct CsvTable {
  std::vector<std::string> columns;
  Matrix values;  ///< lines x columns
};

/// A comma-separated file: one line of column names, then lines of finite decimal numbers, as many
/// as there are names. Lines end in LF or CRLF; fields may be enclosed in double quotes and
/// surrounded by spaces; a UTF-8 byte order mark is skipped.
///
/// Throws InvalidArgument, naming file, line and column, on anything else: missing or extra fields,
/// text, nan and inf, repeated or empty names, blank lines, no data.
CsvTable read_csv(const std::filesystem::path& path);
/// The same from text; `name` stands for it in messages.
CsvTable parse_csv(std::string_view text, const std::string& name);

/// The column `label` becomes the classes (integers >= 0, below `range.count` when that is given),
/// all others the features in their order. `file` names the table in messages.
SampleSet<> samples_from_csv(const CsvTable& table, const std::string& label,
                             const std::string& file, const ClassRange& range = {});

}  // namespace symport
