// SPDX-License-Identifier: MIT
#include "lab/data/png_rows.hpp"

#include <gtest/gtest.h>

#include "support/forged_png.hpp"
#include "support/refusal.hpp"
#include "support/temporary_directory.hpp"

namespace symport::lab {
namespace {

using test::forged_png;
using test::ForgedPng;
using test::refusal;
using ::testing::HasSubstr;

/// Two RGB rows of two pixels: the first as it is, the second by the differences to it.
const std::string two_rows("\0abcdef\2\1\1\1\1\1\1", 14);
const ForgedPng two_by_two{.width = 2, .height = 2};

TEST(PngRows, AreTheStoredValues) {
  const test::TemporaryDirectory directory;
  test::put_file(directory / "rows.png", forged_png(two_by_two, two_rows));
  const Array expected{
      {2, 2, 3},
      std::vector<std::uint8_t>{'a', 'b', 'c', 'd', 'e', 'f', 'b', 'c', 'd', 'e', 'f', 'g'},
      Order::c};
  EXPECT_EQ(read_png_rows(directory / "rows.png"), expected);
}

TEST(PngRows, MayBeGrey) {
  const std::string bytes =
      forged_png({.width = 3, .height = 1, .colour = 0}, std::string("\1\1\1\1", 4));
  EXPECT_EQ(parse_png_rows(bytes, "grey"),
            (Array{{1, 3, 1}, std::vector<std::uint8_t>{1, 2, 3}, Order::c}));
}

TEST(PngRows, GammaDoesNotChangeThem) {
  ForgedPng with_gamma = two_by_two;
  with_gamma.before_data = test::png_chunk("gAMA", test::big_endian(20000)) +
                           test::png_chunk("tEXt", std::string("a\0b", 3));
  EXPECT_EQ(parse_png_rows(forged_png(with_gamma, two_rows), "a"),
            parse_png_rows(forged_png(two_by_two, two_rows), "b"));
}

TEST(PngRows, RefuseEverythingElseByName) {
  const std::string good = forged_png(two_by_two, two_rows);
  std::string flipped = good;
  flipped[50] = static_cast<char>(flipped[50] ^ 1);
  ForgedPng palette = two_by_two;
  palette.colour = 3;
  palette.before_data = test::png_chunk("PLTE", "abcdef");
  const struct {
    const char* what;
    std::string bytes;
    const char* says;
  } cases[] = {
      {"empty", "", "stops early"},
      {"text", "label,pixel1\nmore and more text", "no intact PNG"},
      {"cut", good.substr(0, good.size() - 1), "stops early"},
      {"flipped bit", flipped, "no intact PNG"},
      {"bytes behind", good + "xy", "2 bytes after the PNG"},
      {"16 bits", forged_png({.depth = 16}, std::string(7, '\0')), "colour type 2, 16 bits"},
      {"palette", forged_png(palette, std::string("\0ab\0cd", 6)), "colour type 3"},
      {"alpha", forged_png({.colour = 6}, std::string(5, '\0')), "colour type 6"},
      {"interlaced", forged_png({.interlace = 1}, std::string(4, '\0')), "interlaced"},
      {"missing rows", forged_png({.width = 2, .height = 3}, two_rows), "no intact PNG"},
      {"extra rows", forged_png({.width = 2, .height = 1}, two_rows), "no intact PNG"},
      {"two billion rows", forged_png({.width = 2, .height = 0x7fffffff}, two_rows),
       "no intact PNG"},
      {"a row of two billion", forged_png({.width = 0x7fffffff, .height = 1}, two_rows),
       "no intact PNG"},
      {"no pixels", forged_png({.width = 0, .height = 1}, ""), "no intact PNG"},
  };
  for (const auto& [what, bytes, says] : cases) {
    const std::string message = refusal([&] { parse_png_rows(bytes, "batch.png"); });
    EXPECT_THAT(message, HasSubstr("batch.png: found")) << what;
    EXPECT_THAT(message, HasSubstr(says)) << what;
  }
}

}  // namespace
}  // namespace symport::lab
