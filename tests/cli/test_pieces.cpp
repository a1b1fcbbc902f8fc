// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cli/command_line.hpp"
#include "lab/text/errors.hpp"
#include "symport/core/invalid_argument.hpp"
#include "terminal/terminal.hpp"
#include "terminal/text_table.hpp"

namespace symport::cli {
namespace {

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
    EXPECT_THROW(joined(incomplete), lab::UsageError);
  }
}

TEST(Harmless, ShowsControlCharactersAndKeepsTheRest) {
  for (const char* text : {"", "plain\ttext\n", "\033[1mbold\033[0m", "\033[38;5;1mred",
                           "\u2212dL/dt, \u00e4, \U0001f600"}) {
    EXPECT_EQ(harmless(text), text);
  }
  const std::pair<std::string, std::string> shown[] = {{"a\033]0;x\007", "a\\u001b]0;x\\u0007"},
                                                       {"\033[2J", "\\u001b[2J"},
                                                       {"\033[1", "\\u001b[1"},
                                                       {"\r", "\\u000d"},
                                                       {std::string(1, '\0'), "\\u0000"},
                                                       {"\x7f", "\\u007f"},
                                                       {"\u009b", "\\u009b"},
                                                       {"\x9b", "\\u009b"},
                                                       {"\xc2"
                                                        "A",
                                                        "\\u00c2A"},
                                                       {"\xe2\x88", "\\u00e2\\u0088"}};
  for (const auto& [text, expected] : shown) EXPECT_EQ(harmless(text), expected);
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
