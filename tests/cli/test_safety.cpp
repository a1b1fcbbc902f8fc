// SPDX-License-Identifier: MIT
// Names from outside are names: no shell reads them, and none leads out of a directory. No file
// says where another one is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "cli/process.hpp"
#include "commands/all.hpp"
#include "lab/runs/run_directory.hpp"
#include "support/forged_npz.hpp"

namespace symport::cli::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

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
             {"teleport", "--weights", "W.npz", "--batch", "B.npz", "--out", "V.npz",
              "--activation", "relu", "--loss", "cross_entropy", "--lr", "1"},
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

/// Every file and link below a directory with what is in it.
std::map<std::string, std::string> contents_of(const fs::path& directory) {
  std::map<std::string, std::string> contents;
  for (const auto& item : fs::recursive_directory_iterator(directory)) {
    const std::string name = item.path().lexically_relative(directory).string();
    if (item.is_symlink()) {
      contents[name] = "link to " + fs::read_symlink(item.path()).string();
    } else if (item.is_regular_file()) {
      contents[name] = read_file(item.path());
    } else {
      contents[name] = "directory";
    }
  }
  return contents;
}

/// Keys that say where results go or what they replace, each as a line of a file.
std::vector<std::pair<std::string, std::string>> output_lines(const std::string& victim) {
  return {{"out", "out = \"" + victim + "\"\n"},
          {"report", "report = \"" + victim + "\"\n"},
          {"force", "force = true\n"}};
}

TEST(Safety, AConfigurationDoesNotSayWhereResultsGo) {
  const std::pair<std::string, std::string> commands_and_configs[] = {
      {"optimize", "function = \"booth\"\nsteps = 3\n"},
      {"train", "data = \"regression\"\nsteps = 3\n"},
      {"compare", "problem = [\"booth\"]\nmethod = [\"gd\"]\nbudget = \"20evals\"\nlr = 0.01\n"}};
  for (const auto& [command, config] : commands_and_configs) {
    const TemporaryDirectory directory;
    const std::string victim = directory / "victim.txt", file = directory / "run.toml";
    write_file(victim, "precious");
    auto lines = output_lines(victim);
    if (command == "train") lines.push_back({"resume", "resume = \"" + victim + "\"\n"});
    lines.push_back({"report", "report = \"" + victim + "\"\nforce = true\n"});
    for (const auto& [key, line] : lines) {
      write_file(file, config + line);
      const auto before = contents_of(directory.path());
      const Finished run = symport({command, "--config", file}, {.directory = directory.path()});
      EXPECT_EQ(run.exit_code, 2) << command << " " << key;
      EXPECT_EQ(run.out, "") << command << " " << key;
      EXPECT_THAT(run.err, HasSubstr("run.toml:")) << command << " " << key;
      EXPECT_THAT(run.err, HasSubstr("only the command line can")) << command << " " << key;
      EXPECT_THAT(run.err, HasSubstr("; remove this line")) << command << " " << key;
      EXPECT_EQ(contents_of(directory.path()), before) << command << " " << key;
    }
    // What is typed counts, whatever else the file says.
    write_file(file, config);
    const Finished typed =
        symport({command, "--config", file, "--report", victim, "--force", "--quiet"});
    EXPECT_EQ(typed.exit_code, 0) << command << typed.err;
    EXPECT_NE(read_file(victim), "precious") << command;
  }
}

TEST(Safety, ARunDirectoryDoesNotSayWhereResultsGo) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run", victim = directory / "victim.txt";
  const Words train{"train", "--data", "regression", "--steps", "3", "--quiet"};
  Words first = train;
  first.insert(first.end(), {"--out", run, "--report", directory / "page.html", "--force"});
  ASSERT_EQ(symport(first).exit_code, 0);
  const std::string config = read_file(run + "/config.toml");
  EXPECT_FALSE(std::regex_search(config, std::regex("(^|\n)(out|report|force|resume) =")))
      << config;
  write_file(victim, "precious");
  for (const auto& [key, line] : output_lines(victim)) {
    write_file(run + "/config.toml", config + line);
    const auto before = contents_of(directory.path());
    const Finished resumed = symport({"train", "--resume", run, "--steps", "5"});
    EXPECT_EQ(resumed.exit_code, 2) << key;
    EXPECT_THAT(resumed.err, HasSubstr(run + "/config.toml:")) << key;
    EXPECT_THAT(resumed.err, HasSubstr(": " + key + ": only the command line can"));
    EXPECT_EQ(contents_of(directory.path()), before) << key;
  }
  write_file(run + "/config.toml", config);
  EXPECT_EQ(symport({"train", "--resume", run, "--steps", "5", "--quiet"}).exit_code, 0);
}

TEST(Safety, AnExperimentDoesNotSayWhereResultsGo) {
  const std::string head = "title = \"a\"\nsee = \"b\"\ncommand = \"train\"\nseeds = [1]\n";
  const std::string data = "data = \"regression\"\nsteps = 3\n";
  const std::string run = "[[run]]\nname = \"plain\"\nover = \"x\"\n";
  const std::string axis = "[axis.x]\nlabel = \"x\"\nvalues = [1]\nlr = [0.001]\n";
  for (const auto& [key, line] : output_lines("../..")) {
    std::string in_a_list = line;
    in_a_list.replace(in_a_list.find("= ") + 2, std::string::npos,
                      key == "force" ? "[true]\n" : "[\"../..\"]\n");
    const std::string options = "[options]\n" + data;
    for (const std::string& text :
         {head + options + line + axis + run, head + options + "[quick]\n" + line + axis + run,
          head + options + axis + run + line, head + options + axis + in_a_list + run,
          head + options + axis + run + "quick." + line}) {
      const TemporaryDirectory directory;
      const fs::path inside = directory.path() / "a/b";
      fs::create_directories(inside / "experiments/one");
      write_file(inside / "experiments/one/experiment.toml", text);
      const auto before = contents_of(directory.path());
      const Finished done = symport({"reproduce", "--out", "out"}, {.directory = inside});
      EXPECT_EQ(done.exit_code, 2) << text;
      EXPECT_THAT(done.err, HasSubstr("experiments/one/experiment.toml:")) << text;
      EXPECT_THAT(done.err, HasSubstr(key + ": only the command line can")) << text;
      EXPECT_EQ(contents_of(directory.path()), before) << text;
    }
  }
}

TEST(Safety, EveryOptionThatNamesAnOutputIsForTheCommandLineOnly) {
  for (const Command& command : all_commands()) {
    for (const Option& option : command.options) {
      const bool words_only = option.name == "json" || option.name == "quiet" ||
                              option.name == "no-progress" || option.name == "title";
      if (option.group != "Output" || words_only) continue;
      EXPECT_TRUE(lab::is_typed_only(option.name)) << command.name << " --" << option.name;
    }
  }
}

TEST(Safety, NamesOfExperimentsRunsAndFiguresStayInTheirDirectory) {
  for (const std::string name : {"..", ".", "../../evil", "/evil", "a/../../../evil", "..!", ""}) {
    const std::string folder = lab::folder_name(name);
    EXPECT_EQ(folder.find('/'), std::string::npos) << name;
    EXPECT_FALSE(folder.starts_with(".")) << name;
  }
  const std::string experiment =
      "title = \"a\"\nsee = \"b\"\ncommand = \"train\"\nseeds = [1]\n[options]\ndata = "
      "\"regression\"\nsteps = 3\n[axis.\"../../evil\"]\nlabel = \"x\"\nvalues = [1]\n"
      "lr = [0.001]\n[[run]]\nname = \"../../../evil\"\npanel = \"../evil\"\n"
      "over = \"../../evil\"\n";
  const std::string figure =
      "[[figure]]\ntitle = \"a\"\nsee = \"b\"\nlabel = \"c\"\nruns = [\"../../../evil\"]\n"
      "column = \"train_loss\"\n";
  const TemporaryDirectory directory;
  const fs::path inside = directory.path() / "a/b";
  const fs::path file = inside / "experiments/one/experiment.toml";
  fs::create_directories(file.parent_path());
  const Words words{"reproduce", "--out", "out", "--figures", "pictures", "--quiet"};
  for (const std::string id : {"x/../../../evil", "/evil", "..", "x/y", ""}) {
    write_file(file, experiment + figure + "id = \"" + id + "\"\n");
    const auto before = contents_of(directory.path());
    const Finished run = symport(words, {.directory = inside});
    EXPECT_EQ(run.exit_code, 2) << id;
    EXPECT_THAT(run.err, HasSubstr("experiment.toml:22: id: ")) << id;
    EXPECT_EQ(contents_of(directory.path()), before) << id;
  }
  write_file(file, experiment + figure + "id = \"end\"\n");
  const Finished run = symport(words, {.directory = inside});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(fs::exists(inside / "pictures/one-end.svg"));
  for (const auto& [name, content] : contents_of(directory.path())) {
    const bool expected = name == "a" || name == "a/b" || name.starts_with("a/b/out") ||
                          name.starts_with("a/b/pictures") || name.starts_with("a/b/experiments");
    EXPECT_TRUE(expected) << name;
  }
}

/// Links in a run directory, each to something outside of it.
TEST(Safety, NothingIsWrittenOrRemovedThroughLinks) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run", outside = directory / "outside";
  const Words train{"train", "--data", "regression", "--steps", "3", "--out", run, "--quiet"};
  const Words optimize{"optimize", "booth", "--steps", "3", "--out", run, "--quiet"};
  for (const char* name :
       {"config.toml", "trace.csv", "teleports.jsonl", "summary.json", "model.npz", "checkpoint",
        "checkpoint/latest.npz", "checkpoint/previous.npz", "checkpoint/next.npz"}) {
    fs::remove_all(run);
    fs::remove_all(outside);
    ASSERT_EQ(symport(train).exit_code, 0);
    const fs::path link = fs::path(run) / name;
    fs::create_directories(outside);
    const fs::path target = fs::path(outside) / link.filename();
    if (fs::exists(link)) {
      fs::rename(link, target);
    } else {
      write_file(target, "precious");
    }
    fs::create_symlink(target, link);
    const auto before = contents_of(directory.path());
    const auto expect_refusal = [&](Words words, const Words& more) {
      words.insert(words.end(), more.begin(), more.end());
      const Finished done = symport(words);
      EXPECT_EQ(done.exit_code, 2) << words[0] << " " << name;
      EXPECT_THAT(done.err, HasSubstr("'" + link.string() + "', a symbolic link")) << words[0];
      EXPECT_EQ(contents_of(directory.path()), before) << words[0] << " " << name;
    };
    expect_refusal(train, {"--force"});
    expect_refusal(optimize, {"--force"});
    expect_refusal({"train", "--resume", run, "--steps", "5"}, {});
  }
}

TEST(Safety, OneFileOfTheProgramRemovesAndTheOthersDoNot) {
  const std::regex removal(
      "(fs::|filesystem::|std::|::)(remove|remove_all|unlink|unlinkat|rmdir)\\(|\\bremove_all\\(");
  std::vector<std::string> files;
  const fs::path source = SYMPORT_SOURCE_DIR;
  for (const char* folder : {"apps", "lab"}) {
    for (const auto& item : fs::recursive_directory_iterator(source / folder)) {
      if (!item.is_regular_file()) continue;
      if (std::regex_search(read_file(item.path()), removal)) {
        files.push_back(item.path().lexically_relative(source).string());
      }
    }
  }
  EXPECT_THAT(files, ::testing::ElementsAre("lab/runs/removal.cpp"));
}

}  // namespace
}  // namespace symport::cli::testing
