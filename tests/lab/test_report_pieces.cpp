// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "lab/report/contours.hpp"
#include "lab/report/decimation.hpp"
#include "lab/report/page.hpp"
#include "lab/report/scale.hpp"
#include "lab/report/svg.hpp"
#include "lab/runs/run_reader.hpp"
#include "lab/text/errors.hpp"
#include "support/not_finite.hpp"
#include "symport/core/version.hpp"

namespace symport::lab::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  const Grid half =
      sample([](Point p) { return p.x > 0.0 ? infinity : circle(p); }, unit_box, 21, 21);
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
    double nearest = infinity;
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
  std::vector<double> low(600, infinity), high(600, -infinity), drawn_low = low, drawn_high = high;
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

/// A long noisy curve with a spike, a gap and teleports.
CurveFigure long_curve(std::size_t count) {
  Series series{.name = "long", .x = {{}, {}}};
  for (std::size_t i = 0; i < count; ++i) {
    const auto t = static_cast<double>(i);
    series.x[0].push_back(t);
    series.x[1].push_back(1e-3 * t);
    series.y.push_back(std::sin(1e-3 * t) + 0.1 * std::sin(123.0 * t));
    series.lower.push_back(series.y.back() - 1.0);
    series.upper.push_back(series.y.back() + 1.0);
  }
  series.y[count / 2] = 50.0;
  series.upper[count / 3] = 70.0;
  series.y[count / 5] = std::nan("");
  series.teleports = {0, 1234, count - 1};
  CurveFigure figure;
  figure.series = {series};
  return figure;
}

TEST(Thin, KeepsWhatCanBeSeenOfALongCurve) {
  const CurveFigure whole = long_curve(100'000);
  CurveFigure figure = whole;
  thin(figure);
  const Series &long_one = whole.series[0], &series = figure.series[0];
  ASSERT_LE(series.y.size(), 4100u);
  ASSERT_GE(series.y.size(), 1000u);
  for (const auto* column : {&series.x[0], &series.x[1], &series.lower, &series.upper}) {
    ASSERT_EQ(column->size(), series.y.size());
  }
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    const auto row = static_cast<std::size_t>(series.x[0][i]);
    if (!std::isnan(long_one.y[row])) {
      EXPECT_EQ(series.y[i], long_one.y[row]);
    }
    EXPECT_EQ(series.upper[i], long_one.upper[row]);
  }
  EXPECT_EQ(series.x[0].front(), 0.0);
  EXPECT_EQ(series.x[0].back(), 99'999.0);
  EXPECT_EQ(*std::max_element(series.upper.begin(), series.upper.end()), 70.0);
  EXPECT_THAT(series.y, ::testing::Contains(50.0));
  EXPECT_THAT(series.y, ::testing::Contains(::testing::IsNan()));
  ASSERT_EQ(series.teleports.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(series.x[0][series.teleports[i]], long_one.x[0][long_one.teleports[i]]);
  }
  // In every thousandth of the axis the curve has the extremes that it had.
  for (std::size_t part = 0; part < 100; ++part) {
    double low = 1e9, high = -1e9, whole_low = 1e9, whole_high = -1e9;
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      if (static_cast<std::size_t>(series.x[0][i]) / 1000 != part) continue;
      low = std::fmin(low, series.y[i]), high = std::fmax(high, series.y[i]);
    }
    for (std::size_t row = 1000 * part; row < 1000 * (part + 1); ++row) {
      whole_low = std::fmin(whole_low, long_one.y[row]);
      whole_high = std::fmax(whole_high, long_one.y[row]);
    }
    EXPECT_NEAR(low, whole_low, 0.02) << part;
    EXPECT_NEAR(high, whole_high, 0.02) << part;
  }
  EXPECT_THAT(figure.note, HasSubstr("of 100000 points"));
}

TEST(Thin, LeavesShortCurvesAloneAndBoundsManyTeleports) {
  CurveFigure figure = long_curve(4000);
  thin(figure);
  EXPECT_EQ(figure.series[0].y.size(), 4000u);
  EXPECT_EQ(figure.note, "");
  figure = long_curve(50'000);
  figure.series[0].teleports.resize(50'000);
  std::iota(figure.series[0].teleports.begin(), figure.series[0].teleports.end(), 0u);
  thin(figure);
  EXPECT_LE(figure.series[0].y.size(), 4100u);
  EXPECT_EQ(figure.series[0].teleports.size(), figure.series[0].y.size());
}

TEST(Thin, KeepsBothFramesOfAJump) {
  for (const std::size_t every : {5'000, 3}) {
    Trajectory way;
    for (std::size_t i = 0; i < 60'000; ++i) {
      const bool jumps = i % every == 1;
      way.kind.push_back(jumps            ? Frame::before_teleport
                         : i % every == 2 ? Frame::after_teleport
                                          : Frame::step);
      const auto t = static_cast<double>(i);
      way.step.push_back(t);
      way.x.push_back(std::cos(1e-4 * t));
      way.y.push_back(std::sin(1e-4 * t));
      way.loss.push_back(1.0 / (1.0 + t));
    }
    LevelSetFigure figure;
    figure.trajectories = {way};
    thin(figure);
    const Trajectory& thinned = figure.trajectories[0];
    ASSERT_LE(thinned.x.size(), 8'000u);
    ASSERT_EQ(thinned.kind.size(), thinned.x.size());
    std::size_t jumps = 0;
    for (std::size_t i = 0; i < thinned.kind.size(); ++i) {
      if (thinned.kind[i] == Frame::after_teleport) {
        ++jumps;
        EXPECT_EQ(thinned.kind[i - 1], Frame::before_teleport);
      }
    }
    if (every == 5'000) {
      EXPECT_EQ(jumps, 12u);
    }
  }
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
  EXPECT_TRUE(std::isnan(logarithmic(infinity)));
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
