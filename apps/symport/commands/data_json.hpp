// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "lab/data/describe.hpp"
#include "lab/data/fetch.hpp"

/// What `symport data` says, as JSON.
namespace symport::cli {

std::string describe_json(const lab::DataDescription& report);
std::string catalog_json(const lab::DataDirectory& directory);
std::string fetch_json(const lab::CatalogEntry& entry, const lab::DataDirectory& directory,
                       const lab::FetchResult& result);

}  // namespace symport::cli
