// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/data/directory.hpp"
#include "lab/options/given.hpp"
#include "lab/options/option.hpp"
#include "symport/data/idx.hpp"
#include "symport/data/sample_set.hpp"
#include "symport/training/batch_source.hpp"

/// Data by the name that a user types:
///   mnist | fashion-mnist | cifar10 | idx:DIR | csv:FILE | FILE.npz
namespace symport::lab {

struct DataOptions {
  std::optional<std::string> data_dir = std::nullopt;  ///< see data_directory
  std::optional<std::string> label = std::nullopt;     ///< the column of a CSV file with classes
  /// Names that the caller knows himself; only for messages.
  std::vector<std::string> more_names = {};
};
DataOptions read_data_options(const Given& given);

/// The flags of these options, for a command's help.
std::vector<Option> data_flags(const std::string& group);

/// A name, taken apart. Nothing has been read yet.
struct DataSpec {
  enum class Kind { catalog, idx, csv, npz };
  Kind kind = Kind::npz;
  const CatalogEntry* entry = nullptr;  ///< of the catalogue
  std::filesystem::path path = {};      ///< file or directory; empty for the catalogue
};

/// Throws UsageError, blaming `origin`, on a name that means nothing, with the nearest that does.
DataSpec parse_data_spec(const std::string& text, const DataOptions& options,
                         const std::string& origin);

/// The same data by a name that means it from any directory: paths become absolute.
std::string absolute_data_spec(const std::string& text);

/// The files of a set of images. Throws UsageError, blaming `origin`, when a set of the catalogue
/// has not been fetched, with the command that does.
IdxFiles image_files(const DataSpec& spec, const DataOptions& options, const std::string& origin);
/// The samples of a CSV or NumPy file.
template <Real Scalar>
SampleSet<Scalar> table_samples(const DataSpec& spec, const DataOptions& options,
                                const Given& given);

template <Real Scalar>
struct DataSet {
  std::unique_ptr<BatchSource<Scalar>> training;
  std::unique_ptr<BatchSource<Scalar>> test;  ///< null when there is none
};

/// Opens the data that `spec` names. Complaints about the name blame the option of `given` that it
/// comes from, those about a file name it.
template <Real Scalar>
DataSet<Scalar> open_data(const std::string& spec, const DataOptions& options, const Given& given,
                          const std::string& option = "data");

/// Tells data apart: how many samples and features, and the SHA-256 of a thousand or so of them.
template <Real Scalar>
std::string fingerprint(const BatchSource<Scalar>& source);

}  // namespace symport::lab
