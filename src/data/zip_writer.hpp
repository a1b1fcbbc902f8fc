// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "symport/data/atomic_file.hpp"

namespace symport::detail {

/// Writes a zip archive without zip64: at most 65,535 entries and 4 GiB, else InvalidArgument.
///
/// The same entries give the same bytes: every timestamp is the format's first, 1980-01-01 00:00,
/// which is also what NumPy writes.
class ZipWriter {
 public:
  /// `out` must outlive the writer; `file` names it in messages.
  ZipWriter(AtomicFile& out, std::string file) : out_(out), file_(std::move(file)) {}

  /// One entry whose contents are `head` followed by `body`.
  void add(const std::string& name, std::string_view head, std::string_view body, bool deflate);
  /// The directory. The last call.
  void finish();

 private:
  void require_room(std::uint64_t more) const;

  AtomicFile& out_;
  std::string file_;
  std::string directory_;
  std::uint16_t entries_ = 0;
};

}  // namespace symport::detail
