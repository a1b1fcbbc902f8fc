// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "data/byte_source.hpp"
#include "support/forged_npz.hpp"
#include "support/mutate_inside.hpp"

/// Archives taken apart and put together for mutations inside them.
namespace symport::fuzz {

/// All that compressed bytes expand to, cut at 64 KiB. Throws InvalidArgument on damaged ones.
std::string inflated(std::string_view bytes, detail::Compression format);

/// The archive with one of its entries mutated; empty when it is no archive.
std::string mutate_npz(std::string_view archive, std::size_t largest, unsigned int seed);

}  // namespace symport::fuzz
