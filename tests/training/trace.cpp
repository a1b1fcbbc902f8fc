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
  trace.rows = {{0, 1.0 / 3.0, 2e-300, 1e-3, 1.0, 0.0, false}, {1, 0.1, 7.0, 1e-3, 12.5, 0.25, true}};
  trace.points = {Vector{{1.0 / 7.0, -0.0}}, Vector{{1e308, 5e-324}}};
  std::ostringstream out;
  write_csv(trace, out);
  const auto rows = cells(out.str());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], (std::vector<std::string>{"step", "loss", "grad_sq", "learning_rate",
                                               "evaluations", "seconds", "teleported", "x1", "x2"}));
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
  trace.rows = {{0, std::nan(""), infinity, 1e-3, 1.0, 0.0, false}, {1, -infinity, 0.0, 1.0, 2.0, 0.0, false}};
  std::ostringstream out;
  write_csv(trace, out);
  const auto rows = cells(out.str());
  EXPECT_EQ(rows[1][1], "nan");
  EXPECT_EQ(rows[1][2], "inf");
  EXPECT_EQ(rows[2][1], "-inf");
}

TEST(Trace, HasNoCoordinateColumnsWithoutPoints) {
  Trace trace;
  trace.rows = {{0, 1.0, 1.0, 1.0, 1.0, 0.0, false}};
  std::ostringstream out;
  write_csv(trace, out);
  EXPECT_EQ(cells(out.str())[0].size(), 7u);
}

}  // namespace
}  // namespace symport
