// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace symport::detail {

/// All bytes of a regular file, see FileSource.
std::string read_file(const std::filesystem::path& path);

/// Throws the InvalidArgument that says so. `error` is an errno.
[[noreturn]] void fail_reading(const std::filesystem::path& path, int error);

/// Outside text made safe for a message: quoted, cut to a readable length, everything but printable
/// ASCII as \xNN.
std::string quoted(std::string_view text);

/// How messages name an array in a file: "weights.npz, array W1".
std::string array_field(const std::string& file, std::string_view array);

}  // namespace symport::detail
