// SPDX-License-Identifier: MIT
#include "lab/data/data_source.hpp"

#include <algorithm>

#include "symport/data/csv.hpp"

namespace symport::lab {

namespace {

constexpr std::string_view idx_prefix = "idx:", csv_prefix = "csv:", npz_ending = ".npz";

bool names_a_file(const std::string& name) {
  std::error_code ignored;
  return name.ends_with(npz_ending) || std::filesystem::is_regular_file(name, ignored);
}

}  // namespace

const OptionTable<DataOptions>& data_options() {
  using S = DataOptions;
  static const OptionTable<S> table(
      "Data", {row({"data-dir", "DIR",
                    "where fetched sets are kept (default: $SYMPORT_DATA, else "
                    "$XDG_DATA_HOME/symport, else "
                    "~/.local/share/symport)"},
                   &S::data_dir, as_text())
                   .in_role(Role::execution)
                   .unwritten(),
               row({"label", "COLUMN",
                    "the column of a CSV file that holds the classes: whole numbers or words"},
                   &S::label, as_text()),
               row({"target", "COLUMN",
                    "the column of a CSV file that holds the numbers to predict (regression)"},
                   &S::target, as_text()),
               row({.name = "ignore",
                    .value = "COLUMN",
                    .help = "a column of a CSV file to leave out, such as a name; may be repeated",
                    .many = true},
                   &S::ignore, as_text())});
  return table;
}

std::string known_data_name(const std::string& name) {
  if (const auto* entry = entry_named(data_catalog(), name)) return entry->name;
  if (const auto* set = entry_named(generated_sets(), name)) return set->name;
  return name;
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
  const std::string known = known_data_name(name);
  const bool has_name = entry_named(data_catalog(), known) || entry_named(generated_sets(), known);
  return !has_name && names_a_file(name) ? absolute(name) : known;
}

UsualNetworkRun DataSource::usual_run() const {
  if (generated) return generated->usual;
  UsualNetworkRun usual;
  if (entry) usual.layers = {entry->features(), 128, 128, entry->outputs()};
  if (entry && entry->is_table()) usual.scaling = Scaling::standard;
  return usual;
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
  if (name.ends_with(".csv") && names_a_file(name)) {
    return {.kind = DataSource::Kind::csv, .path = name};
  }
  if (names_a_file(name)) return {.kind = DataSource::Kind::npz, .path = name};
  std::vector<std::string> names = names_of(data_catalog());
  for (const GeneratedSet& set : generated_sets()) names.push_back(set.name);
  if (name.ends_with(".csv")) {
    throw OptionError(option, fmt::format("{}: no such file; a CSV file is named csv:FILE", name));
  }
  throw OptionError(option, fmt::format("found '{}', allowed is {}, idx:DIR, csv:FILE, FILE.npz{}",
                                        name, join(names), did_you_mean(name, names)));
}

void require_label_fits(const DataSource& source, const DataOptions& options) {
  const bool csv = source.kind == DataSource::Kind::csv;
  if (options.label && !csv) throw OptionError("label", "applies to csv:FILE only");
  if (options.target && !csv) throw OptionError("target", "applies to csv:FILE only");
  if (!options.ignore.empty() && !csv) throw OptionError("ignore", "applies to csv:FILE only");
  if (options.label && options.target) {
    throw OptionError("target",
                      "cannot be combined with --label: a column holds either classes "
                      "or numbers to predict");
  }
}

namespace {

/// Where a set of the catalogue is, if it is complete.
std::filesystem::path fetched(const CatalogEntry& entry, const DataOptions& options,
                              const std::string& option) {
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
  return folder;
}

}  // namespace

IdxFiles image_files(const DataSource& source, const DataOptions& options,
                     const std::string& option) {
  if (source.kind == DataSource::Kind::idx) return find_idx_files(source.path);
  const CatalogEntry& entry = *source.entry;
  const std::filesystem::path folder = fetched(entry, options, option);
  const auto file = [&](std::size_t i) { return folder / entry.files.at(i).name; };
  return {{file(0), file(1)}, IdxPair{file(2), file(3)}};
}

std::filesystem::path table_file(const DataSource& source, const DataOptions& options,
                                 const std::string& option) {
  if (!source.entry) return source.path;
  return fetched(*source.entry, options, option) / source.entry->files.at(0).name;
}

template <Real Scalar>
SampleSet<Scalar> table_samples(const DataSource& source, const DataOptions& given,
                                const std::string& name_option) {
  if (source.kind == DataSource::Kind::npz) return read_samples<Scalar>(source.path);
  const std::filesystem::path path = table_file(source, given, name_option);
  const std::string file = path.string();
  DataOptions options = given;
  if (source.entry)
    (source.entry->classes > 0 ? options.label = "class" : options.target = "target");
  const std::vector<std::string> columns = csv_columns(path);
  if (!options.label && !options.target) {
    throw OptionError("label", fmt::format("missing; name the column of {} that holds the classes, "
                                           "or with --target the one that holds the numbers to "
                                           "predict; there are {}",
                                           file, join(columns)));
  }
  const std::string option = options.label ? "label" : "target";
  const std::string& column = options.label ? *options.label : *options.target;
  const auto require = [&](const std::string& name, const std::string& of_option) {
    if (std::find(columns.begin(), columns.end(), name) != columns.end()) return;
    throw OptionError(of_option, fmt::format("found '{}', allowed is one of {}{}", name,
                                             join(columns), did_you_mean(name, columns)));
  };
  require(column, option);
  for (const std::string& ignored : options.ignore) {
    require(ignored, "ignore");
    if (ignored == column) {
      throw OptionError("ignore", fmt::format("found '{}', which is the --{}", ignored, option));
    }
  }
  const CsvTable table = read_csv(path, options.label.value_or(""), options.ignore);
  const SampleSet<> samples =
      options.label
          ? samples_from_csv(table, column, file, {.count = options.classes}, options.class_names)
          : regression_from_csv(table, column, file);
  SampleSet<Scalar> cast{samples.X.template cast<Scalar>(), samples.classes,
                         samples.Y.template cast<Scalar>(), samples.class_names};
  if (!cast.X.allFinite() || !cast.Y.allFinite()) {
    throw InvalidArgument(file, "a number too large for float",
                          "finite numbers in the precision of the run");
  }
  return cast;
}

template SampleSet<float> table_samples(const DataSource&, const DataOptions&, const std::string&);
template SampleSet<double> table_samples(const DataSource&, const DataOptions&, const std::string&);

}  // namespace symport::lab
