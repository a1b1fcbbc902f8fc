// SPDX-License-Identifier: MIT
#include "symport/training/trace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

namespace symport {
namespace {

std::vector<std::vector<std::string>> cells(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

TEST(Trace, IsWrittenSoThatTheSameDoublesAreReadBack) {
  Trace trace;
  trace.rows = {
      {.step = 0, .loss = 1.0 / 3.0, .grad_sq = 2e-300, .learning_rate = 1e-3, .evaluations = 1.0},
      {.step = 1,
       .loss = 0.1,
       .grad_sq = 7.0,
       .learning_rate = 1e-3,
       .evaluations = 12.5,
       .seconds = 0.25,
       .teleported = true}};
  trace.points = {Vector{{1.0 / 7.0, -0.0}}, Vector{{1e308, 5e-324}}};
  std::ostringstream out;
  write_csv(trace, out);
  const auto rows = cells(out.str());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0],
            (std::vector<std::string>{"step", "loss", "grad_sq", "learning_rate", "evaluations",
                                      "seconds", "teleported", "x1", "x2"}));
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& row = rows[i + 1];
    EXPECT_EQ(std::stol(row[0]), trace.rows[i].step);
    EXPECT_EQ(std::strtod(row[1].c_str(), nullptr), trace.rows[i].loss);
    EXPECT_EQ(std::strtod(row[2].c_str(), nullptr), trace.rows[i].grad_sq);
    EXPECT_EQ(std::strtod(row[3].c_str(), nullptr), trace.rows[i].learning_rate);
    EXPECT_EQ(std::strtod(row[4].c_str(), nullptr), trace.rows[i].evaluations);
    EXPECT_EQ(row[6], trace.rows[i].teleported ? "1" : "0");
    for (Index k = 0; k < 2; ++k) {
      EXPECT_EQ(std::strtod(row[static_cast<std::size_t>(7 + k)].c_str(), nullptr),
                trace.points[i][k]);
    }
  }
}

TEST(Trace, WritesNonFiniteNumbersAsWords) {
  const double infinity = std::numeric_limits<double>::infinity();
  Trace trace;
  trace.rows = {{.step = 0, .loss = std::nan(""), .grad_sq = infinity},
                {.step = 1, .loss = -infinity}};
  std::ostringstream out;
  write_csv(trace, out);
  const auto rows = cells(out.str());
  EXPECT_EQ(rows[1][1], "nan");
  EXPECT_EQ(rows[1][2], "inf");
  EXPECT_EQ(rows[2][1], "-inf");
}

TEST(Trace, HasNoCoordinateColumnsWithoutPoints) {
  Trace trace;
  trace.rows = {{.loss = 1.0}};
  std::ostringstream out;
  write_csv(trace, out);
  EXPECT_EQ(cells(out.str())[0].size(), 7u);
}

TEST(Trace, OfTrainingHasItsOwnColumns) {
  Trace trace;
  trace.rows = {{.step = 40,
                 .epoch = 2,
                 .loss = 0.5,
                 .grad_sq = 4.0,
                 .learning_rate = 0.25,
                 .evaluations = 44.5,
                 .seconds = 1.5,
                 .teleported = true,
                 .valid_loss = 0.75}};
  const auto csv = [&](RowUnit unit) {
    trace.unit = unit;
    std::ostringstream out;
    write_csv(trace, out, TraceLayout::training);
    return out.str();
  };
  EXPECT_EQ(csv(RowUnit::step),
            "step,train_loss,valid_loss,valid_accuracy,grad_sq,learning_rate,evaluations,seconds,"
            "teleported\n"
            "40,0.5,0.75,nan,4,0.25,44.5,1.500000000,1\n");
  EXPECT_EQ(csv(RowUnit::epoch),
            "epoch,train_loss,valid_loss,valid_accuracy,grad_sq,learning_rate,evaluations,seconds,"
            "teleported,step\n"
            "2,0.5,0.75,nan,4,0.25,44.5,1.500000000,1,40\n");
}

}  // namespace
}  // namespace symport
