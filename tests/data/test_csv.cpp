// SPDX-License-Identifier: MIT
#include "symport/data/csv.hpp"

#include <gtest/gtest.h>

#include "support/refusal.hpp"
#include "support/temporary_directory.hpp"

namespace symport {
namespace {

using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Csv, ReadsNamesAndNumbers) {
  const test::TemporaryDirectory directory;
  test::put_file(directory / "t.csv", "a,b,label\n1,-2.5,0\n1e-3,+4,2\n");
  const CsvTable table = read_csv(directory / "t.csv");
  EXPECT_THAT(table.columns, ElementsAre("a", "b", "label"));
  EXPECT_EQ(table.values, (Matrix{{1, -2.5, 0}, {1e-3, 4, 2}}));
}

TEST(Csv, ReadsTheFormsThatPeopleHave) {
  const Matrix values{{1, 2}, {3, 4}};
  for (const char* text : {
           "a,b\n1,2\n3,4",
           "a,b\r\n1,2\r\n3,4\r\n",
           "\"a\",\"b\"\n\"1\",2\n3,\"4\"\n",
           "\xef\xbb\xbf a , b \n 1,2 \n\t3 ,\" 4 \" \n",
       }) {
    const CsvTable table = parse_csv(text, "t.csv");
    EXPECT_THAT(table.columns, ElementsAre("a", "b")) << text;
    EXPECT_EQ(table.values, values) << text;
  }
  EXPECT_THAT(parse_csv("\"a, b\",c\n1,2\n", "t.csv").columns, ElementsAre("a, b", "c"));
}

TEST(Csv, TakesTheLabelColumnOut) {
  const CsvTable table = parse_csv("a,label,b\n1,2,3\n4,0,6\n", "t.csv");
  const SampleSet<> samples = samples_from_csv(table, "label", "t.csv", {.count = 3});
  EXPECT_EQ(samples.X, (Matrix{{1, 4}, {3, 6}}));
  EXPECT_THAT(samples.classes, ElementsAre(2, 0));
  EXPECT_EQ(samples_from_csv(table, "b", "t.csv").X, (Matrix{{1, 4}, {2, 0}}));
}

TEST(Csv, ClassesMayBeWords) {
  const char* text = "a,species,b\n1,virginica,3\n4,setosa,6\n7,virginica,9\n";
  const CsvTable table = parse_csv(text, "t.csv", "species");
  const SampleSet<> samples = samples_from_csv(table, "species", "t.csv");
  EXPECT_EQ(samples.X, (Matrix{{1, 4, 7}, {3, 6, 9}}));
  EXPECT_THAT(samples.classes, ElementsAre(1, 0, 1));
  EXPECT_THAT(samples.class_names, ElementsAre("setosa", "virginica"));
  // A second set has the numbers of the first.
  const CsvTable other = parse_csv("a,species,b\n1,setosa,3\n", "u.csv", "species");
  EXPECT_THAT(samples_from_csv(other, "species", "u.csv", {}, {"virginica", "setosa"}).classes,
              ElementsAre(1));
  EXPECT_THAT(
      refusal([&] { samples_from_csv(other, "species", "u.csv", {}, {"virginica"}); }),
      HasSubstr("u.csv, line 2: found the class \"setosa\", allowed is one of \"virginica\""));
  EXPECT_THAT(refusal([&] { parse_csv(text, "t.csv"); }), HasSubstr("found \"virginica\""));
  EXPECT_THAT(refusal([&] { parse_csv("a,s\n1,\n", "t.csv", "s"); }), HasSubstr("no value"));
}

TEST(Csv, AColumnMayBeWhatIsPredicted) {
  const CsvTable table = parse_csv("a,price,b\n1,2.5,3\n4,-1,6\n", "t.csv");
  const SampleSet<> samples = regression_from_csv(table, "price", "t.csv");
  EXPECT_EQ(samples.X, (Matrix{{1, 4}, {3, 6}}));
  EXPECT_EQ(samples.Y, (Matrix{{2.5, -1}}));
  EXPECT_TRUE(samples.classes.empty());
  EXPECT_THAT(refusal([&] { regression_from_csv(table, "cost", "t.csv"); }),
              HasSubstr("no column \"cost\""));
}

TEST(Csv, RefusesEverythingElseByFileAndLine) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"", "t.csv: found an empty file"},
      {"a,b\n", "t.csv: found no lines of numbers"},
      {"a,b\n1,2\n3\n", "t.csv, line 3: found 1 fields, allowed is 2"},
      {"a,b\n1,2,3\n", "t.csv, line 2: found 3 fields"},
      {"a,b\n1,2\n\n3,4\n", "t.csv, line 3: found a blank line"},
      {"a,b\n1,2\n\n", "t.csv, line 3: found a blank line"},
      {"\na,b\n1,2\n", "t.csv, line 1: found a blank line"},
      {"a,b\n1,x\n", "line 2: found \"x\" in column \"b\""},
      {"a,b\n1,\n", "line 2: found no value in column \"b\""},
      {"a,b\n1,nan\n", "found \"nan\""},
      {"a,b\n1,inf\n", "found \"inf\""},
      {"a,b\n1,1e999\n", "found \"1e999\""},
      {"a,b\n1,0x10\n", "found \"0x10\""},
      {"a,b\n1,1 2\n", "found \"1 2\""},
      {"a,b\n1,+-2\n", "found \"+-2\""},
      {"a,b\n1,++2\n", "found \"++2\""},
      {"a;b\n1;2\n",
       "line 1: found columns separated by ';', allowed is columns separated by commas"},
      {"a\tb\n1\t2\n", "line 1: found columns separated by tabs"},
      {"1,2\n3,4\n", "line 1: found numbers, allowed is a line of column names above them"},
      {"a,b\n1,2\xc2\xa0\n", "found \"2\\xc2\\xa0\""},
      {"a,a\n1,2\n", "line 1: found the column name \"a\" twice"},
      {"a,\n1,2\n", "line 1: found no name for column 2"},
      {"a,b\n\"1,2\n", "line 2: found a quote that is not closed"},
      {"a,b\n\"1\"2,3\n", "line 2: found text after the quoted field"},
      {"a,b\n1\",3\n", "line 2: found a quote inside the field"},
      {"a,b\n1,\x1b[2J\n", "found \"\\x1b[2J\""},
  };
  for (const auto& [text, says] : cases) {
    EXPECT_THAT(refusal([&] { parse_csv(text, "t.csv"); }), HasSubstr(says)) << text;
  }
  EXPECT_THAT(refusal([] { parse_csv("a,species\n1,setosa\n", "t.csv", "Species"); }),
              HasSubstr("found no column \"Species\", allowed is one of \"a\", \"species\""));
  const std::string zero("a,b\n1,2\0\n", 9);
  EXPECT_THAT(refusal([&] { parse_csv(zero, "t.csv"); }), HasSubstr("\"2\\x00\""));
}

TEST(Csv, RefusesLabelsThatAreNoClasses) {
  const auto message = [](const char* text, const char* label, Index count) {
    return refusal(
        [&] { samples_from_csv(parse_csv(text, "t.csv"), label, "t.csv", {.count = count}); });
  };
  EXPECT_THAT(message("a,b\n1,2\n", "label", 0),
              HasSubstr("t.csv: found no column \"label\", allowed is one of \"a\", \"b\""));
  EXPECT_THAT(message("a\n1\n", "a", 0), HasSubstr("at least one feature"));
  EXPECT_THAT(message("a,y\n1,1\n1,1.5\n", "y", 0), HasSubstr("t.csv, line 3: found 1.5"));
  EXPECT_THAT(message("a,y\n1,-1\n", "y", 3), HasSubstr("t.csv, line 2: found -1"));
  EXPECT_THAT(message("a,y\n1,3\n", "y", 3), HasSubstr("a class, 0 to 2"));
  EXPECT_THAT(message("a,y\n1,1e300\n", "y", 0), HasSubstr("a whole number or a word"));
  // 2^40 is class 0 when cut to 32 bits.
  EXPECT_THAT(message("a,y\n1,1099511627776\n", "y", 0), HasSubstr("a whole number or a word"));
}

TEST(Csv, NumbersThatAreNotFromZeroUpAreNames) {
  const auto samples = [](const char* text, const ClassRange& range = {},
                          const std::vector<std::string>& names = {}) {
    return samples_from_csv(parse_csv(text, "t.csv", "y"), "y", "t.csv", range, names);
  };
  const SampleSet<> from_one = samples("a,y\n1,3\n1,1\n1,2\n1,10\n");
  EXPECT_THAT(from_one.classes, ElementsAre(2, 0, 1, 3));
  EXPECT_THAT(from_one.class_names, ElementsAre("1", "2", "3", "10"));
  const SampleSet<> signs = samples("a,y\n1,1\n1,-1\n");
  EXPECT_THAT(signs.classes, ElementsAre(1, 0));
  EXPECT_THAT(signs.class_names, ElementsAre("-1", "1"));
  EXPECT_THAT(samples("a,y\n1,0\n1,2\n").classes, ElementsAre(0, 1));
  // 0, ..., K - 1 need no names, and neither do the classes of a network that is there.
  const SampleSet<> from_zero = samples("a,y\n1,1\n1,0\n");
  EXPECT_THAT(from_zero.classes, ElementsAre(1, 0));
  EXPECT_TRUE(from_zero.class_names.empty());
  EXPECT_THAT(samples("a,y\n1,2\n", {.count = 3}).classes, ElementsAre(2));
  // Those of another table, however they are written.
  EXPECT_THAT(samples("a,y\n1,3.0\n1,+10\n", {}, from_one.class_names).classes, ElementsAre(2, 3));
}

TEST(Csv, ColumnsMayBeIgnored) {
  const std::string text = "id,a,street,y\nx1,1,High Street,2\nx2,3,,4\n";
  const CsvTable table = parse_csv(text, "t.csv", "", {"street", "id"});
  EXPECT_THAT(table.columns, ElementsAre("a", "y"));
  EXPECT_EQ(table.values, (Matrix{{1, 2}, {3, 4}}));
  EXPECT_THAT(refusal([&] { parse_csv(text, "t.csv", "", {"road"}); }),
              HasSubstr("t.csv: found no column \"road\""));
  EXPECT_THAT(refusal([&] {
                parse_csv(text, "t.csv", "y", {"id", "street", "y"});
              }),
              HasSubstr("found no column \"y\", allowed is one of \"a\""));
}

}  // namespace
}  // namespace symport
