// SPDX-License-Identifier: MIT
#include "symport/data/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "data/input.hpp"
#include "data/npy_format.hpp"
#include "data/zip_reader.hpp"
#include "data/zip_writer.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

constexpr std::string_view suffix = ".npy";

void require_name(std::string_view name, const std::string& file) {
  constexpr std::size_t longest = 200;
  const auto plain = [](char c) {
    return c > ' ' && c <= '~' && c != '/' && c != '\\' && c != ':';
  };
  if (name.empty() || name.size() > longest || !std::all_of(name.begin(), name.end(), plain)) {
    throw InvalidArgument(file, "the array name " + detail::quoted(name),
                          "1 to 200 printable ASCII characters without space, slash, backslash or "
                          "colon");
  }
}

[[noreturn]] void refuse_torch_file(const std::string& file) {
  throw InvalidArgument(
      file,
      "this is a PyTorch file; export its tensors with NumPy first:\n"
      "  import numpy, torch\n"
      "  state = torch.load('model.pt')  # of two torch.nn.Linear layers, for example\n"
      "  numpy.savez('model.npz', W1=state['0.weight'], b1=state['0.bias'],\n"
      "              W2=state['2.weight'], b2=state['2.bias'])");
}

Array read_entry(const detail::ZipEntry& entry, const std::string& field) {
  std::unique_ptr<detail::ByteSource> contents;
  if (entry.deflated) {
    contents = std::make_unique<detail::InflateSource>(entry.data, detail::Compression::raw_deflate,
                                                       field);
  } else {
    contents = std::make_unique<detail::MemorySource>(entry.data, field);
  }
  detail::Crc32Source source(*contents);
  Array array = detail::read_npy_source(source, entry.size, field);
  if (source.crc() != entry.crc) {
    throw InvalidArgument(field, fmt::format("bytes with CRC {:08x}", source.crc()),
                          fmt::format("{:08x}, as the archive declares", entry.crc));
  }
  return array;
}

}  // namespace

ArrayMap read_npz(const std::filesystem::path& path) {
  return parse_npz(detail::read_file(path), path.string());
}

ArrayMap parse_npz(std::string_view bytes, const std::string& name) {
  ArrayMap arrays;
  constexpr std::string_view old_torch_file = "\x80\x02\x8a\x0a";  // pickle 2, then torch's number
  if (bytes.starts_with(old_torch_file)) refuse_torch_file(name);
  for (const detail::ZipEntry& entry : detail::read_zip(bytes, name)) {
    if (!entry.name.ends_with(suffix)) {
      if (entry.name.ends_with("/data.pkl")) refuse_torch_file(name);
      throw InvalidArgument(name, "the entry " + detail::quoted(entry.name),
                            "names that end in .npy");
    }
    const std::string_view array = entry.name.substr(0, entry.name.size() - suffix.size());
    require_name(array, name);
    arrays.emplace(array, read_entry(entry, detail::array_field(name, array)));
  }
  return arrays;
}

void write_npz(const std::filesystem::path& path, const ArrayMap& arrays,
               const NpzOptions& options) {
  AtomicFile file(path, options.existing);
  write_npz(file, arrays, options);
  file.commit();
}

void write_npz(AtomicFile& file, const ArrayMap& arrays, const NpzOptions& options) {
  for (const auto& [name, array] : arrays) require_name(name, file.target().string());
  detail::ZipWriter zip(file, file.target().string());
  for (const auto& [name, array] : arrays) {
    zip.add(name + std::string(suffix), detail::npy_header(array), detail::value_bytes(array),
            options.deflate);
  }
  zip.finish();
}

}  // namespace symport
