// SPDX-License-Identifier: MIT
#include "symport/data/npy.hpp"

#include "data/input.hpp"
#include "data/npy_format.hpp"
#include "symport/data/atomic_file.hpp"

namespace symport {

Array read_npy(const std::filesystem::path& path) {
  return parse_npy(detail::read_file(path), path.string());
}

Array parse_npy(std::string_view bytes, const std::string& name) {
  detail::MemorySource source(bytes, name);
  return detail::read_npy_source(source, bytes.size(), name);
}

void write_npy(const std::filesystem::path& path, const Array& array) {
  const std::string header = detail::npy_header(array);
  AtomicFile file(path);
  file.write(header);
  file.write(detail::value_bytes(array));
  file.commit();
}

}  // namespace symport
