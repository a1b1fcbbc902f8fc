// SPDX-License-Identifier: MIT
#include "lab/data/open_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(OpenData, ReadsImagesAndTables) {
  const test::TemporaryDirectory room;
  const Given given;
  put_idx_set(room.path() / "both", true);
  put_idx_set(room.path() / "one", false);
  const DataSet<float> both = open_data<float>("idx:" + (room / "both").string(), {}, given);
  EXPECT_EQ(both.training->samples(), 3);
  EXPECT_EQ(both.training->features(), 2);
  ASSERT_TRUE(both.test);
  MatrixOf<float> X;
  Targets<float> targets;
  both.test->load(std::vector<Index>{0}, X, targets);
  EXPECT_EQ(X, (MatrixOf<float>{{'x' / 255.0f}, {'y' / 255.0f}}));
  EXPECT_EQ(targets.classes, std::vector<int>{2});
  EXPECT_FALSE(open_data<double>("idx:" + (room / "one").string(), {}, given).test);

  test::put_file(room / "t.csv", "a,kind,b\n1,0,2\n3,1,6\n");
  const DataSet<double> table =
      open_data<double>("csv:" + (room / "t.csv").string(), {.label = "kind"}, given);
  EXPECT_EQ(table.training->features(), 2);
  EXPECT_TRUE(table.training->categorical());
  EXPECT_FALSE(table.test);

  test::put_file(room.path() / "both/t10k-images.idx3-ubyte", test::forged_idx({1, 1, 3}, "xyz"));
  EXPECT_THROW(open_data<float>("idx:" + (room / "both").string(), {}, given), InvalidArgument);
}

TEST(OpenData, BlamesTheFlagAndKnowsTheCallersNames) {
  const test::TemporaryDirectory room;
  Given given;
  given.set("data", {"regresion", "run.toml:3: data"});
  const auto message = [&](const std::string& spec, const DataOptions& options) {
    try {
      open_data<float>(spec, options, given);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  EXPECT_THAT(message("regresion", {.more_names = {"regression"}}),
              AllOf(HasSubstr("run.toml:3: data: found 'regresion'"),
                    HasSubstr("did you mean 'regression'?")));
  EXPECT_THAT(message("mnist", {.data_dir = room.path().string()}),
              HasSubstr("run.toml:3: data: mnist is not fetched yet"));
  EXPECT_THAT(message("a.npz", {.label = "x"}), HasSubstr("--label: goes with csv:FILE only"));
}

}  // namespace
}  // namespace symport::lab
