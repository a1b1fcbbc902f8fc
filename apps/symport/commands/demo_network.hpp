// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "lab/runs/network_run.hpp"
#include "terminal/text_table.hpp"

namespace symport::cli {

/// The demo's second part: a small network on two spirals in mini-batches, each method at the rate
/// of its grid with the smallest training loss.
struct DemoNetworkRow {
  std::string method, folder;
  lab::NetworkResult result;
};
/// Fewer rows when interrupted.
std::vector<DemoNetworkRow> demo_network(std::uint64_t seed);

std::string demo_network_text(const std::vector<DemoNetworkRow>& rows, const Style& style);

}  // namespace symport::cli
