// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "lab/compare/output.hpp"
#include "lab/data/describe.hpp"
#include "lab/data/fetch.hpp"
#include "lab/runs/function_run.hpp"
#include "lab/runs/network_run.hpp"
#include "terminal/terminal.hpp"

/// Results for people.
namespace symport::cli {

std::string optimize_text(const lab::FunctionResult& result, const Style& style);
std::string train_text(const lab::NetworkResult& result, const Style& style);
/// What to say of a run with --teleport auto that tried no teleport.
inline std::string no_probe_text() {
  return "none tried: in a run as short as this, auto could spend more than it saves; "
         "more --steps or a schedule such as --teleport every:100";
}
/// A line for each of several runs that differ in their seeds.
std::string seeds_text(const std::vector<lab::NetworkResult>& results, const Style& style);
/// A table for each problem, the performance profile, the verdicts.
std::string compare_text(const lab::compare::Comparison& comparison, const Style& style);

std::string describe_text(const lab::DataDescription& description, const Style& style);
std::string catalog_text(const lab::DataDirectory& directory, const Style& style);
std::string fetch_text(const lab::CatalogEntry& entry, const lab::DataDirectory& directory,
                       const lab::FetchResult& result);

}  // namespace symport::cli
