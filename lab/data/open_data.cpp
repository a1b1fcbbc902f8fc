// SPDX-License-Identifier: MIT
#include "lab/data/open_data.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/data/sha256.hpp"
#include "lab/options/network.hpp"
#include "lab/options/registry.hpp"
#include "lab/text/errors.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/data/csv.hpp"
#include "symport/training/image_source.hpp"
#include "symport/training/sample_targets.hpp"

namespace symport::lab {

namespace {

constexpr std::string_view idx_prefix = "idx:", csv_prefix = "csv:", npz_ending = ".npz";

}  // namespace

DataOptions read_data_options(const Given& given) {
  return {.data_dir = given.text("data-dir"), .label = given.text("label")};
}

std::vector<Option> data_flags(const std::string& group) {
  return {{"data-dir", "DIR",
           "where fetched sets are kept (default: $SYMPORT_DATA, else $XDG_DATA_HOME/symport,\n"
           "else ~/.local/share/symport)",
           group},
          {"label", "NAME", "the column of a CSV file that holds the classes", group}};
}

std::string absolute_data_spec(const std::string& text) {
  const auto absolute = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  for (const std::string_view prefix : {idx_prefix, csv_prefix}) {
    if (text.starts_with(prefix)) {
      return std::string(prefix) + absolute(text.substr(prefix.size()));
    }
  }
  std::error_code error;
  const bool file = text.ends_with(npz_ending) || std::filesystem::is_regular_file(text, error);
  const auto known = names_of(data_catalog());
  return file && std::find(known.begin(), known.end(), text) == known.end() ? absolute(text) : text;
}

DataSpec parse_data_spec(const std::string& text, const DataOptions& options,
                         const std::string& origin) {
  for (const CatalogEntry& entry : data_catalog()) {
    if (entry.name == text) return {.kind = DataSpec::Kind::catalog, .entry = &entry};
  }
  const auto behind = [&](std::string_view prefix, const char* what) {
    if (text.size() == prefix.size()) {
      throw UsageError(origin, fmt::format("found '{}', allowed is {}{}", text, prefix, what));
    }
    return text.substr(prefix.size());
  };
  if (text.starts_with(idx_prefix)) {
    return {.kind = DataSpec::Kind::idx, .path = behind(idx_prefix, "DIR")};
  }
  if (text.starts_with(csv_prefix)) {
    return {.kind = DataSpec::Kind::csv, .path = behind(csv_prefix, "FILE")};
  }
  std::error_code error;
  if (text.ends_with(npz_ending) || std::filesystem::is_regular_file(text, error)) {
    return {.kind = DataSpec::Kind::npz, .path = text};
  }
  std::vector<std::string> names = names_of(data_catalog());
  names.insert(names.end(), options.more_names.begin(), options.more_names.end());
  throw UsageError(origin, fmt::format("found '{}', allowed is {}, idx:DIR, csv:FILE, FILE.npz{}",
                                       text, join(names), did_you_mean(text, names)));
}

IdxFiles image_files(const DataSpec& spec, const DataOptions& options, const std::string& origin) {
  if (spec.kind == DataSpec::Kind::idx) return find_idx_files(spec.path);
  const CatalogEntry& entry = *spec.entry;
  const DataDirectory directory = data_directory(options.data_dir);
  const std::filesystem::path folder = directory.of(entry);
  if (const std::size_t present = directory.files_present(entry); present < entry.files.size()) {
    const std::string state =
        present == 0 ? "not fetched yet"
                     : fmt::format("not complete ({} of {} files)", present, entry.files.size());
    const std::string where =
        options.data_dir ? fmt::format(" --data-dir {}", *options.data_dir) : std::string{};
    throw UsageError(origin, fmt::format("{} is {} (looked in {}); fetch it with: symport data "
                                         "fetch {}{}",
                                         entry.name, state, folder.string(), entry.name, where));
  }
  const auto file = [&](std::size_t i) { return folder / entry.files.at(i).name; };
  return {{file(0), file(1)}, IdxPair{file(2), file(3)}};
}

template <Real Scalar>
SampleSet<Scalar> table_samples(const DataSpec& spec, const DataOptions& options,
                                const Given& given) {
  if (spec.kind == DataSpec::Kind::npz) return read_samples<Scalar>(spec.path);
  const CsvTable table = read_csv(spec.path);
  if (!options.label) {
    throw UsageError("--label",
                     fmt::format("missing, allowed is the column of {} that holds the classes: {}",
                                 spec.path.string(), join(table.columns)));
  }
  const std::vector<std::string>& columns = table.columns;
  if (std::find(columns.begin(), columns.end(), *options.label) == columns.end()) {
    throw UsageError(given.origin("label"),
                     fmt::format("found '{}', allowed is one of {}{}", *options.label,
                                 join(columns), did_you_mean(*options.label, columns)));
  }
  const SampleSet<> samples = samples_from_csv(table, *options.label, spec.path.string());
  return {samples.X.template cast<Scalar>(), samples.classes, {}};
}

template <Real Scalar>
DataSet<Scalar> open_data(const std::string& text, const DataOptions& options, const Given& given,
                          const std::string& option) {
  const DataSpec spec = parse_data_spec(text, options, given.origin(option));
  if (options.label && spec.kind != DataSpec::Kind::csv) {
    throw UsageError(given.origin("label"), "goes with csv:FILE only");
  }
  DataSet<Scalar> set;
  if (spec.kind == DataSpec::Kind::csv || spec.kind == DataSpec::Kind::npz) {
    SampleSet<Scalar> samples = table_samples<Scalar>(spec, options, given);
    Targets<Scalar> targets = targets_of(samples);
    set.training = std::make_unique<DenseSource<Scalar>>(std::move(samples.X), std::move(targets));
    return set;
  }
  const IdxFiles files = image_files(spec, options, given.origin(option));
  const auto open = [](const IdxPair& pair) {
    return std::make_unique<ImageSource<Scalar>>(read_idx_images(pair.images, pair.classes));
  };
  set.training = open(files.training);
  if (files.test) {
    set.test = open(*files.test);
    if (set.test->features() != set.training->features()) {
      throw InvalidArgument(files.test->images.string(),
                            fmt::format("images of {} values", set.test->features()),
                            fmt::format("{}, as in the training set", set.training->features()));
    }
  }
  return set;
}

template <Real Scalar>
std::string fingerprint(const BatchSource<Scalar>& source) {
  constexpr Index looked_at = 1000;
  std::vector<Index> some;
  for (Index i = 0; i < source.samples(); i += std::max<Index>(1, source.samples() / looked_at)) {
    some.push_back(i);
  }
  MatrixOf<Scalar> X;
  Targets<Scalar> targets;
  source.load(some, X, targets);
  Sha256 sum;
  const auto add = [&](const auto* values, std::size_t count) {
    sum.update({reinterpret_cast<const char*>(values), count * sizeof(*values)});
  };
  add(X.data(), static_cast<std::size_t>(X.size()));
  add(targets.values.data(), static_cast<std::size_t>(targets.values.size()));
  add(targets.classes.data(), targets.classes.size());
  return fmt::format("{} samples, {} features, {}", source.samples(), source.features(), sum.hex());
}

template std::string fingerprint(const BatchSource<float>&);
template std::string fingerprint(const BatchSource<double>&);
template SampleSet<float> table_samples(const DataSpec&, const DataOptions&, const Given&);
template SampleSet<double> table_samples(const DataSpec&, const DataOptions&, const Given&);
template DataSet<float> open_data(const std::string&, const DataOptions&, const Given&,
                                  const std::string&);
template DataSet<double> open_data(const std::string&, const DataOptions&, const Given&,
                                   const std::string&);

}  // namespace symport::lab
