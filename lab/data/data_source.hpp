// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/data/directory.hpp"
#include "lab/options/option_table.hpp"
#include "symport/data/idx.hpp"
#include "symport/data/sample_set.hpp"

namespace symport::lab {

/// Where data is, and how to read it.
struct DataOptions {
  std::optional<std::string> data_dir = std::nullopt;  ///< see `data_directory`
  std::optional<std::string> label = std::nullopt;     ///< the column of a CSV file with classes
  std::optional<std::string> target = std::nullopt;    ///< the column with numbers to predict
  std::vector<std::string> ignore{};                   ///< columns of a CSV file that are left out
  std::vector<std::string>
      class_names{};  ///< of another set, which the label's words are; no option
  /// How many classes there are: those of a network that is given. Numbers are then classes as they
  /// are. 0: as the file says. No option.
  Index classes = 0;
};
const OptionTable<DataOptions>& data_options();

/// Data by the name that a user types, taken apart; nothing has been read yet:
///   mnist | iris | ... (symport data list) | regression | idx:DIR | csv:FILE | FILE.npz
struct DataSource {
  enum class Kind { catalog, generated, idx, csv, npz };
  Kind kind = Kind::npz;
  const CatalogEntry* entry = nullptr;      ///< of a set of the catalogue
  const GeneratedSet* generated = nullptr;  ///< of one that is made
  std::filesystem::path path = {};          ///< file or directory of all others

  bool is_table() const {
    return kind == Kind::csv || kind == Kind::npz || (entry && entry->is_table());
  }
  UsualNetworkRun usual_run() const;
};

/// Throws OptionError about `option` for a name that means nothing, with the nearest that does.
DataSource parse_data_source(const std::string& name, const std::string& option = "data");

/// A set of the catalogue, or one that is generated, as it is spelt there; other names as they are.
std::string known_data_name(const std::string& name);
/// The same data by a name that means it from any directory: paths become absolute.
std::string absolute_data_name(const std::string& name);

/// The files of a set of images. Throws OptionError about `option` where a set of the catalogue has
/// not been fetched, with the command that does.
IdxFiles image_files(const DataSource& source, const DataOptions& options,
                     const std::string& option = "data");

/// The file of a table: that of the user, or the stored one of the catalogue. Throws OptionError
/// about `option` as `image_files` does.
std::filesystem::path table_file(const DataSource& source, const DataOptions& options,
                                 const std::string& option = "data");
/// The samples of a table. Throws OptionError about a label that is missing or wrong, and as
/// `table_file` does.
template <Real Scalar>
SampleSet<Scalar> table_samples(const DataSource& source, const DataOptions& options,
                                const std::string& option = "data");

/// Throws OptionError for a label or target of anything but a CSV file, and for both.
void require_label_fits(const DataSource& source, const DataOptions& options);

}  // namespace symport::lab
