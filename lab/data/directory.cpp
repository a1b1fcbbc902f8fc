// SPDX-License-Identifier: MIT
#include "lab/data/directory.hpp"

#include <algorithm>
#include <cstdlib>

#include "lab/text/errors.hpp"

namespace symport::lab {

namespace fs = std::filesystem;

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : value;
}

bool is_stored(const fs::path& path, const StoredFile& file) {
  std::error_code error;
  return fs::is_regular_file(path, error) && fs::file_size(path, error) == file.bytes();
}

}  // namespace

std::size_t DataDirectory::files_present(const CatalogEntry& entry) const {
  return static_cast<std::size_t>(std::count_if(
      entry.files.begin(), entry.files.end(),
      [&](const StoredFile& file) { return is_stored(of(entry) / file.name, file); }));
}

DataDirectory data_directory(const std::optional<std::string>& given) {
  if (given) {
    if (given->empty()) throw OptionError("data-dir", "found nothing, allowed is a directory");
    return {fs::absolute(*given), "--data-dir"};
  }
  if (const std::string own = variable("SYMPORT_DATA"); !own.empty()) {
    return {fs::absolute(own), "$SYMPORT_DATA"};
  }
  // The XDG specification: a relative path there is to be ignored.
  if (const fs::path data = variable("XDG_DATA_HOME"); data.is_absolute()) {
    return {data / "symport", "$XDG_DATA_HOME"};
  }
  if (const fs::path home = variable("HOME"); home.is_absolute()) {
    return {home / ".local/share/symport", "$HOME"};
  }
  throw OptionError("data-dir", "missing, and neither SYMPORT_DATA nor HOME says where data is");
}

}  // namespace symport::lab
