// SPDX-License-Identifier: MIT
#include "symport/data/npz.hpp"

#include <gtest/gtest.h>

#include "support/forged_npz.hpp"
#include "support/refusal.hpp"
#include "support/temporary_directory.hpp"

namespace symport {
namespace {

using test::refusal;
using ::testing::HasSubstr;

const Array three{{3}, std::vector<double>{0, 1, 2}, Order::c};

ArrayMap one_of_each() {
  return {
      {"W1", {{2, 2}, std::vector<float>{1, 2, 3, 4}, Order::c}},
      {"W2", {{2, 2}, std::vector<double>{1, 2, 3, 4}, Order::fortran}},
      {"labels", {{3}, std::vector<std::int32_t>{1, -2, 3}, Order::c}},
      {"large", {{400, 500}, std::vector<std::int64_t>(200'000, -7), Order::fortran}},
      {"pixels", {{1, 2}, std::vector<std::uint8_t>{0, 255}, Order::c}},
      {"scalar", {{}, std::vector<double>{0.1}, Order::c}},
      {"none", {{0}, std::vector<double>{}, Order::c}},
  };
}

TEST(Npz, ReadsBackWhatItWrote) {
  const test::TemporaryDirectory directory;
  for (const bool deflate : {false, true}) {
    write_npz(directory / "a.npz", one_of_each(), {.deflate = deflate});
    EXPECT_EQ(read_npz(directory / "a.npz"), one_of_each()) << deflate;
    EXPECT_EQ(test::contents(directory / "a.npz").size() < 100'000, deflate);
  }
  write_npz(directory / "empty.npz", {});
  EXPECT_TRUE(read_npz(directory / "empty.npz").empty());
}

TEST(Npz, WritesTheSameBytesEachTime) {
  const test::TemporaryDirectory directory;
  for (const bool deflate : {false, true}) {
    write_npz(directory / "a.npz", one_of_each(), {.deflate = deflate});
    write_npz(directory / "b.npz", one_of_each(), {.deflate = deflate});
    EXPECT_EQ(test::contents(directory / "a.npz"), test::contents(directory / "b.npz"));
  }
}

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

/// numpy.savez(W1=numpy.arange(3.)), NumPy 1.24: the local header has a zip64 field, the directory
/// has none.
constexpr std::string_view numpy_stored =
    "504b0304140000000000000021002421e12b98000000980000000600140057312e6e7079010010009800000000"
    "0000009800000000000000934e554d5059010076007b276465736372273a20273c6638272c2027666f72747261"
    "6e5f6f72646572273a2046616c73652c20277368617065273a2028332c292c207d202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "2020200a0000000000000000000000000000f03f0000000000000040504b010214031400000000000000210024"
    "21e12b980000009800000006000000000000000000000080010000000057312e6e7079504b0506000000000100"
    "010034000000d00000000000";

/// numpy.savez_compressed of the same.
constexpr std::string_view numpy_deflated =
    "504b0304140000000800000021002421e12b4c000000980000000600140057312e6e7079010010009800000000"
    "0000004c000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a1aea3a09e965f545294"
    "98179f5f94920a12774bcc294e058a17672416a402f91ac63a9a3a0ab50a14002e0614f0c11eca700000504b01"
    "021403140000000800000021002421e12b4c000000980000000600000000000000000000008001000000005731"
    "2e6e7079504b0506000000000100010034000000840000000000";

TEST(Npz, ReadsWhatNumPyWrites) {
  const ArrayMap expected{{"W1", three}};
  EXPECT_EQ(parse_npz(from_hex(numpy_stored), "numpy"), expected);
  EXPECT_EQ(parse_npz(from_hex(numpy_deflated), "numpy"), expected);
}

TEST(Npz, ReadsEveryFormOfAnHonestArchive) {
  const test::ForgedEntry plain;
  for (const bool deflated : {false, true}) {
    for (const bool local64 : {false, true}) {
      for (const bool central64 : {false, true}) {
        for (const bool descriptor : {false, true}) {
          for (const bool end64 : {false, true}) {
            test::ForgedEntry entry = plain;
            entry.deflated = deflated;
            entry.zip64_local = local64;
            entry.zip64_central = central64;
            entry.descriptor = descriptor;
            test::ForgedEntry second = entry;
            second.name = "b1.npy";
            const std::string archive = test::forged_npz(
                {entry, second}, {.zip64 = end64, .comment = end64 ? "" : "a comment"});
            EXPECT_EQ(parse_npz(archive, "forged"), (ArrayMap{{"W1", three}, {"b1", three}}));
          }
        }
      }
    }
  }
}

TEST(Npz, LeavesNothingBehindWhenItCannotWrite) {
  const test::TemporaryDirectory directory;
  for (const char* name : {"", "../W1", "a/b", "a\\b", "C:x", "W 1", "W\n1", "W\xc3\xbc"}) {
    const std::string message = refusal([&] { write_npz(directory / "a.npz", {{name, three}}); });
    EXPECT_THAT(message, HasSubstr("a.npz")) << name;
    EXPECT_THAT(message, HasSubstr("the array name")) << name;
  }
  const Array broken{{4}, std::vector<double>(3), Order::c};
  EXPECT_THROW(write_npz(directory / "a.npz", {{"W1", broken}}), std::logic_error);
  EXPECT_EQ(directory.entries(), 0u);
}

}  // namespace
}  // namespace symport
