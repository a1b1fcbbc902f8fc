// SPDX-License-Identifier: MIT
#include "symport/data/atomic_file.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/refusal.hpp"
#include "support/temporary_directory.hpp"

namespace symport {
namespace {

namespace fs = std::filesystem;
using test::contents;
using test::refusal;
using ::testing::HasSubstr;

TEST(AtomicFile, ShowsTheFileOnlyAfterCommit) {
  const test::TemporaryDirectory directory;
  const fs::path target = directory / "model.npz";
  AtomicFile file(target);
  file.write("first ");
  file.write("second");
  EXPECT_FALSE(fs::exists(target));
  file.commit();
  EXPECT_EQ(contents(target), "first second");
  EXPECT_EQ(file.bytes_written(), 12u);
  EXPECT_EQ(directory.entries(), 1u);
  EXPECT_THROW(file.write("third"), std::logic_error);
  EXPECT_THROW(file.commit(), std::logic_error);
}

TEST(AtomicFile, LeavesTheOldFileWhenNotCommitted) {
  const test::TemporaryDirectory directory;
  const fs::path target = directory / "model.npz";
  write_file(target, "old");
  { AtomicFile(target).write("new"); }
  EXPECT_EQ(contents(target), "old");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(AtomicFile, ReplacesAFileAndKeepsItsPermissions) {
  const test::TemporaryDirectory directory;
  const fs::path target = directory / "model.npz";
  write_file(target, "a longer old text");
  fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
  write_file(target, "new");
  EXPECT_EQ(contents(target), "new");
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(AtomicFile, KeepsAFileThatWasPutThereInTheMeantime) {
  const test::TemporaryDirectory directory;
  const fs::path target = directory / "model.npz";
  {
    AtomicFile file(target, Existing::keep);
    file.write("mine");
    file.flush();
    EXPECT_THROW(file.write("more"), std::logic_error);
    test::put_file(target, "somebody else's");
    EXPECT_THAT(refusal([&] { file.commit(); }), HasSubstr("in the meantime"));
  }
  EXPECT_EQ(contents(target), "somebody else's");
  EXPECT_EQ(directory.entries(), 1u);
  fs::remove(target);
  write_file(target, "mine", Existing::keep);
  EXPECT_EQ(contents(target), "mine");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(AtomicFile, FollowsASymbolicLink) {
  const test::TemporaryDirectory directory;
  fs::create_directory(directory / "real");
  write_file(directory / "real/model.npz", "old");
  fs::create_symlink("real/model.npz", directory / "link.npz");
  write_file(directory / "link.npz", "new");
  EXPECT_TRUE(fs::is_symlink(directory / "link.npz"));
  EXPECT_EQ(contents(directory / "real/model.npz"), "new");
}

TEST(AtomicFile, WritesANameOfTheGreatestLength) {
  const test::TemporaryDirectory directory;
  const std::string longest(255, 'a');
  write_file(directory / longest, "text");
  EXPECT_EQ(contents(directory / longest), "text");
}

TEST(AtomicFile, TwoWritersOfOneTargetDoNotMix) {
  const test::TemporaryDirectory directory;
  AtomicFile first(directory / "f");
  AtomicFile second(directory / "f");
  first.write("aaaa");
  second.write("bb");
  first.commit();
  second.commit();
  EXPECT_EQ(contents(directory / "f"), "bb");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(AtomicFile, NamesPathAndReasonWhenItCannotBeCreated) {
  const test::TemporaryDirectory directory;
  write_file(directory / "plain", "x");
  fs::create_directory(directory / "folder");
  const struct {
    fs::path target;
    const char* reason;
  } cases[] = {
      {directory / "missing/model.npz", "No such file or directory"},
      {directory / "plain/model.npz", "Not a directory"},
      {directory / "folder", "found a directory"},
      {"/dev/null", "found a device"},
      {directory / std::string(256, 'a'), "File name too long"},
  };
  for (const auto& [target, reason] : cases) {
    const std::string message = refusal([&] { write_file(target, "text"); });
    EXPECT_THAT(message, HasSubstr(target.string()));
    EXPECT_THAT(message, HasSubstr(reason));
  }
  EXPECT_EQ(directory.entries(), 2u);
}

TEST(AtomicFile, NamesPathAndReasonWhenTheDirectoryIsReadOnly) {
  const test::TemporaryDirectory directory;
  fs::permissions(directory.path(), fs::perms::owner_read | fs::perms::owner_exec |
                                        fs::perms::others_read | fs::perms::others_exec);
  // Root may write anywhere, so the attempt is made as nobody.
  const bool root = ::geteuid() == 0;
  constexpr uid_t nobody = 65534;
  ASSERT_TRUE(!root || ::seteuid(nobody) == 0);
  const fs::path target = directory / "model.npz";
  const std::string message = refusal([&] { write_file(target, "text"); });
  ASSERT_TRUE(!root || ::seteuid(0) == 0);
  EXPECT_THAT(message, HasSubstr(target.string()));
  EXPECT_THAT(message, HasSubstr("Permission denied"));
  fs::permissions(directory.path(), fs::perms::owner_all);
  EXPECT_EQ(directory.entries(), 0u);
}

/// Files may not grow beyond a size while this object lives: what a full disk does to a writer.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  sighandler_t handler_;
  rlimit before_{};
};

TEST(AtomicFile, KeepsTheOldFileWhenThereIsNoRoomForTheNew) {
  const test::TemporaryDirectory directory;
  const fs::path target = directory / "model.npz";
  write_file(target, "old");
  const std::string bytes(100'000, 'x');
  std::string message;
  {
    const FileSizeLimit limit(4096);
    message = refusal([&] { write_file(target, bytes); });
  }
  EXPECT_THAT(message, HasSubstr(target.string()));
  EXPECT_THAT(message, HasSubstr("File too large"));
  EXPECT_EQ(contents(target), "old");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(AtomicFile, KnowsTheNamesOfItsTemporaries) {
  const test::TemporaryDirectory directory;
  {
    AtomicFile file(directory / "model.npz");
    const fs::directory_iterator made(directory.path());
    EXPECT_TRUE(is_temporary_file(made->path())) << made->path();
  }
  for (const char* other : {".symport-.tmp", ".symport-7.tmp", ".symport-7-.tmp", ".symport--7.tmp",
                            ".symport-notes.tmp", ".symport-7-0.tmp.bak", ".symport-7-0-1.tmp",
                            "symport-7-0.tmp", ".symport-tmp"}) {
    EXPECT_FALSE(is_temporary_file(other)) << other;
  }
}

}  // namespace
}  // namespace symport
