// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "cli/command_line.hpp"
#include "lab/text/errors.hpp"
#include "lab/text/parse_numbers.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/core/invalid_argument.hpp"
#include "terminal/text_table.hpp"

namespace symport::cli {
namespace {

TEST(NearestName, FindsWhatWasProbablyMeant) {
  const std::vector<std::string> names{"gd", "momentum", "adam", "adamw", "adagrad"};
  EXPECT_EQ(nearest_name("adma", names), "adam");
  EXPECT_EQ(nearest_name("gdd", names), "gd");
  EXPECT_EQ(nearest_name("mometnum", names), "momentum");
  EXPECT_EQ(nearest_name("mom", names), "momentum") << "the only one that begins so";
  EXPECT_EQ(nearest_name("ada", names), "adam");
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

TEST(CommandLine, JoinsValuesToTheirFlags) {
  using Words = std::vector<std::string>;
  const Words flags{"--start", "--lr"};
  const auto joined = [&](const Words& words) { return join_values(words, flags); };
  EXPECT_EQ(joined({"--start", "-1,-1", "--json"}), (Words{"--start=-1,-1", "--json"}));
  EXPECT_EQ(joined({"x", "--lr", "-.5", "y"}), (Words{"x", "--lr=-.5", "y"}));
  EXPECT_EQ(joined({"--lr", "-inf"}), (Words{"--lr=-inf"}));
  EXPECT_EQ(joined({"--lr", "a=b"}), (Words{"--lr=a=b"}));
  for (const Words& same : {Words{"--json", "-1"}, Words{"--lr=--json"}, Words{}}) {
    EXPECT_EQ(joined(same), same);
  }
  for (const Words& incomplete : {Words{"--lr"}, Words{"--lr", "--json"}, Words{"--lr", "-h"},
                                  Words{"--lr", ""}, Words{"--lr="}, Words{"--lr", "-"}}) {
    EXPECT_THROW(joined(incomplete), UsageError);
  }
}

TEST(TextTable, AlignsColumnsWithoutTrailingBlanks) {
  TextTable table({{"name", TextTable::Align::left}, {"x"}, {"note", TextTable::Align::left}});
  table.add({"a", "1"});
  table.add_gap();
  table.add({"long name", "-10", "end"});
  EXPECT_EQ(table.text(Style(false)),
            "name         x  note\n"
            "a            1\n"
            "\n"
            "long name  -10  end\n");
}

}  // namespace
}  // namespace symport::cli
