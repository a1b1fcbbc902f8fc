// SPDX-License-Identifier: MIT
#include "lab/data/data_source.hpp"

#include <algorithm>

#include "symport/data/csv.hpp"

namespace symport::lab {

namespace {

constexpr std::string_view idx_prefix = "idx:", csv_prefix = "csv:", npz_ending = ".npz";

template <class Entry>
const Entry* entry_named(const std::vector<Entry>& entries, const std::string& name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

bool names_a_file(const std::string& name) {
  std::error_code ignored;
  return name.ends_with(npz_ending) || std::filesystem::is_regular_file(name, ignored);
}

}  // namespace

const OptionTable<DataOptions>& data_options() {
  using S = DataOptions;
  static const OptionTable<S> table{
      row({"data-dir", "DIR",
           "where fetched sets are kept (default: $SYMPORT_DATA, else $XDG_DATA_HOME/symport, else "
           "~/.local/share/symport)",
           "Data", Role::execution},
          &S::data_dir, as_text())
          .unwritten(),
      row({"label", "NAME", "the column of a CSV file that holds the classes", "Data"}, &S::label,
          as_text()),
  };
  return table;
}

std::string absolute_data_name(const std::string& name) {
  const auto absolute = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  for (const std::string_view prefix : {idx_prefix, csv_prefix}) {
    if (name.starts_with(prefix)) {
      return std::string(prefix) + absolute(name.substr(prefix.size()));
    }
  }
  const bool known = entry_named(data_catalog(), name) || entry_named(generated_sets(), name);
  return !known && names_a_file(name) ? absolute(name) : name;
}

DataSource parse_data_source(const std::string& name, const std::string& option) {
  if (const auto* entry = entry_named(data_catalog(), name)) {
    return {.kind = DataSource::Kind::catalog, .entry = entry};
  }
  if (const auto* set = entry_named(generated_sets(), name)) {
    return {.kind = DataSource::Kind::generated, .generated = set};
  }
  const auto path_after = [&](std::string_view prefix, const char* what) {
    if (name.size() == prefix.size()) {
      throw OptionError(option, fmt::format("found '{}', allowed is {}{}", name, prefix, what));
    }
    return name.substr(prefix.size());
  };
  if (name.starts_with(idx_prefix)) {
    return {.kind = DataSource::Kind::idx, .path = path_after(idx_prefix, "DIR")};
  }
  if (name.starts_with(csv_prefix)) {
    return {.kind = DataSource::Kind::csv, .path = path_after(csv_prefix, "FILE")};
  }
  if (names_a_file(name)) return {.kind = DataSource::Kind::npz, .path = name};
  std::vector<std::string> names = names_of(data_catalog());
  for (const GeneratedSet& set : generated_sets()) names.push_back(set.name);
  throw OptionError(option, fmt::format("found '{}', allowed is {}, idx:DIR, csv:FILE, FILE.npz{}",
                                        name, join(names), did_you_mean(name, names)));
}

void require_label_fits(const DataSource& source, const DataOptions& options) {
  if (options.label && source.kind != DataSource::Kind::csv) {
    throw OptionError("label", "applies to csv:FILE only");
  }
}

IdxFiles image_files(const DataSource& source, const DataOptions& options,
                     const std::string& option) {
  if (source.kind == DataSource::Kind::idx) return find_idx_files(source.path);
  const CatalogEntry& entry = *source.entry;
  const DataDirectory directory = data_directory(options.data_dir);
  const std::filesystem::path folder = directory.of(entry);
  if (const std::size_t present = directory.files_present(entry); present < entry.files.size()) {
    const std::string state =
        present == 0 ? "not fetched yet"
                     : fmt::format("not complete ({} of {} files)", present, entry.files.size());
    const std::string where =
        options.data_dir ? fmt::format(" --data-dir {}", *options.data_dir) : std::string{};
    throw OptionError(option, fmt::format("{} is {} (looked in {}); fetch it with: symport data "
                                          "fetch {}{}",
                                          entry.name, state, folder.string(), entry.name, where));
  }
  const auto file = [&](std::size_t i) { return folder / entry.files.at(i).name; };
  return {{file(0), file(1)}, IdxPair{file(2), file(3)}};
}

template <Real Scalar>
SampleSet<Scalar> table_samples(const DataSource& source, const DataOptions& options) {
  if (source.kind == DataSource::Kind::npz) return read_samples<Scalar>(source.path);
  const CsvTable table = read_csv(source.path);
  const std::vector<std::string>& columns = table.columns;
  if (!options.label) {
    throw OptionError("label",
                      fmt::format("missing, allowed is the column of {} that holds the classes: {}",
                                  source.path.string(), join(columns)));
  }
  if (std::find(columns.begin(), columns.end(), *options.label) == columns.end()) {
    throw OptionError("label", fmt::format("found '{}', allowed is one of {}{}", *options.label,
                                           join(columns), did_you_mean(*options.label, columns)));
  }
  const SampleSet<> samples = samples_from_csv(table, *options.label, source.path.string());
  SampleSet<Scalar> cast{samples.X.template cast<Scalar>(), samples.classes, {}};
  if (!cast.X.allFinite()) {
    throw InvalidArgument(source.path.string(), "a number too large for float",
                          "finite numbers in the precision of the run");
  }
  return cast;
}

template SampleSet<float> table_samples(const DataSource&, const DataOptions&);
template SampleSet<double> table_samples(const DataSource&, const DataOptions&);

}  // namespace symport::lab
