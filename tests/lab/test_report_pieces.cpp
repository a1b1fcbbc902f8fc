// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "lab/report/contours.hpp"
#include "lab/report/decimation.hpp"
#include "lab/report/page.hpp"
#include "lab/report/scale.hpp"
#include "lab/report/svg.hpp"
#include "lab/runs/run_reader.hpp"
#include "lab/text/errors.hpp"
#include "symport/core/version.hpp"

namespace symport::lab::report {
namespace {

using ::testing::ElementsAre;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

const Box unit_box{{-1.0, -1.0}, {1.0, 1.0}};

double circle(Point p) { return p.x * p.x + p.y * p.y; }

TEST(Contour, OfACircleIsOneClosedLineOnIt) {
  // Linear interpolation along an edge of length h errs by at most h^2 / 8 in the value.
  for (const std::size_t size : {20u, 41u, 160u}) {
    const Grid grid = sample(circle, unit_box, size, size);
    const double h = 2.0 / static_cast<double>(size - 1);
    const std::vector<Polyline> lines = contour(grid, 0.5);
    ASSERT_EQ(lines.size(), 1u) << size;
    EXPECT_EQ(lines[0].front(), lines[0].back());
    double length = 0.0;
    for (std::size_t i = 0; i < lines[0].size(); ++i) {
      EXPECT_NEAR(circle(lines[0][i]), 0.5, h * h / 2.0);
      if (i > 0) {
        length += std::hypot(lines[0][i].x - lines[0][i - 1].x, lines[0][i].y - lines[0][i - 1].y);
      }
    }
    EXPECT_NEAR(length, 2.0 * std::acos(-1.0) * std::sqrt(0.5), 4.0 * h * h);
  }
}

TEST(Contour, OfALineEndsAtTheBorder) {
  const Grid grid = sample([](Point p) { return p.x + 2.0 * p.y; }, unit_box, 11, 7);
  const std::vector<Polyline> lines = contour(grid, 0.3);
  ASSERT_EQ(lines.size(), 1u);
  for (const Point& p : lines[0]) EXPECT_NEAR(p.x + 2.0 * p.y, 0.3, 1e-12);
  for (const Point& p : {lines[0].front(), lines[0].back()}) {
    EXPECT_TRUE(std::abs(std::abs(p.x) - 1.0) < 1e-12 || std::abs(std::abs(p.y) - 1.0) < 1e-12);
  }
}

TEST(Contour, OfASaddleDoesNotCrossItself) {
  // xy = 0.01 has one branch in each of two quadrants, xy = -0.01 in the others.
  const Grid grid = sample([](Point p) { return p.x * p.y; }, unit_box, 40, 40);
  for (const double level : {0.01, -0.01}) {
    const std::vector<Polyline> lines = contour(grid, level);
    ASSERT_EQ(lines.size(), 2u);
    for (const Polyline& line : lines) {
      for (const Point& p : line) {
        EXPECT_GT(p.x * line.front().x, 0.0);
        EXPECT_GT(p.x * p.y * level, 0.0);
      }
    }
  }
}

TEST(Contour, ASaddleCellIsCutAsItsMeanSays) {
  const auto corner_cut = [](double a, double b) {
    // Corners a at the lower left and upper right, b at the others.
    const Grid grid{{{0, 0}, {1, 1}}, 2, 2, {a, b, b, a}};
    return contour(grid, 0.0);
  };
  for (const auto& [a, b] : {std::pair(3.0, -1.0), std::pair(1.0, -3.0)}) {
    const std::vector<Polyline> lines = corner_cut(a, b);
    ASSERT_EQ(lines.size(), 2u);
    for (const Polyline& line : lines) {
      ASSERT_EQ(line.size(), 2u);
      // The line goes around the corner in whose quarter of the cell its middle lies.
      const double x = (line[0].x + line[1].x) / 2, y = (line[0].y + line[1].y) / 2;
      const bool around_b = (x > 0.5) != (y > 0.5);
      EXPECT_EQ(around_b, a + b > 0.0) << "where the mean is like a, the corners b are cut off";
    }
  }
}

TEST(Contour, LevelsThatAreNotReachedAndCellsThatAreNotFiniteHaveNone) {
  EXPECT_TRUE(contour(sample(circle, unit_box, 10, 10), 3.0).empty());
  const Grid half = sample([](Point p) { return p.x > 0.0 ? inf : circle(p); }, unit_box, 21, 21);
  for (const Polyline& line : contour(half, 0.5)) {
    for (const Point& p : line) EXPECT_LE(p.x, 1e-12);
  }
}

TEST(ContourLevels, AreInEqualRatiosAboveTheMinimum) {
  const Grid grid = sample([](Point p) { return 5.0 + circle(p); }, unit_box, 50, 50);
  const std::vector<double> levels = contour_levels(grid, 5.0, 8);
  ASSERT_EQ(levels.size(), 8u);
  for (std::size_t i = 2; i < levels.size(); ++i) {
    EXPECT_NEAR((levels[i] - 5.0) / (levels[i - 1] - 5.0), (levels[1] - 5.0) / (levels[0] - 5.0),
                1e-9);
  }
  EXPECT_TRUE(contour_levels(Grid{unit_box, 2, 2, {5, 5, 5, 5}}, 5.0, 8).empty());
}

TEST(Simplified, KeepsWithinTheTolerance) {
  Polyline line;
  for (int i = 0; i <= 1000; ++i) line.push_back({i / 100.0, std::sin(i / 100.0)});
  const Polyline few = simplified(line, {1, 1}, 0.01);
  EXPECT_LT(few.size(), 60u);
  EXPECT_EQ(few.front(), line.front());
  EXPECT_EQ(few.back(), line.back());
  for (const Point& p : line) {
    double nearest = inf;
    for (std::size_t i = 1; i < few.size(); ++i) {
      const Point a = few[i - 1], b = few[i];
      if (p.x < a.x || p.x > b.x) continue;
      nearest = std::min(nearest, std::abs(a.y + (b.y - a.y) * (p.x - a.x) / (b.x - a.x) - p.y));
    }
    EXPECT_LE(nearest, 0.015);
  }
}

TEST(PiecesToDraw, KeepEveryColumnsExtremesAndAreFew) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise;
  std::vector<double> x, y;
  for (int i = 0; i < 200000; ++i) {
    x.push_back(600.0 * i / 200000.0);
    y.push_back(noise(random));
  }
  const auto pieces = pieces_to_draw(x, y);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_LE(pieces[0].size(), 4u * 600u);
  EXPECT_TRUE(std::is_sorted(pieces[0].begin(), pieces[0].end()));
  std::vector<double> low(600, inf), high(600, -inf), drawn_low = low, drawn_high = high;
  const auto mark = [&](std::size_t i, auto& lows, auto& highs) {
    const auto column = static_cast<std::size_t>(x[i]);
    lows[column] = std::min(lows[column], y[i]);
    highs[column] = std::max(highs[column], y[i]);
  };
  for (std::size_t i = 0; i < x.size(); ++i) mark(i, low, high);
  for (const std::size_t i : pieces[0]) mark(i, drawn_low, drawn_high);
  EXPECT_EQ(low, drawn_low);
  EXPECT_EQ(high, drawn_high);
}

TEST(PiecesToDraw, BreakWhereThereIsNoNumber) {
  const auto pieces = pieces_to_draw({0, 10, 20, 30, 40}, {1, 2, nan, 4, 5});
  EXPECT_THAT(pieces, ElementsAre(ElementsAre(0u, 1u), ElementsAre(3u, 4u)));
  EXPECT_TRUE(pieces_to_draw({}, {}).empty());
}

TEST(Scale, MapsItsEndsAndHasRoundTicks) {
  const Scale linear(0.0, 1000.0, 50.0, 650.0, false);
  EXPECT_DOUBLE_EQ(linear(250.0), 200.0);
  std::vector<std::string> labels;
  for (const Tick& tick : linear.ticks(6)) labels.push_back(tick.label);
  EXPECT_THAT(labels, ElementsAre("0", "200", "400", "600", "800", "1000"));
  const Scale logarithmic(1e-32, 1e4, 300.0, 0.0, true);
  EXPECT_DOUBLE_EQ(logarithmic(1e-14), 150.0);
  EXPECT_TRUE(std::isnan(logarithmic(0.0)));
  EXPECT_TRUE(std::isnan(logarithmic(inf)));
  labels.clear();
  for (const Tick& tick : logarithmic.ticks(7)) labels.push_back(tick.label);
  EXPECT_THAT(labels, ElementsAre("10⁻³⁰", "10⁻²⁰", "10⁻¹⁰", "1"));
  for (const bool kind : {false, true}) {
    for (const std::vector<double>& values :
         {std::vector<double>{}, {nan}, {3.0}, {0.0}, {1e-310, 1e308}, {2.0, 2.1}}) {
      const Scale scale = Scale::around(values, 0.0, 100.0, kind);
      EXPECT_LT(scale.low(), scale.high());
      EXPECT_NEAR(scale(scale.high()), 100.0, 1e-6);
      EXPECT_GE(scale.ticks(6).size(), 1u);
      EXPECT_LE(scale.ticks(6).size(), 20u);
    }
  }
}

TEST(Escaped, TextStaysText) {
  EXPECT_EQ(escaped("</script><img onerror='x'>&\""),
            "&lt;/script&gt;&lt;img onerror=&#39;x&#39;&gt;&amp;&quot;");
  EXPECT_EQ(escaped("∇L ½"), "∇L ½");
  EXPECT_EQ(escaped("a\xff\xfe\x01z"), "a\ufffd\ufffd\ufffdz");
  EXPECT_EQ(escaped("\xc0\xbc \xed\xa0\x80 \xe2\x82"),
            "\ufffd\ufffd \ufffd\ufffd\ufffd \ufffd\ufffd");
}

TEST(Base64, IsThatOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string("\xff\x00\xfe", 3)), "/wD+");
}

TEST(TableCsv, HasAllDigitsAndQuotesWhatNeedsIt) {
  const Table table{"t", "T", "", {{"name"}, {"n", true}}, {{{"a,\"b\""}, number_cell(0.1 + 0.2)}}};
  EXPECT_EQ(table_csv(table), "name,n\n\"a,\"\"b\"\"\",0.30000000000000004\n");
}

TEST(Versions, FromTheFirstToThisProgramsAreRead) {
  check_version("0.1.0", "v");
  check_version(std::string(version()), "v");
  for (const char* other : {"0.0.9", "999.0.0", "", "one", "1", "-1.2.3"}) {
    EXPECT_THROW(check_version(other, "v"), UsageError) << other;
  }
}

}  // namespace
}  // namespace symport::lab::report
