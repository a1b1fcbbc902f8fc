// SPDX-License-Identifier: MIT
// No goal: how the cost of steps and teleports grows with the batch, the ascent steps and threads,
// beside a model. (Width and depth: figure6.cpp.)
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <symport/symport.hpp>

#include "epoch.hpp"
#include "lab/report/svg.hpp"
#include "parts.hpp"
#include "symport/data/atomic_file.hpp"

namespace symport::benchmarks {

namespace {

using lab::report::Axis;
using lab::report::CurveFigure;
using lab::report::Series;

/// Multiplications and additions of the matrix products in (N1) to (N3), (G5) and (G6) of
/// docs/mathematics/networks.md.
struct Model {
  const Mlp& network;
  double n;

  double width(Index m) const { return static_cast<double>(network.width(m)); }
  double weights(Index m) const { return width(m) * width(m - 1); }

  /// Forward, backward (not through W_1), update.
  double sgd_step() const {
    double sum = 0.0;
    for (Index m = 1; m <= network.layers(); ++m) sum += (m == 1 ? 2.0 : 3.0) * weights(m);
    return 2.0 * n * sum;
  }
  /// W'delta and W R for each of W_2 ... W_p; in hidden layers K, Delta, M, delta K, h Delta, and
  /// above the first l R, delta (l R)' and, for W' in factors, two more products of n x n.
  double ascent_step() const {
    double sum = 0.0;
    for (Index m = 2; m <= network.layers(); ++m) sum += 2.0 * n * weights(m);
    for (Index m = 1; m < network.layers(); ++m) sum += (m == 1 ? 5.0 : 11.0) * n * n * width(m);
    return 2.0 * sum;
  }
};

/// These are times, not ratios of times that alternate: whatever disturbs only lengthens them.
double fastest_of(int rounds, const std::function<double()>& measure) {
  constexpr double shortest = 0.5;  // seconds, in which a sleeping machine wakes up
  double least = measure(), sum = least;
  for (int i = 1; i < rounds || sum < shortest; ++i) {
    const double seconds = measure();
    least = std::min(least, seconds);
    sum += seconds;
  }
  return least;
}

/// A table of the report, one line per row of numbers, and its figure.
class Growth {
 public:
  Growth(std::string id, std::string title, Axis x) {
    figure_.id = std::move(id);
    figure_.title = std::move(title);
    figure_.x_axes = {std::move(x)};
    figure_.y_axis = {.key = "milliseconds", .label = "milliseconds", .logarithmic = true};
  }
  void add(const std::string& name, double x, double seconds) {
    auto found = std::find_if(figure_.series.begin(), figure_.series.end(),
                              [&](const Series& s) { return s.name == name; });
    if (found == figure_.series.end()) {
      const auto colour = static_cast<int>(figure_.series.size());
      figure_.series.push_back({.name = name, .colour = colour, .x = {{}}});
      found = std::prev(figure_.series.end());
    }
    found->x.front().push_back(x);
    found->y.push_back(1e3 * seconds);
  }
  void report(Bench& bench) {
    figure_.x_axes.front().ticks = figure_.series.front().x.front();
    std::string line = fmt::format("{} |", figure_.x_axes.front().label);
    for (const double x : figure_.series.front().x.front()) line += fmt::format(" {:g} |", x);
    bench.report.remark(line);
    for (const Series& series : figure_.series) {
      line = fmt::format("{}, ms |", series.name);
      for (const double y : series.y) line += fmt::format(" {:.3g} |", y);
      bench.report.remark(line);
    }
    if (bench.figures.empty()) return;
    std::filesystem::create_directories(bench.figures);
    write_file(std::filesystem::path(bench.figures) / (figure_.id + ".svg"),
               lab::report::curve_svg(figure_));
  }

 private:
  CurveFigure figure_;
};

void grow_batch(Bench& bench) {
  Growth growth("growth-batch", "Cost of a step against the batch, 784-512-512-10, float",
                {.key = "batch", .label = "samples in the batch", .logarithmic = true});
  for (const Index n : {10, 20, 50, 100, 200, 400}) {
    const ImageProblem problem = image_problem(bench.images.source, n);
    const Model model{problem.objective.network(), static_cast<double>(n)};
    const int steps = n <= 50 ? 10 : 3;
    const auto x = static_cast<double>(n);
    const double sgd = fastest_of(12, [&] { return sgd_seconds(problem, steps) / steps; });
    growth.add("SGD step", x, sgd);
    growth.add("ascent step on the gradient norm", x,
               fastest_of(12, [&] { return ascent_seconds(problem, 0.0, steps) / steps; }));
    growth.add("the model for it, at the SGD step's rate", x,
               sgd * model.ascent_step() / model.sgd_step());
    growth.add("ascent step on the predicted decrease", x,
               fastest_of(12, [&] { return ascent_seconds(problem, image_rate, steps) / steps; }));
  }
  growth.report(bench);
}

void grow_steps(Bench& bench) {
  Growth growth("growth-steps", "Cost of a teleport against its ascent steps, batch 20, no cap",
                {.key = "steps", .label = "ascent steps", .logarithmic = true});
  const ImageProblem problem = image_problem(bench.images.source, 20);
  std::vector<double> counts, seconds;
  for (const Index count : {1, 2, 5, 10, 20}) {
    counts.push_back(static_cast<double>(count));
    seconds.push_back(fastest_of(12, [&] { return gl_teleport_seconds(problem, count); }));
  }
  const Line line = fit_line(counts, seconds);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    growth.add("GL teleport on the predicted decrease", counts[i], seconds[i]);
    growth.add("a line through it", counts[i], line.intercept + line.slope * counts[i]);
  }
  growth.report(bench);
}

void grow_threads(Bench& bench) {
  std::string line = "threads:";
  for (int threads = 1; threads <= 2; ++threads) {
    const double seconds =
        fastest_of(3, [&] { return run_epoch(bench.images.source, threads).seconds; });
    line += fmt::format(" {}: {:.2f} s,", threads, seconds);
  }
  bench.report.remark(line + " an epoch of 48,000 images and the loss of 12,000");
}

}  // namespace

void bench_growth(Bench& bench) {
  grow_batch(bench);
  grow_steps(bench);
  grow_threads(bench);
}

}  // namespace symport::benchmarks
