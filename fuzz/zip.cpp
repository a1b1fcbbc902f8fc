// SPDX-License-Identifier: MIT
// The directory of a zip archive: entries lie inside it and do not overlap.
#include "data/zip_reader.hpp"
#include "support/bounded.hpp"
#include "support/unpack.hpp"
#include "symport/core/invalid_argument.hpp"

using namespace symport;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const fuzz::MemoryBound bound(size, fuzz::plain);
  const std::string_view archive = fuzz::text_of(data, size);
  std::size_t packed = 0;
  for (const detail::ZipEntry& entry : detail::read_zip(archive, "input")) {
    fuzz::require(entry.data.data() >= archive.data() &&
                      entry.data.data() + entry.data.size() <= archive.data() + archive.size(),
                  "an entry lies inside its archive");
    packed += entry.data.size();
  }
  fuzz::require(packed <= archive.size(), "entries do not overlap");
  return 0;
} catch (const InvalidArgument&) {
  return 0;
}
