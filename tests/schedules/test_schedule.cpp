// SPDX-License-Identifier: MIT
#include "symport/schedules/schedule.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "symport/core/invalid_argument.hpp"

namespace symport {
namespace {

using ::testing::HasSubstr;

struct Row {
  std::string text;
  std::string printed;  ///< the canonical form
  std::function<bool(Index)> contains;
};

std::vector<Row> grammar() {
  return {
      {"never", "never", [](Index) { return false; }},
      {"5", "5", [](Index t) { return t == 5; }},
      {"0", "0", [](Index t) { return t == 0; }},
      {"0,10,20", "0,10,20", [](Index t) { return t == 0 || t == 10 || t == 20; }},
      {"20,0,20", "20,0,20", [](Index t) { return t == 0 || t == 20; }},
      {"0..40:10", "0..40:10", [](Index t) { return t <= 40 && t % 10 == 0; }},
      {"0..45:10", "0..45:10", [](Index t) { return t <= 40 && t % 10 == 0; }},
      {"3..6", "3..6", [](Index t) { return t >= 3 && t <= 6; }},
      {"3..6:1", "3..6", [](Index t) { return t >= 3 && t <= 6; }},
      {"7..7", "7", [](Index t) { return t == 7; }},
      {"every:100", "every:100", [](Index t) { return t % 100 == 0; }},
      {"every:1", "every:1", [](Index) { return true; }},
      {"every:100+99", "every:100+99", [](Index t) { return t % 100 == 99; }},
      {"every:3+10", "every:3+10", [](Index t) { return t >= 10 && (t - 10) % 3 == 0; }},
      {"every:100+0", "every:100", [](Index t) { return t % 100 == 0; }},
      {"1,every:50+7,20..22", "1,every:50+7,20..22",
       [](Index t) { return t == 1 || t % 50 == 7 || (t >= 20 && t <= 22); }},
  };
}

TEST(Schedule, ContainsWhatItsGrammarSays) {
  for (const Row& row : grammar()) {
    const Schedule schedule = Schedule::parse(row.text);
    for (Index t = 0; t < 1000; ++t) {
      ASSERT_EQ(schedule.contains(t), row.contains(t)) << row.text << " at " << t;
      std::optional<Index> next;
      for (Index later = t + 1; later < 2000 && !next; ++later) {
        if (row.contains(later)) next = later;
      }
      ASSERT_EQ(schedule.next_after(t), next) << row.text << " after " << t;
    }
    EXPECT_FALSE(schedule.contains(-1)) << row.text;
    EXPECT_EQ(schedule.empty(), row.text == "never");
  }
}

TEST(Schedule, PrintsWhatParseReadsBack) {
  for (const Row& row : grammar()) {
    const std::string printed = Schedule::parse(row.text).to_string();
    EXPECT_EQ(printed, row.printed);
    const Schedule again = Schedule::parse(printed);
    EXPECT_EQ(again.to_string(), printed);
    for (Index t = 0; t < 1000; ++t) ASSERT_EQ(again.contains(t), row.contains(t)) << row.text;
  }
}

TEST(Schedule, ReachesFarSteps) {
  EXPECT_TRUE(Schedule::parse("every:1000000007").contains(Index{1000000007} * 1000000));
  EXPECT_TRUE(Schedule::parse("9000000000000000000").contains(Index{9000000000000000000}));
}

struct Malformed {
  std::string text;
  int character;  ///< where the message points, from 1
};

TEST(Schedule, PointsAtTheFirstWrongCharacter) {
  const std::vector<Malformed> table = {
      {"", 1},           {"x", 1},         {"-5", 1},
      {"5,", 3},         {",5", 1},        {"5,,6", 3},
      {"5 ", 2},         {" 5", 1},        {"5;6", 2},
      {"1.5", 2},        {"every", 1},     {"every:", 7},
      {"every:0", 7},    {"every:-3", 7},  {"every:3+", 9},
      {"every:3+-1", 9}, {"every:3-1", 8}, {"Every:3", 1},
      {"0..", 4},        {"5..3", 4},      {"0..9:", 6},
      {"0..9:0", 6},     {"0...9", 4},     {"nevermore", 1},
      {"never,5", 1},    {"5,never", 3},   {"99999999999999999999", 1},
      {"1,2,3x", 6},     {"+5", 1},
  };
  for (const Malformed& row : table) {
    try {
      Schedule::parse(row.text);
      ADD_FAILURE() << "'" << row.text << "' was read";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.field(), "schedule");
      EXPECT_THAT(error.what(), HasSubstr("'" + row.text + "'"));
      EXPECT_THAT(error.what(), HasSubstr("at character " + std::to_string(row.character) + ")"))
          << row.text;
      // The last line puts a caret under that character.
      const std::string message = error.what();
      const std::string last = message.substr(message.rfind('\n') + 1);
      EXPECT_EQ(last, std::string(static_cast<std::size_t>(row.character) + 1, ' ') + "^")
          << row.text;
    }
  }
}

TEST(Schedule, IsMadeFromNumbersToo) {
  EXPECT_EQ(every(100).to_string(), "every:100");
  EXPECT_EQ(every(100, 99).to_string(), "every:100+99");
  EXPECT_EQ(at({4, 8}).to_string(), "4,8");
  EXPECT_EQ(at({}).to_string(), "never");
  EXPECT_TRUE(at({}).empty());
  EXPECT_TRUE(never().empty());
  EXPECT_TRUE(Schedule().empty());
  EXPECT_THROW(every(0), InvalidArgument);
  EXPECT_THROW(every(10, -1), InvalidArgument);
  EXPECT_THROW(at({3, -1}), InvalidArgument);
}

}  // namespace
}  // namespace symport
