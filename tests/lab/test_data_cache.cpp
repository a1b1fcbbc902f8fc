// SPDX-License-Identifier: MIT
#include "lab/data/data_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <thread>

#include "lab/runs/network_run.hpp"
#include "support/forged_idx.hpp"
#include "support/packed.hpp"
#include "support/temporary_directory.hpp"

namespace symport::lab {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Three training images of 1 x 2 and, if asked for, one test image.
void put_idx_set(const fs::path& folder, bool with_test) {
  fs::create_directories(folder);
  test::put_file(folder / "train-images-idx3-ubyte", test::forged_idx({3, 1, 2},
                                                                      "\xff\xff\xff"
                                                                      "abc"));
  test::put_file(folder / "train-labels-idx1-ubyte.gz",
                 test::gzipped(test::forged_idx({3}, std::string("\0\1\1", 3))));
  if (!with_test) return;
  test::put_file(folder / "t10k-images.idx3-ubyte", test::forged_idx({1, 1, 2}, "xy"));
  test::put_file(folder / "t10k-labels.idx1-ubyte", test::forged_idx({1}, "\2"));
}

class DataCacheTest : public ::testing::Test {
 protected:
  std::string idx(const std::string& name, bool with_test = true) const {
    put_idx_set(room_ / name, with_test);
    return "idx:" + (room_ / name).string();
  }
  std::string csv(const std::string& name, const std::string& text) const {
    test::put_file(room_ / name, text);
    return "csv:" + (room_ / name).string();
  }
  test::TemporaryDirectory room_;
  DataCache cache_;
};

TEST_F(DataCacheTest, ReadsImagesAndTables) {
  const auto both = cache_.open<float>(idx("both"), {});
  EXPECT_EQ(both->training.count(), 3);
  EXPECT_EQ(both->training.source->features(), 2);
  ASSERT_TRUE(both->test);
  MatrixOf<float> X;
  Targets<float> targets;
  both->test->source->load(std::vector<Index>{0}, X, targets);
  EXPECT_EQ(X, (MatrixOf<float>{{'x' / 255.0f}, {'y' / 255.0f}}));
  EXPECT_EQ(targets.classes, std::vector<Index>{2});
  EXPECT_FALSE(cache_.open<double>(idx("one", false), {})->test);

  const auto table =
      cache_.open<double>(csv("t.csv", "a,kind,b\n1,0,2\n3,1,6\n"), {.label = "kind"});
  EXPECT_EQ(table->training.source->features(), 2);
  EXPECT_TRUE(table->training.source->categorical());
  EXPECT_FALSE(table->test);

  const std::string odd = idx("odd");
  test::put_file(room_ / "odd/t10k-images.idx3-ubyte", test::forged_idx({1, 1, 3}, "xyz"));
  EXPECT_THROW(cache_.open<float>(odd, {}), InvalidArgument);
}

TEST_F(DataCacheTest, ReadsEachSetOnceHoweverManyThreadsAsk) {
  const std::string images = idx("set"), table = csv("t.csv", "a,k,l\n1,0,1\n");
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 50; ++k) cache_.open<float>(images, {});
      });
    }
  }
  EXPECT_EQ(cache_.reads(), 1u);
  EXPECT_EQ(cache_.open<float>(images, {}), cache_.open<float>(images, {}));
  // Another precision, another label are other sets.
  cache_.open<double>(images, {});
  EXPECT_EQ(cache_.reads(), 2u);
  cache_.open<double>(table, {.label = "k"});
  cache_.open<double>(table, {.label = "l"});
  cache_.open<double>(table, {.label = "k"});
  EXPECT_EQ(cache_.reads(), 4u);
}

TEST_F(DataCacheTest, RunsOnTheSameDataShareIt) {
  NetworkRunSpec spec{.data = idx("set"), .layers = {2, 4, 3}, .steps = 1};
  for (const std::uint64_t seed : {0, 1, 2}) {
    spec.seed = seed;
    load(spec, cache_)->train({}, {});
  }
  EXPECT_EQ(cache_.reads(), 1u);
}

TEST_F(DataCacheTest, NamesTheOptionThatIsWrong) {
  const auto message = [&](const std::string& name, const DataOptions& options) {
    try {
      cache_.open<float>(name, options);
    } catch (const OptionError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  EXPECT_THAT(message("regresion", {}),
              AllOf(HasSubstr("data: found 'regresion'"), HasSubstr("did you mean 'regression'?")));
  EXPECT_THAT(message("mnist", {.data_dir = room_.path().string()}),
              HasSubstr("data: mnist is not fetched yet"));
  EXPECT_THAT(message("a.npz", {.label = "x"}), HasSubstr("label: applies to csv:FILE only"));
  EXPECT_EQ(cache_.reads(), 0u);
}

TEST_F(DataCacheTest, TheFingerprintTellsEveryNumberApart) {
  SampleSet<> set{.X = Matrix::Zero(2, 5000), .classes = {}, .Y = Matrix::Zero(1, 5000)};
  const auto fingerprint_of = [](const SampleSet<>& samples) {
    return fingerprint<double>(*samples_of(samples).source);
  };
  const std::string before = fingerprint_of(set);
  EXPECT_EQ(fingerprint_of(set), before);
  for (const Index sample : {0, 1, 4, 999, 1000, 2503, 4999}) {
    SampleSet<> input = set, target = set;
    input.X(1, sample) = target.Y(0, sample) = 1e-300;
    EXPECT_NE(fingerprint_of(input), before) << sample;
    EXPECT_NE(fingerprint_of(target), before) << sample;
  }
}

/// The samples that are looked at before a run are those that could be wrong.
TEST_F(DataCacheTest, AClassTooLargeIsFoundBeforeTheRun) {
  const std::string images = idx("set");
  test::put_file(room_ / "set/train-labels-idx1-ubyte.gz",
                 test::gzipped(test::forged_idx({3}, std::string("\0\1\5", 3))));
  NetworkRunSpec spec{.data = images, .layers = {2, 3}};
  try {
    load(spec, cache_);
    ADD_FAILURE() << "class 5 has no output";
  } catch (const OptionError& error) {
    EXPECT_EQ(error.option(), "data");
    EXPECT_THAT(error.detail(), HasSubstr("class 5"));
  }
  spec.samples = 2;  // without the last one all is well
  EXPECT_NO_THROW(load(spec, cache_));
}

/// Sorted by class, or with classes that alternate: some of the rows have all of them.
TEST_F(DataCacheTest, SomeSamplesOfATableStandForAll) {
  for (const bool sorted : {true, false}) {
    SampleSet<> set{.X = Matrix(1, 3000), .classes = {}, .Y = {}};
    for (Index i = 0; i < 3000; ++i) {
      set.X(0, i) = static_cast<double>(i);
      set.classes.push_back(sorted ? i / 1000 : i % 3);
    }
    const Samples<double> all = samples_of(set), some = drawn(all, 1000);
    ASSERT_EQ(some.count(), 1000);
    Matrix X;
    Targets<double> targets;
    std::vector<Index> rows(1000);
    std::iota(rows.begin(), rows.end(), Index{0});
    some.source->load(rows, X, targets);
    std::map<Index, int> counts;
    for (Index i = 0; i < 1000; ++i) {
      if (i > 0) {
        ASSERT_GT(X(0, i), X(0, i - 1)) << "each once, in the order of the table";
      }
      const Index label = set.classes[static_cast<std::size_t>(X(0, i))];
      EXPECT_EQ(some.classes[static_cast<std::size_t>(i)], label);
      EXPECT_EQ(targets.classes[static_cast<std::size_t>(i)], label);
      ++counts[label];
    }
    // A third of them, give or take three deviations.
    for (const Index label : {0, 1, 2}) EXPECT_NEAR(counts[label], 333, 37) << sorted;
    EXPECT_EQ(drawn(all, 1000).classes, some.classes);
  }
}

TEST_F(DataCacheTest, ARunOnSomeSamplesOfATableDrawsThem) {
  std::string text = "a,k\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("{},{}\n", i, i / 20);
  NetworkRunSpec spec{.data = csv("sorted.csv", text),
                      .where = {.label = "k"},
                      .samples = 20,
                      .layers = {1, 3},
                      .steps = 1};
  // The first twenty have one class: one output would do.
  spec.layers = {1, 1};
  EXPECT_THROW(load(spec, cache_), OptionError);
  spec.layers = {1, 3};
  EXPECT_NO_THROW(load(spec, cache_));
  spec.samples = 61;
  EXPECT_THROW(load(spec, cache_), OptionError);
}

}  // namespace
}  // namespace symport::lab
