// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symport/data/array.hpp"
#include "symport/data/image_set.hpp"

namespace symport {

/// An array of unsigned bytes in the IDX format (LeCun's, used by MNIST), plain or gzipped,
/// whatever the file's name: two zero bytes, type 0x08, number of dimensions (1 to 4), each extent
/// as 32 bits big-endian, then exactly as many bytes as these require.
///
/// Throws InvalidArgument, naming the file, on anything else. Memory grows with the bytes that are
/// really there; a plain file is read straight into the array.
Array read_idx(const std::filesystem::path& path);
/// The same from bytes; `name` stands for them in messages.
Array parse_idx(std::string_view bytes, const std::string& name);

/// The header that precedes the bytes of an array of this shape. Throws InvalidArgument unless it
/// has 1 to 4 dimensions of 0 to 2^32 - 1.
std::string idx_header(const std::vector<Index>& shape);

/// Images (three dimensions: images x rows x columns, or four: ... x channels) with classes (one
/// dimension, one per image).
ImageSet read_idx_images(const std::filesystem::path& images, const std::filesystem::path& classes);

/// Images and their classes, as two IDX files.
struct IdxPair {
  std::filesystem::path images;
  std::filesystem::path classes;
};

/// The files of a directory that is laid out like MNIST's.
struct IdxFiles {
  IdxPair training;
  std::optional<IdxPair> test;
};

/// Finds `train-images-idx3-ubyte` and `train-labels-idx1-ubyte`, and `t10k-...` if there are any;
/// `.idx3` for `-idx3`, idx4 for colour images, and `.gz` at the end are understood, a plain file
/// being preferred to a gzipped one. Throws InvalidArgument, naming directory and file, when one of
/// a pair is missing.
IdxFiles find_idx_files(const std::filesystem::path& directory);

}  // namespace symport
