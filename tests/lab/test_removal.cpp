// SPDX-License-Identifier: MIT
#include "lab/runs/removal.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/temporary_directory.hpp"

namespace symport::lab {
namespace {

namespace fs = std::filesystem;

/// All files of a run.
void put_run(const fs::path& directory) {
  for (const fs::path& name : files_of_a_run()) {
    fs::create_directories((directory / name).parent_path());
    test::put_file(directory / name, "made");
  }
}

TEST(Removal, OfARunLeavesNothingOfItAndEverythingElse) {
  const test::TemporaryDirectory root;
  put_run(root / "a/run");
  test::put_file(root / "a/run/.symport-7-0.tmp", "made");
  remove_run(root.path(), "a/run");
  EXPECT_EQ(root.entries(), 0u) << "directories that are empty go, up to the root";
  put_run(root / "a/run");
  test::put_file(root / "a/run/checkpoint/notes.txt", "mine");
  remove_run(root.path(), "a/run");
  std::size_t files = 0;
  for (const auto& item : fs::recursive_directory_iterator(root.path())) {
    files += item.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 1u);
  EXPECT_EQ(test::contents(root / "a/run/checkpoint/notes.txt"), "mine");
}

TEST(Removal, TakesRegularFilesOnly) {
  const test::TemporaryDirectory root, outside;
  test::put_file(outside / "file", "mine");
  fs::create_directories(root / "run/model.npz/deep");
  fs::create_symlink(outside / "file", root / "run/trace.csv");
  test::put_file(root / "run/config.toml", "made");
  remove_run(root.path(), "run");
  EXPECT_FALSE(fs::exists(root / "run/config.toml"));
  EXPECT_TRUE(fs::is_directory(root / "run/model.npz/deep"));
  EXPECT_TRUE(fs::is_symlink(root / "run/trace.csv"));
  EXPECT_EQ(test::contents(outside / "file"), "mine");
}

TEST(Removal, NeverLeavesItsDirectory) {
  const test::TemporaryDirectory root, outside;
  put_run(outside.path());
  put_run(root / "sibling");
  fs::create_directory(root / "inside");
  fs::create_directory_symlink(outside.path(), root / "inside/link");
  fs::create_directory_symlink(outside / "checkpoint", root / "inside/checkpoint");
  remove_run(root / "inside", "link");
  remove_checkpoints(root / "inside");
  remove_summary(root / "inside", "link");
  EXPECT_THROW(remove_run(root / "inside", "../sibling"), std::logic_error);
  EXPECT_THROW(remove_run(root / "inside", "a/../../sibling"), std::logic_error);
  EXPECT_THROW(remove_run(root / "inside", root / "sibling"), std::logic_error);
  for (const fs::path& name : files_of_a_run()) {
    EXPECT_EQ(test::contents(outside / name.string()), "made") << name;
    EXPECT_EQ(test::contents(root / "sibling" / name), "made") << name;
  }
}

TEST(Removal, OfAScratchDirectoryFollowsNoLinks) {
  const test::TemporaryDirectory root, outside;
  test::put_file(outside / "file", "mine");
  {
    const ScratchDirectory scratch(root.path(), "scratch");
    fs::create_directories(scratch.path() / "deep");
    fs::create_directory_symlink(outside.path(), scratch.path() / "deep/link");
    test::put_file(scratch.path() / "deep/file", "made");
    EXPECT_EQ(root.entries(), 1u);
  }
  EXPECT_EQ(root.entries(), 0u);
  EXPECT_EQ(test::contents(outside / "file"), "mine");
  EXPECT_THROW(ScratchDirectory(root / "none", "scratch"), fs::filesystem_error);
}

}  // namespace
}  // namespace symport::lab
