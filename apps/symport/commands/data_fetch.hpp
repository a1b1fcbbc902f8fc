// SPDX-License-Identifier: MIT
#pragma once

#include "lab/data/fetch.hpp"

namespace symport::cli {

/// `lab::fetch_data`, with its stages on stderr if they are to be shown, until it is interrupted.
lab::FetchResult fetch_with_progress(const lab::CatalogEntry& entry,
                                     const lab::DataDirectory& directory, bool force, bool shown);

}  // namespace symport::cli
