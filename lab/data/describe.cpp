// SPDX-License-Identifier: MIT
#include "lab/data/describe.hpp"

#include <algorithm>

#include "lab/data/sha256.hpp"

namespace symport::lab {

namespace {

DataFile data_file(const std::filesystem::path& path, const CatalogEntry* entry) {
  DataFile file{path.string(), 0, sha256_of_file(path)};
  std::error_code error;
  if (const auto size = std::filesystem::file_size(path, error); !error) file.bytes = size;
  if (entry != nullptr) {
    file.as_known =
        std::any_of(entry->files.begin(), entry->files.end(), [&](const StoredFile& known) {
          return path.filename() == known.name && file.sha256 == known.sha256;
        });
  }
  return file;
}

}  // namespace

DataDescription describe_data(const std::string& name, const DataOptions& options,
                              const std::string& option) {
  const DataSource source = parse_data_source(name, option);
  require_label_fits(source, options);
  if (source.generated) {
    throw OptionError(option,
                      fmt::format("found '{}', which is generated from a seed; allowed is {}, "
                                  "idx:DIR, csv:FILE, FILE.npz",
                                  name, join(names_of(data_catalog()))));
  }
  DataDescription description{.name = name, .entry = source.entry, .training = {}, .files = {}};
  if (source.is_table()) {
    description.training = summarize(table_samples<double>(source, options, option));
    description.files.push_back(data_file(table_file(source, options, option), source.entry));
    return description;
  }
  const IdxFiles files = image_files(source, options, option);
  const auto add = [&](const IdxPair& pair) {
    description.files.push_back(data_file(pair.images, source.entry));
    description.files.push_back(data_file(pair.classes, source.entry));
    return summarize(read_idx_images(pair.images, pair.classes));
  };
  description.training = add(files.training);
  if (files.test) description.test = add(*files.test);
  return description;
}

}  // namespace symport::lab
