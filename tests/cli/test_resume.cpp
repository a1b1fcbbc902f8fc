// SPDX-License-Identifier: MIT
// `symport train --resume`: whatever ends a run, it goes on to the bytes it would have had.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/process.hpp"
#include "symport/core/random.hpp"
#include "symport/data/npz.hpp"
#include "symport/data/synthetic.hpp"

namespace symport::cli::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A data set, and a run on it that takes some tenths of a second.
struct CutRun {
  TemporaryDirectory directory;
  std::string data = directory / "data.npz", whole = directory / "whole", cut = directory / "cut";
  Words words;

  explicit CutRun(const Words& more = {}, const char* epochs = "12") {
    constexpr Index samples = 2000;
    const SampleSet<> set =
        classification_data({.features = 20, .classes = 4, .samples = samples, .seed = 2});
    std::vector<std::int64_t> classes(set.classes.begin(), set.classes.end());
    write_npz(data, {{"X", to_array<double>(Matrix(set.X.transpose()))},
                     {"y", Array{{samples}, classes}}});
    words = Words{"train", "--data",      data,   "--layers",     "20,24,24,4", "--batch",
                  "10",    "--epochs",    epochs, "--lr",         "0.01",       "--seed",
                  "3",     "--optimizer", "adam", "--validation", "200",        "--quiet"} +
            more;
  }

  std::string model(const std::string& run) const { return read_file(run + "/model.npz"); }
  void finish_whole() const {
    const Finished run = symport(words + Words{"--out", whole});
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  Words to_cut() const { return words + Words{"--out", cut}; }
  Words resume() const { return {"train", "--resume", cut, "--quiet"}; }
};

TEST(Resume, AfterKillsAtRandomMomentsTheModelIsTheSame) {
  const CutRun run({"--checkpoint-every", "40", "--teleport", "1..9:2", "--symmetry", "rescale"},
                   "100");
  const auto start = std::chrono::steady_clock::now();
  run.finish_whole();
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
  Random random(17);
  int kills = 0;
  Words words = run.to_cut();
  bool ended = false;
  while (!ended) {
    ASSERT_LT(kills, 400);
    // A tenth of the run at most, so that there are several; later ones let it get on.
    const auto delay = std::chrono::duration_cast<std::chrono::milliseconds>(
        whole * (kills < 20 ? 0.1 : 1.0) * random.uniform());
    const Finished part = symport(words, {.meanwhile = send_after(delay, SIGKILL)});
    ended = part.exit_code == 0;
    kills += part.signal == SIGKILL ? 1 : 0;
    ASSERT_TRUE(ended || part.signal == SIGKILL) << part.err;
    // A run that was killed before it left its configuration is started again.
    words = fs::exists(run.cut + "/config.toml") ? run.resume() : run.to_cut() + Words{"--force"};
  }
  EXPECT_GE(kills, 5);
  EXPECT_EQ(run.model(run.cut), run.model(run.whole));
  const json a = json::parse(read_file(run.cut + "/summary.json"));
  const json b = json::parse(read_file(run.whole + "/summary.json"));
  EXPECT_EQ(a["status"], "step_limit");
  EXPECT_EQ(a["updates"], b["updates"]);
  ASSERT_EQ(a["epochs"].size(), b["epochs"].size());
  for (std::size_t i = 0; i < a["epochs"].size(); ++i) {
    EXPECT_EQ(a["epochs"][i]["train_loss"], b["epochs"][i]["train_loss"]);
  }
  EXPECT_EQ(a["teleports"].size(), b["teleports"].size());
  // Nothing of a killed process is left lying about.
  for (const auto& entry : fs::recursive_directory_iterator(run.cut)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
  }
}

TEST(Resume, AnInterruptSaysHowToGoOn) {
  for (const Words& more : {Words{}, Words{"--batch", "full", "--steps", "4000"}}) {
    CutRun run({}, "60");
    if (!more.empty()) {
      for (const char* flag : {"--batch", "--epochs"}) {
        const auto found = std::find(run.words.begin(), run.words.end(), flag);
        run.words.erase(found, found + 2);
      }
      run.words = run.words + more;
    }
    run.finish_whole();
    Finished part = symport(run.to_cut(), {.meanwhile = [&](int process) {
                              while (!fs::exists(run.cut + "/config.toml"))
                                std::this_thread::yield();
                              ::kill(process, SIGINT);
                            }});
    ASSERT_EQ(part.exit_code, 130) << part.err;
    EXPECT_THAT(part.err, HasSubstr("to resume it: symport train --resume " + run.cut));
    EXPECT_EQ(json::parse(read_file(run.cut + "/summary.json"))["status"], "interrupted");
    part = symport(run.resume());
    ASSERT_EQ(part.exit_code, 0) << part.err;
    EXPECT_EQ(run.model(run.cut), run.model(run.whole));
  }
}

TEST(Resume, ACompleteRunIsLeftAsItIsAndALongerOneGoesOn) {
  const CutRun run({}, "3"), longer({}, "5");
  const Finished first = symport(run.to_cut());
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::string model = run.model(run.cut);
  const Finished again = symport(run.resume());
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(run.model(run.cut), model);
  longer.finish_whole();
  const Finished more = symport(run.resume() + Words{"--epochs", "5"});
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_EQ(run.model(run.cut), longer.model(longer.whole));
  EXPECT_THAT(read_file(run.cut + "/config.toml"), HasSubstr("epochs = 5"));
  const Finished shorter = symport(run.resume() + Words{"--epochs", "4"});
  EXPECT_EQ(shorter.exit_code, 2);
  EXPECT_THAT(shorter.err, HasSubstr("after 5 epochs, allowed is"));
}

void damage(const std::string& file) {
  std::string bytes = read_file(file);
  ++bytes[bytes.size() / 2];
  write_file(file, bytes);
}

TEST(Resume, GoesBackToThePreviousCheckpointWhenTheLatestIsDamaged) {
  const CutRun run;
  run.finish_whole();
  symport(run.to_cut());
  fs::remove(run.cut + "/model.npz");
  damage(run.cut + "/checkpoint/latest.npz");
  Words loud = run.resume();
  loud.pop_back();
  Finished part = symport(loud);
  ASSERT_EQ(part.exit_code, 0) << part.err;
  EXPECT_THAT(part.err, HasSubstr("the latest checkpoint is damaged"));
  EXPECT_EQ(run.model(run.cut), run.model(run.whole));
  EXPECT_TRUE(fs::exists(run.cut + "/checkpoint/damaged.npz"));
  damage(run.cut + "/checkpoint/latest.npz");
  damage(run.cut + "/checkpoint/previous.npz");
  part = symport(run.resume());
  EXPECT_EQ(part.exit_code, 2);
  EXPECT_THAT(part.err, HasSubstr("checkpoint/latest.npz"));
}

TEST(Resume, ACheckpointOfAnotherRunOrOtherDataIsRefused) {
  const CutRun run({}, "2"), other({"--lr", "0.02"}, "2");
  ASSERT_EQ(symport(run.to_cut()).exit_code, 0);
  const std::string model = run.model(run.cut), checkpoint = run.cut + "/checkpoint/latest.npz";
  const std::string own = read_file(checkpoint);
  Words words = other.to_cut();
  const auto rate = std::find(words.begin(), words.end(), "--lr");
  words.erase(rate, rate + 2);
  ASSERT_EQ(symport(words).exit_code, 0);
  write_file(checkpoint, read_file(other.cut + "/checkpoint/latest.npz"));
  Finished part = symport(run.resume());
  EXPECT_EQ(part.exit_code, 2);
  EXPECT_THAT(part.err, HasSubstr("a checkpoint of another configuration"));
  write_file(checkpoint, own);
  const ArrayMap data = read_npz(run.data);
  for (const std::size_t number : {5, 20, 39'999}) {  // of samples 0, 1 and 1999
    ArrayMap arrays = data;
    std::get<std::vector<double>>(arrays["X"].values)[number] += 1.0;
    write_npz(run.data, arrays);
    part = symport(run.resume());
    EXPECT_EQ(part.exit_code, 2) << number;
    EXPECT_THAT(part.err, HasSubstr("a checkpoint of other data")) << number;
    EXPECT_EQ(run.model(run.cut), model);
  }
}

TEST(Resume, ACheckpointOfTheFirstFormatIsRefusedByName) {
  const CutRun run({}, "2");
  ASSERT_EQ(symport(run.to_cut()).exit_code, 0);
  const std::string checkpoint = run.cut + "/checkpoint/latest.npz";
  ArrayMap arrays = read_npz(checkpoint);
  arrays.erase("format");
  arrays["version"] = {{1}, std::vector<std::int64_t>{1}};
  write_npz(checkpoint, arrays);
  const Finished part = symport(run.resume());
  EXPECT_EQ(part.exit_code, 2);
  EXPECT_THAT(part.err, HasSubstr(checkpoint + ": found a checkpoint of format 1 (Symport 0.1), "
                                               "allowed is format 5: start the run again"));
}

TEST(Resume, ACheckpointThatCannotBeWrittenIsAWarning) {
  CutRun run({}, "200");  // long enough for the file to come in time
  run.words.erase(std::find(run.words.begin(), run.words.end(), "--quiet"));
  fs::create_directory(run.cut);
  const Finished part = symport(run.to_cut(), {.meanwhile = [&](int) {
                                  while (!fs::exists(run.cut + "/config.toml"))
                                    std::this_thread::yield();
                                  // A file stands where the directory should be.
                                  const fs::path place = run.cut + "/checkpoint";
                                  while (!fs::is_regular_file(place)) {
                                    std::error_code ignored;
                                    fs::remove_all(place, ignored);
                                    std::ofstream{place};
                                  }
                                }});
  EXPECT_EQ(part.exit_code, 0) << part.err;
  EXPECT_THAT(part.err, HasSubstr("a checkpoint could not be written, the run goes on"));
  EXPECT_TRUE(fs::exists(run.cut + "/model.npz"));
}

TEST(Train, AResultThatCannotBeWrittenIsStillPrintedAndCanBeResumed) {
  const CutRun run;
  run.finish_whole();
  const Finished part = symport(run.to_cut(), {.meanwhile = [&](int) {
                                  while (!fs::exists(run.cut + "/config.toml"))
                                    std::this_thread::yield();
                                  fs::create_directory(run.cut + "/model.npz");
                                }});
  EXPECT_EQ(part.exit_code, 1);
  EXPECT_THAT(part.err, HasSubstr("cannot write"));
  EXPECT_THAT(part.out, HasSubstr("train loss"));
  EXPECT_FALSE(fs::exists(run.cut + "/summary.json"));
  fs::remove(run.cut + "/model.npz");
  EXPECT_EQ(symport(run.resume()).exit_code, 0);
  EXPECT_EQ(run.model(run.cut), run.model(run.whole));
}

TEST(Train, ARunDirectoryIsWrittenEvenIfStandardOutputIsNot) {
  const CutRun run({}, "2");
  const Finished part = symport(run.to_cut(), {.stdout_file = "/dev/full"});
  EXPECT_EQ(part.exit_code, 1);
  EXPECT_THAT(part.err, HasSubstr("standard output"));
  EXPECT_TRUE(fs::exists(run.cut + "/model.npz"));
  EXPECT_TRUE(fs::exists(run.cut + "/summary.json"));
}

TEST(Resume, FindsDataThatWasNamedFromAnotherDirectory) {
  CutRun run({}, "2");
  const std::string elsewhere = run.directory / "elsewhere";
  fs::create_directory(elsewhere);
  fs::copy(run.data, elsewhere + "/own.npz");
  *(std::find(run.words.begin(), run.words.end(), "--data") + 1) = "own.npz";
  ASSERT_EQ(symport(run.to_cut(), {.directory = elsewhere}).exit_code, 0);
  EXPECT_THAT(read_file(run.cut + "/config.toml"), HasSubstr(elsewhere + "/own.npz"));
  const Finished part = symport(run.resume() + Words{"--epochs", "3"});
  EXPECT_EQ(part.exit_code, 0) << part.err;
}

TEST(Train, RefusesANameThatItsConfigurationCannotHold) {
  CutRun run({}, "2");
  const std::string odd = run.directory / "d\xff.npz";
  fs::copy(run.data, odd);
  *(std::find(run.words.begin(), run.words.end(), "--data") + 1) = odd;
  EXPECT_EQ(symport(run.words).exit_code, 0);
  const Finished part = symport(run.to_cut());
  EXPECT_EQ(part.exit_code, 2);
  EXPECT_THAT(part.err, HasSubstr("--data: found a name that is not UTF-8"));
  EXPECT_FALSE(fs::exists(run.cut));
}

TEST(Resume, OneDirectoryServesOneProcess) {
  const CutRun run({}, "100000");
  Finished second;
  symport(run.to_cut(), {.meanwhile = [&](int process) {
            while (!fs::exists(run.cut + "/config.toml")) std::this_thread::yield();
            second = symport(run.resume());
            ::kill(process, SIGKILL);
          }});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("which another run is using"));
}

TEST(Resume, SaysWhatIsWrongWithItsUse) {
  const CutRun run({}, "2");
  const std::string empty = run.directory / "empty";
  fs::create_directory(empty);
  ASSERT_EQ(symport(run.to_cut()).exit_code, 0);
  const struct {
    Words words;
    const char* message;
  } cases[] = {
      {{"train", "--resume", empty}, "which has no config.toml"},
      {run.resume() + Words{"--lr", "1"}, "--lr: cannot be combined with --resume"},
      {run.resume() + Words{"--out", empty}, "--out: cannot be combined with --resume"},
      {run.words + Words{"--checkpoint-every", "5"}, "--checkpoint-every: needs --out"},
      {run.words + Words{"--checkpoint-every", "0"}, "--checkpoint-every: found '0'"},
  };
  for (const auto& c : cases) {
    const Finished part = symport(c.words);
    EXPECT_EQ(part.exit_code, 2) << c.message;
    EXPECT_THAT(part.err, HasSubstr(c.message));
  }
  fs::remove(run.cut + "/summary.json");
  EXPECT_THAT(symport(run.to_cut()).err, HasSubstr("--resume to go on"));
}

TEST(Train, IsTheSameByteForByteWithAnyFixedNumberOfThreads) {
  for (const char* threads : {"1", "2"}) {
    const CutRun run({"--threads", threads, "--teleport", "1"}, "2");
    ASSERT_EQ(symport(run.to_cut()).exit_code, 0);
    run.finish_whole();
    EXPECT_EQ(run.model(run.cut), run.model(run.whole)) << threads;
  }
}

TEST(Train, SaysHowItGetsOnWhereThereIsNoTerminal) {
  CutRun run({}, "3");
  run.words.erase(std::find(run.words.begin(), run.words.end(), "--quiet"));
  const Finished part = symport(run.words);
  EXPECT_THAT(part.err, HasSubstr("epoch 3 of 3: loss "));
  EXPECT_THAT(part.err, HasSubstr("samples/s"));
}

}  // namespace
}  // namespace symport::cli::testing
