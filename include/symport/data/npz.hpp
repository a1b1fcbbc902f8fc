// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "symport/data/array.hpp"
#include "symport/data/atomic_file.hpp"

namespace symport {

struct NpzOptions {
  bool deflate = false;  ///< compressed, as numpy.savez_compressed
  Existing existing = Existing::replace;
};

/// Named arrays in NumPy's `.npz` format: a zip archive, stored or deflated, of `NAME.npy` entries.
///
/// Throws InvalidArgument, naming file and array, on anything that is not exactly that: damaged,
/// encrypted or ambiguous archives, wrong checksums, repeated names, entries that are not `.npy`
/// (see read_npy). Names are only compared, never used as paths, and those with `/` or `\` are
/// refused. Memory grows with the bytes that are really there: what a deflated entry may expand to
/// is bounded by its array's shape, which must agree with its declared size, and by deflate's 1032
/// to 1.
ArrayMap read_npz(const std::filesystem::path& path);
/// The same from bytes; `name` stands for them in messages.
ArrayMap parse_npz(std::string_view bytes, const std::string& name);

/// Written whole or not at all (AtomicFile), in the order of the names. The same arrays give the
/// same bytes (deflated: with the same zlib). Throws InvalidArgument on a name that `read_npz`
/// would refuse and on more than 4 GiB.
void write_npz(const std::filesystem::path& path, const ArrayMap& arrays,
               const NpzOptions& options = {});
/// The same into a file that the caller commits; `options.existing` is that file's.
void write_npz(AtomicFile& file, const ArrayMap& arrays, const NpzOptions& options = {});

}  // namespace symport
