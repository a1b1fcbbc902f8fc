// SPDX-License-Identifier: MIT
// Checkpoints as the named arrays of a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "support/traces.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"
#include "symport/training/checkpoint.hpp"

namespace symport {
namespace {

using ::testing::HasSubstr;

TEST(Checkpoint, SaysWhatIsWrongWithItsArrays) {
  Checkpoint<double> checkpoint;
  checkpoint.w = Vector::Ones(3);
  checkpoint.optimizer.add("velocity", StateKind::cotangent, 3);
  checkpoint.teleports.push_back({.reason = "moved"});
  const ArrayMap good = checkpoint_arrays(checkpoint);
  ASSERT_EQ(checkpoint_from_arrays<double>(good, "c.npz").teleports[0].reason, "moved");
  const auto message = [&](const char* name, std::optional<Array> array) -> std::string {
    ArrayMap arrays = good;
    arrays.erase(name);
    if (array) arrays[name] = *array;
    try {
      checkpoint_from_arrays<double>(arrays, "c.npz");
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  for (const auto& [name, array] : good) {
    EXPECT_THAT(message(name.c_str(), std::nullopt), HasSubstr("c.npz, array " + name)) << name;
    EXPECT_THAT(message(name.c_str(), Array{{1}, std::vector<std::int32_t>{1}}),
                HasSubstr("found <i4 of shape (1,)"))
        << name;
  }
  const auto text = [](std::string_view value) {
    return Array{{static_cast<Index>(value.size())},
                 std::vector<std::uint8_t>(value.begin(), value.end())};
  };
  EXPECT_EQ(message("format", Array{{}, std::vector<std::int64_t>{99}}),
            "c.npz: found a checkpoint of format 99, allowed is format 5: start the run again");
  EXPECT_EQ(message("optimizer.velocity", Array{{2}, std::vector<double>{1, 2}}),
            "c.npz, array optimizer.velocity: found 2 numbers, allowed is a multiple of 3, one for "
            "each parameter");
  for (const char* list : {"velocity", "velocity sideways", "velocity cotangent",
                           "velocity cotangent\nvelocity cotangent\n", "a b scalar\n", " scalar\n",
                           "../velocity cotangent\n", "\n"}) {
    EXPECT_THAT(message("optimizer", text(list)), HasSubstr("c.npz, array optimizer: found"))
        << list;
  }
  for (const std::int64_t step : {std::int64_t{-1}, std::int64_t{1} << 62}) {
    EXPECT_THAT(message("step", Array{{}, std::vector<std::int64_t>{step}}),
                HasSubstr("from 0 to 2^53"));
    EXPECT_THAT(message("teleports.step", Array{{1}, std::vector<std::int64_t>{step}}),
                HasSubstr("from 0 to 2^53"));
  }
  EXPECT_THAT(message("teleports.reason", text("")), HasSubstr("found 0 rows, allowed is 1"));
  EXPECT_THAT(message("teleports.reason", text("moved")), HasSubstr("a line without an end"));
  EXPECT_THAT(message("teleports.drift", Array{{2}, std::vector<double>{1, 2}}),
              HasSubstr("found 2 rows, allowed is 1"));
  EXPECT_THROW(checkpoint_from_arrays<float>(good, "c.npz"), InvalidArgument);
}

TEST(Checkpoint, OfTheFirstFormatIsRefusedByName) {
  // The arrays that 0.1 wrote.
  const Array none{{0}, std::vector<double>{}}, table{{0, 9}, std::vector<double>{}};
  const ArrayMap old{{"version", {{1}, std::vector<std::int64_t>{1}}},
                     {"w", {{1}, std::vector<double>{1.0}}},
                     {"first", none},
                     {"second", none},
                     {"counters", {{7}, std::vector<std::int64_t>(7)}},
                     {"figures", {{6}, std::vector<double>(6)}},
                     {"random", {{3}, std::vector<std::int64_t>(3)}},
                     {"trace", table}};
  try {
    checkpoint_from_arrays<double>(old, "run/checkpoint/latest.npz");
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "run/checkpoint/latest.npz: found a checkpoint of format 1 (Symport 0.1), allowed "
                 "is format 5: start the run again");
  }
}

// L-BFGS, Shampoo or K-FAC would have some such state.
TEST(Checkpoint, KeepsAnyNumberOfBuffersWithTheirKinds) {
  Checkpoint<float> checkpoint;
  checkpoint.w = VectorOf<float>{{1.0f, 2.0f, 3.0f}};
  Random random(9);
  const auto add = [&](const char* name, StateKind kind, Index size) {
    checkpoint.optimizer.add(name, kind, size);
    checkpoint.optimizer[name] = random.normal_matrix(size, 1).cast<float>();
  };
  add("steps", StateKind::tangent, 12);  // four vectors
  add("gradients", StateKind::cotangent, 12);
  add("average", StateKind::point, 3);
  add("squares", StateKind::squared_cotangent, 3);
  add("factor_1", StateKind::scalar, 25);
  add("rate", StateKind::scalar, 1);
  checkpoint.optimizer.count = 7;
  const ArrayMap arrays = checkpoint_arrays(checkpoint);
  EXPECT_EQ(arrays.at("optimizer.steps").shape, std::vector<Index>{12});
  EXPECT_EQ(arrays.at("optimizer.steps").dtype(), DType::f4);
  const OptimizerState<float> read = checkpoint_from_arrays<float>(arrays, "c.npz").optimizer;
  EXPECT_EQ(read.count, 7);
  ASSERT_EQ(read.buffers.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    const StateBuffer<float>&a = read.buffers[i], &b = checkpoint.optimizer.buffers[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.values, b.values);
  }
}

TEST(Checkpoint, KeepsThePointsOfItsTrace) {
  Checkpoint<double> checkpoint;
  checkpoint.w = Vector{{1.0, 2.0}};
  checkpoint.trace.rows.resize(2);
  checkpoint.trace.points = {Vector{{0.5, -1.0}}, Vector{{0.25, 3.0}}};
  checkpoint.trace.teleports.push_back(
      {.step = 3, .accepted = true, .before = Vector{{1.0, 2.0}}, .after = Vector{{-1.0, 4.0}}});
  testing::expect_same(checkpoint_from_arrays<double>(checkpoint_arrays(checkpoint), "c.npz").trace,
                       checkpoint.trace);
  ArrayMap arrays = checkpoint_arrays(checkpoint);
  const Array before = arrays["trace.teleports.before"];
  arrays["trace.teleports.before"] = {{1, 1}, std::vector<double>{0.5}};
  EXPECT_THROW(checkpoint_from_arrays<double>(arrays, "c.npz"), InvalidArgument);
  arrays["trace.teleports.before"] = before;
  EXPECT_NO_THROW(checkpoint_from_arrays<double>(arrays, "c.npz"));
  arrays["trace.points"] = {{1, 2}, std::vector<double>{0.5, -1.0}};
  EXPECT_THROW(checkpoint_from_arrays<double>(arrays, "c.npz"), InvalidArgument);
  arrays["trace.points"] = {{2, 1}, std::vector<double>{0.5, -1.0}};
  EXPECT_THROW(checkpoint_from_arrays<double>(arrays, "c.npz"), InvalidArgument);
}

}  // namespace
}  // namespace symport
