// SPDX-License-Identifier: MIT
#pragma once

#include "support/bounded.hpp"
#include "support/mutate_inside.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/data/npz.hpp"

/// The frame of the targets whose input is an archive of arrays. They are linked with
/// archive_mutator.cpp.
namespace symport::fuzz {

/// Does `action`, which may refuse its input.
template <class Action>
void attempt(Action action) try {
  action();
} catch (const InvalidArgument&) {
}

/// Does `read(arrays)` with the arrays of the input if it is an archive of them, within a
/// MemoryBound of this factor.
template <class Read>
void read_archive(const std::uint8_t* data, std::size_t size, std::size_t factor, Read read) {
  const MemoryBound bound(size, factor);
  attempt([&] { read(parse_npz(text_of(data, size), "input")); });
}

}  // namespace symport::fuzz
