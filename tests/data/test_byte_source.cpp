// SPDX-License-Identifier: MIT
#include "data/byte_source.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/refusal.hpp"
#include "support/temporary_directory.hpp"

namespace symport::detail {
namespace {

using ::testing::HasSubstr;

// To open a pipe that nobody writes to takes for ever, and /dev/zero has no end.
TEST(FileSource, RefusesWhatIsNoRegularFileAtOnce) {
  const test::TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", directory / "link");
  for (const char* name : {"pipe", "link"}) {
    EXPECT_THAT(test::refusal([&] { FileSource source(directory / name); }),
                HasSubstr("found a pipe, device or socket, allowed is a regular file"));
  }
  EXPECT_THAT(test::refusal([&] { FileSource source(directory.path()); }),
              HasSubstr("found a directory"));
}

TEST(FileSource, FollowsALinkToAFile) {
  const test::TemporaryDirectory directory;
  test::put_file(directory / "file", "bytes");
  std::filesystem::create_symlink("file", directory / "link");
  FileSource source(directory / "link");
  EXPECT_TRUE(source.starts_with("by"));
  EXPECT_EQ(source.present(), 5u);
  EXPECT_EQ(source.read_all(), "bytes");
}

}  // namespace
}  // namespace symport::detail
