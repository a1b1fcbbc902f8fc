// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "lab/data/catalog.hpp"

namespace symport::lab {

/// The table of a package as the CSV file that is stored: a line of names (x1, x2, ... and `class`
/// or `target`), then the samples in their order, the target last, every field as it is written
/// there, except that classes that are whole numbers are counted from 0 in ascending order. A
/// second member, if there is one, holds the targets, one a line. Members may be gzipped.
///
/// Throws InvalidArgument, naming member, line and field, for anything that is not a number
/// (classes may be words) and for a shape other than that of `file`.
std::string stored_table(const StoredFile& file, const std::filesystem::path& root);

}  // namespace symport::lab
