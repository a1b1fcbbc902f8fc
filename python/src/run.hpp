// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <variant>

#include "lab/runs/run_record.hpp"
#include "lab/runs/run_writer.hpp"

namespace symport::python {

/// A run that ended: one that was made here, or what a directory says about one.
struct Run {
  std::variant<lab::FunctionResult, lab::NetworkResult, lab::RunRecord> result;
  /// Samples that came as arrays, not from a file.
  std::optional<ArrayMap> data = std::nullopt, test = std::nullopt;

  lab::RunRecord record() const;
  /// Of a run that was made here; null otherwise.
  const RunSummary* summary() const;
};

}  // namespace symport::python
