// SPDX-License-Identifier: MIT
#include "symport/data/sample_set.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "support/refusal.hpp"
#include "support/temporary_directory.hpp"
#include "symport/data/npz.hpp"
#include "symport/objectives/targets.hpp"
#include "symport/training/sample_targets.hpp"

namespace symport {
namespace {

using test::refusal;
using ::testing::HasSubstr;

ArrayMap with_classes() {
  return {{"X", {{3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}, Order::c}},
          {"y", {{3}, std::vector<std::int64_t>{2, 0, 1}, Order::c}}};
}

ArrayMap with_targets() {
  return {{"X", {{3, 2}, std::vector<double>{1, 3, 5, 2, 4, 6}, Order::fortran}},
          {"Y", {{3, 1}, std::vector<double>{7, 8, 9}, Order::c}}};
}

TEST(SampleSet, HasSamplesInColumns) {
  const test::TemporaryDirectory directory;
  write_npz(directory / "batch.npz", with_classes());
  const SampleSet<> classes = read_samples(directory / "batch.npz", {.count = 3});
  const Matrix X{{1, 3, 5}, {2, 4, 6}};
  EXPECT_EQ(classes.X, X);
  EXPECT_EQ(classes.classes, (std::vector<Index>{2, 0, 1}));
  EXPECT_EQ(classes.Y.size(), 0);
  EXPECT_EQ(classes.samples(), 3);

  const SampleSet<float> targets = samples_from_arrays<float>(with_targets(), "batch.npz");
  EXPECT_EQ(targets.X, X.cast<float>());
  EXPECT_TRUE(targets.classes.empty());
  EXPECT_EQ(targets.Y, (MatrixOf<float>{{7, 8, 9}}));
}

TEST(SampleSet, OneDimensionOfTargetsIsOneOutput) {
  ArrayMap arrays = with_targets();
  const SampleSet<> columns = samples_from_arrays(arrays, "batch.npz");
  arrays["Y"].shape = {3};
  EXPECT_EQ(samples_from_arrays(arrays, "batch.npz").Y, columns.Y);
}

TEST(SampleSet, ItsClassesAreThoseOfTargets) {
  const SampleSet<> samples = samples_from_arrays(with_classes(), "batch.npz");
  const Targets<double> targets(samples.classes);
  EXPECT_EQ(targets.classes, samples.classes);
}

TEST(SampleSet, TakesBytesAsPixelsAndAsClasses) {
  ArrayMap arrays = with_classes();
  arrays["X"].values = std::vector<std::uint8_t>{0, 255, 1, 2, 3, 4};
  arrays["y"].values = std::vector<std::uint8_t>{0, 200, 255};
  const SampleSet<> samples = samples_from_arrays(arrays, "batch.npz");
  EXPECT_EQ(samples.X(1, 0), 255.0);
  EXPECT_EQ(samples.classes, (std::vector<Index>{0, 200, 255}));
}

TEST(SampleSet, RefusesClassesThatDoNotFitInto32Bits) {
  ArrayMap arrays = with_classes();
  arrays["y"].values = std::vector<std::int64_t>{2, 0, largest_class};
  EXPECT_EQ(targets_of(samples_from_arrays(arrays, "batch.npz")).classes[2], 2147483647);
  // Cut to 32 bits these are classes 0 and 1.
  for (const std::int64_t label : {std::int64_t{1} << 32, (std::int64_t{1} << 40) + 1}) {
    arrays["y"].values = std::vector<std::int64_t>{2, 0, label};
    EXPECT_THAT(refusal([&] { samples_from_arrays(arrays, "batch.npz"); }),
                HasSubstr("array y: found class " + std::to_string(label) +
                          " at [2], allowed is 0 to 2147483647"));
    const SampleSet<> own{.X = Matrix::Zero(1, 1), .classes = {label}, .Y = {}};
    EXPECT_THAT(refusal([&] { targets_of(own); }), HasSubstr("classes: found"));
  }
}

TEST(SampleSet, RefusesBadBatchesByFileAndArray) {
  using Integers = std::vector<std::int64_t>;
  const struct {
    const char* what;
    std::function<void(ArrayMap&)> damage;
    const char* array;
    const char* says;
  } cases[] = {
      {"no inputs", [](ArrayMap& a) { a.erase("X"); }, "array X", "no such array"},
      {"no answers", [](ArrayMap& a) { a.erase("y"); }, "array y", "neither y nor Y"},
      {"both", [](ArrayMap& a) { a["Y"] = a["X"]; }, "array y", "both y and Y"},
      {"another array", [](ArrayMap& a) { a["Z"] = a["X"]; }, "array Z", "X with y or Y"},
      {"flat inputs", [](ArrayMap& a) { a["X"].shape = {6}; }, "array X", "samples x features"},
      {"images",
       [](ArrayMap& a) {
         a["X"].shape = {3, 2, 1};
       },
       "array X", "two dimensions"},
      {"no samples",
       [](ArrayMap& a) {
         a["X"] = {{0, 2}, std::vector<float>{}, Order::c};
       },
       "array X", "shape (0, 2)"},
      {"nan", [](ArrayMap& a) { std::get<0>(a["X"].values)[3] = NAN; }, "array X", "nan at [1, 1]"},
      {"fewer classes",
       [](ArrayMap& a) {
         a["y"] = {{2}, Integers{0, 1}, Order::c};
       },
       "array y", "3 samples"},
      {"classes as floats", [](ArrayMap& a) { a["y"].values = std::vector<float>(3); }, "array y",
       "dtype <f4"},
      {"one-hot",
       [](ArrayMap& a) {
         a["y"] = {{3, 2}, Integers(6), Order::c};
       },
       "array y", "one dimension"},
      {"single class",
       [](ArrayMap& a) {
         a["y"] = {{}, Integers{1}, Order::c};
       },
       "array y", "shape ()"},
      {"negative class", [](ArrayMap& a) { std::get<3>(a["y"].values)[1] = -1; }, "array y",
       "class -1 at [1], allowed is 0 to 2"},
      {"class too large", [](ArrayMap& a) { std::get<3>(a["y"].values)[2] = 3; }, "array y",
       "class 3 at [2]"},
  };
  for (const auto& [what, damage, array, says] : cases) {
    ArrayMap arrays = with_classes();
    damage(arrays);
    const std::string message =
        refusal([&] { samples_from_arrays(arrays, "batch.npz", {.count = 3}); });
    EXPECT_THAT(message, HasSubstr("batch.npz")) << what;
    EXPECT_THAT(message, HasSubstr(array)) << what;
    EXPECT_THAT(message, HasSubstr(says)) << what;
  }
}

TEST(SampleSet, RefusesTargetsThatDoNotFit) {
  ArrayMap arrays = with_targets();
  arrays["Y"] = {{2, 1}, std::vector<double>{7, 8}, Order::c};
  EXPECT_THAT(refusal([&] { samples_from_arrays(arrays, "f.npz"); }),
              ::testing::AllOf(HasSubstr("f.npz, array Y"), HasSubstr("3 samples")));
  arrays["Y"] = {{3, 1, 1}, std::vector<double>{7, 8, 9}, Order::c};
  EXPECT_THAT(refusal([&] { samples_from_arrays(arrays, "f.npz"); }),
              ::testing::AllOf(HasSubstr("f.npz, array Y"), HasSubstr("samples x outputs")));
}

TEST(SampleSet, AllowsAnyClassWhenTheirNumberIsNotGiven) {
  ArrayMap arrays = with_classes();
  std::get<3>(arrays["y"].values)[2] = 1'000'000;
  EXPECT_EQ(samples_from_arrays(arrays, "f").classes[2], 1'000'000);
  std::get<3>(arrays["y"].values)[2] = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(refusal([&] { samples_from_arrays(arrays, "f"); }), HasSubstr("array y"));
}

}  // namespace
}  // namespace symport
