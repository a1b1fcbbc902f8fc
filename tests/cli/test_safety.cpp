// SPDX-License-Identifier: MIT
// Names from outside are names: no shell reads them, and none leads out of a directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/process.hpp"
#include "support/forged_npz.hpp"

namespace symport::cli::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// What a shell would obey: each would leave a file behind.
const std::vector<std::string> commands = {
    "; touch evil #", "$(touch evil)",    "`touch evil`",       "| touch evil", "&& touch evil",
    "\ntouch evil\n", "' ; touch evil '", "\" ; touch evil \"", "> evil"};

/// Everything below a directory that has this name.
std::size_t count_named(const fs::path& directory, const std::string& name) {
  std::size_t count = 0;
  for (const auto& item : fs::recursive_directory_iterator(directory)) {
    if (item.path().filename() == name) ++count;
  }
  return count;
}

TEST(Safety, NamesAreNeverReadByAShell) {
  for (const std::string& name : commands) {
    const TemporaryDirectory directory;
    const Surroundings here{.directory = directory.path()};
    const std::string out = "run " + name;
    ASSERT_EQ(symport({"optimize", "booth", "--steps", "2", "--out", out}, here).exit_code, 0)
        << name;
    EXPECT_TRUE(fs::exists(directory.path() / out / "summary.json")) << name;
    write_file(directory.path() / ("data " + name), "x,y\n1,0\n2,1\n");
    EXPECT_EQ(symport({"data", "describe", "csv:data " + name, "--label", "y"}, here).exit_code, 0)
        << name;
    EXPECT_EQ(symport({"report", out, "--out", "page " + name}, here).exit_code, 0) << name;
    fs::copy(directory.path() / out / "config.toml", directory.path() / ("config " + name));
    EXPECT_EQ(symport({"optimize", "--config", "config " + name}, here).exit_code, 0) << name;
    for (const char* flag : {"--weights", "--batch", "--out"}) {
      EXPECT_EQ(symport({"teleport", flag, name}, here).exit_code, 2) << flag << name;
    }
    // A set of that name is unknown, and a directory of that name is one like any other.
    EXPECT_EQ(symport({"data", "fetch", name}, here).exit_code, 2) << name;
    EXPECT_EQ(symport({"data", "list", "--data-dir", name}, here).exit_code, 0) << name;
    EXPECT_EQ(count_named(directory.path(), "evil"), 0u) << name;
  }
}

TEST(Safety, TheProgramCallsNothingThatStartsAShell) {
  const std::string program = read_file(SYMPORT_PROGRAM);
  const auto imports = [&](const std::string& function) {
    return program.find('\0' + function + '\0') != std::string::npos;
  };
  for (const char* function : {"system", "popen", "wordexp", "execl", "execlp", "execvp"}) {
    EXPECT_FALSE(imports(function)) << function;
  }
  EXPECT_TRUE(imports("posix_spawnp"));  // how names of functions are found here
}

TEST(Safety, NamesInsideArchivesLeadNowhere) {
  const TemporaryDirectory directory;
  const fs::path inside = directory.path() / "a" / "b";
  fs::create_directories(inside);
  for (const std::string& name :
       {std::string("../../evil.npy"), (directory.path() / "evil.npy").string(),
        std::string("..\\..\\evil.npy"), std::string("W1/../../../evil.npy")}) {
    write_file(inside / "W.npz", test::forged_npz({{}, {.name = name}}));
    write_file(inside / "B.npz", test::forged_npz({{.name = "X.npy"}, {.name = name}}));
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"teleport", "--weights", "W.npz", "--batch", "B.npz", "--out", "V.npz"},
             {"train", "--data", "B.npz", "--layers", "3,2", "--out", "run"},
             {"data", "describe", "B.npz"}}) {
      const Finished run = symport(words, {.directory = inside});
      EXPECT_EQ(run.exit_code, 2) << words[0] << run.err;
      EXPECT_THAT(run.err, HasSubstr("evil")) << words[0];
    }
    EXPECT_EQ(count_named(directory.path(), "evil.npy"), 0u) << name;
    EXPECT_EQ(count_named(directory.path(), "evil"), 0u) << name;
  }
}

}  // namespace
}  // namespace symport::cli::testing
