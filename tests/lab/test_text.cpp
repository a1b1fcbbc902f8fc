// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "lab/text/parse_numbers.hpp"
#include "lab/text/suggestion.hpp"
#include "lab/text/utf8.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::lab {
namespace {

TEST(NearestName, FindsWhatWasProbablyMeant) {
  const std::vector<std::string> names{"gd", "momentum", "adam", "adamw", "adagrad"};
  EXPECT_EQ(nearest_name("adma", names), "adam");
  EXPECT_EQ(nearest_name("gdd", names), "gd");
  EXPECT_EQ(nearest_name("mometnum", names), "momentum");
  EXPECT_EQ(nearest_name("mom", names), "momentum") << "the only one that begins so";
  EXPECT_EQ(nearest_name("ada", names), "adam");
  EXPECT_EQ(nearest_name("--tele", {"--test", "--teleport-batches", "--teleport", "--help"}),
            "--teleport")
      << "a word cut short, not the nearest by letters";
  EXPECT_EQ(nearest_name("sgd_with_bells", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'a'), names), "");
}

TEST(ParseNumbers, ReadsWholeTextsOnly) {
  EXPECT_EQ(parse_number(" -1.5e-3 "), -1.5e-3);
  EXPECT_EQ(parse_number("+2"), 2.0);
  EXPECT_EQ(parse_number("4.9406564584124654e-324"), 4.9406564584124654e-324);
  for (const char* bad : {"", " ", "+", "-", "1x", "x", "0x10", "1e999", "1e-999", "nan", "inf",
                          "1 2", "+-1", "++1", "1,2"}) {
    EXPECT_THROW(parse_number(bad), InvalidArgument) << bad;
  }
  EXPECT_EQ(parse_list("-1, 2,3e0"), (std::vector<double>{-1, 2, 3}));
  for (const char* bad : {"", ",", "1,", ",1", "1,,2", "1;2", "1,inf"}) {
    EXPECT_THROW(parse_list(bad), InvalidArgument) << bad;
  }
  EXPECT_TRUE(std::isinf(parse_bound("inf")));
  for (const char* bad : {"0", "-inf", "nan", ""}) {
    EXPECT_THROW(parse_bound(bad), InvalidArgument) << bad;
  }
}

TEST(ParseNumbers, WholeNumbersStayWhole) {
  EXPECT_EQ(parse_whole("9223372036854775807"), 9223372036854775807);
  EXPECT_EQ(parse_whole("1e6"), 1000000);
  EXPECT_EQ(parse_whole("7", 1, 7), 7);
  for (const char* bad : {"9223372036854775808", "1e16", "1.5", "-1", "8", "nan", "inf", ""}) {
    EXPECT_THROW(parse_whole(bad, 0, 7), InvalidArgument) << bad;
  }
  EXPECT_EQ(parse_seed("18446744073709551615"), 18446744073709551615u);
  for (const char* bad : {"18446744073709551616", "-1", "1.0", ""}) {
    EXPECT_THROW(parse_seed(bad), InvalidArgument) << bad;
  }
}

TEST(ParseNumbers, ExactTextReadsBackTheSame) {
  for (const double value : {0.1, 1e-300, 1.0 / 3.0, 1e22, -0.0, 5e-324, 123456789.123456789}) {
    const double back = parse_number(exact_text(value));
    EXPECT_EQ(back, value);
    EXPECT_EQ(std::signbit(back), std::signbit(value));
  }
}

TEST(Utf8, OnlyShortestFormsOfCharactersCount) {
  for (const char* good : {"", "run", "\u00e9", "\u2207L \u00bd", "\U0001f600"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  // A stray byte, one missing, an overlong form, a surrogate, beyond U+10FFFF.
  for (const char* bad : {"\xff", "a\x80", "\xe2\x82", "\xc0\xbc", "\xe0\x9f\xbf", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"}) {
    EXPECT_FALSE(is_utf8(bad)) << bad;
  }
  EXPECT_EQ(utf8_length("\u2207L"), 3u);
}

}  // namespace
}  // namespace symport::lab
