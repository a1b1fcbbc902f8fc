// SPDX-License-Identifier: MIT
#include "support/unpack.hpp"

#include "data/zip_reader.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::fuzz {

std::string inflated(std::string_view bytes, detail::Compression format) {
  detail::InflateSource source(bytes, format, "input");
  std::string text(std::size_t{1} << 16, '\0');
  text.resize(source.read(text));
  return text;
}

std::string mutate_npz(std::string_view archive, std::size_t largest, unsigned int seed) try {
  std::vector<test::ForgedEntry> entries;
  for (const detail::ZipEntry& entry : detail::read_zip(archive, "input")) {
    entries.push_back({.name = std::string(entry.name),
                       .contents = entry.deflated
                                       ? inflated(entry.data, detail::Compression::raw_deflate)
                                       : std::string(entry.data),
                       .deflated = entry.deflated});
  }
  if (entries.empty()) return {};
  test::ForgedEntry& chosen = entries[seed % entries.size()];
  const std::size_t room = largest > archive.size() ? largest - archive.size() : 0;
  if (seed / entries.size() % 8 == 0) {
    mutate(chosen.name, 32);
  } else {
    mutate(chosen.contents, chosen.contents.size() + room);
  }
  return test::forged_npz(entries);
} catch (const InvalidArgument&) {
  return {};
}

}  // namespace symport::fuzz
