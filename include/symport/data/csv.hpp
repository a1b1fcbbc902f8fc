// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "symport/core/types.hpp"
#include "symport/data/sample_set.hpp"

namespace symport {

/// A table of numbers with named columns, one of which may hold words.
struct CsvTable {
  std::vector<std::string> columns;
  Matrix values;                   ///< lines x columns; NaN where there is a word
  std::vector<std::string> words;  ///< of the column that may hold some, line by line; else empty
};

/// A comma-separated file: one line of column names, then lines of finite decimal numbers, as many
/// as there are names. Lines end in LF or CRLF; fields may be enclosed in double quotes and
/// surrounded by spaces; a UTF-8 byte order mark is skipped.
///
/// The fields of the column `label`, if one is named, may be words. Columns that are `ignored` may
/// hold anything, and are not in the table.
///
/// Throws InvalidArgument, naming file, line and column, on anything else: no such column, missing
/// or extra fields, text, nan and inf, repeated or empty names, numbers instead of names, other
/// separators, blank lines, no data.
CsvTable read_csv(const std::filesystem::path& path, const std::string& label = "",
                  const std::vector<std::string>& ignored = {});
/// The same from text; `name` stands for it in messages.
CsvTable parse_csv(std::string_view text, const std::string& name, const std::string& label = "",
                   const std::vector<std::string>& ignored = {});

/// The names in the first line, whatever the others hold. Throws InvalidArgument as `read_csv`
/// does.
std::vector<std::string> csv_columns(const std::filesystem::path& path);

/// The column `label` becomes the classes, all others the features in their order. With
/// `range.count` the classes are integers from 0 to below it. Without, integers that are just
/// 0, ..., K - 1 are classes too; other integers and words are names, of which class k is the k-th
/// in the order of the numbers or of the alphabet. `class_names`, where they are given, are the
/// names in their order. `file` names the table in messages.
SampleSet<> samples_from_csv(const CsvTable& table, const std::string& label,
                             const std::string& file, const ClassRange& range = {},
                             const std::vector<std::string>& class_names = {});
/// The column `target` becomes the numbers to predict, all others the features.
SampleSet<> regression_from_csv(const CsvTable& table, const std::string& target,
                                const std::string& file);

}  // namespace symport
