// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/core/types.hpp"

namespace symport::lab {

/// How the text of a package's table is laid out: one sample a line, fields separated by commas
/// or, where a line has none, by spaces. Lines that are empty or begin with '@' or '%' (ARFF, KEEL)
/// are no samples.
struct TableLayout {
  Index skipped_lines = 0;        ///< at the top: names of columns, counts
  Index target = -1;              ///< the column to predict, from 0; -1: the last one
  std::vector<Index> left_out{};  ///< columns that are neither feature nor target, such as names
};

}  // namespace symport::lab
