// SPDX-License-Identifier: MIT
#include "function_play.hpp"

#include <algorithm>
#include <cmath>

#include "core/dense.hpp"
#include "lab/report/contours.hpp"
#include "lab/text/parse_numbers.hpp"
#include "symport/objectives/matrix_factorization.hpp"
#include "words.hpp"

namespace symport::playground {

namespace {

using lab::report::Grid;

constexpr std::size_t level_count = 14;
/// How far an orbit that is not closed is followed, to both sides.
constexpr double orbit_reach = 2.5;

lab::FunctionRun function_run_of(const std::vector<std::string>& words) {
  const lab::Arguments arguments = arguments_of(words, lab::function_run_options().options());
  return arguments.explained(
      [&] { return lab::resolve(lab::function_run_options().read(arguments)); });
}

std::string numbers_text(const Vector& x) {
  std::string text;
  for (const double value : x) text += (text.empty() ? "" : ",") + lab::exact_text(value);
  return text;
}

/// The known minimum, or a value just below all others.
double floor_of(const TestFunction& function, const Grid& grid) {
  if (std::isfinite(function.minimum())) return function.minimum();
  double lowest = std::numeric_limits<double>::infinity();
  for (const double value : grid.values) {
    if (std::isfinite(value)) lowest = std::min(lowest, value);
  }
  return std::isfinite(lowest) ? lowest : 0.0;
}

}  // namespace

FunctionPlay::FunctionPlay(const std::vector<std::string>& words)
    : run_(function_run_of(words)), x_(run_.start()) {}

std::string FunctionPlay::about() const {
  const TestFunction& function = *run_.problem.function;
  std::string text;
  const auto say = [&](const std::string& key, const std::string& value) {
    text += key + "\t" + value + "\n";
  };
  say("formula", function.formula());
  say("dimension", fmt::format("{}", function.dimension()));
  say("symmetry", run_.problem.symmetry ? run_.problem.symmetry->name() : "");
  if (function.minimizer().allFinite()) say("minimizer", numbers_text(function.minimizer()));
  for (const lab::ConfigEntry& entry : lab::function_run_options().write(run_.spec)) {
    say("--" + entry.key, lab::text_of(entry.value));
  }
  if (run_.problem.symmetry) {
    const auto orbit = run_.problem.symmetry->orbit(function, run_.start());
    if (orbit) say("searches", lab::join(lab::fitting_searches(*orbit), ","));
  }
  return text;
}

void FunctionPlay::run(const std::function<bool()>& goes_on) {
  lab::FunctionResult result =
      lab::run_function(run_, true, [&](const TraceRow&) { return goes_on(); });
  x_ = result.x;
  summary_ = std::move(result.summary);
}

void FunctionPlay::require_plane() const {
  if (run_.problem.function->dimension() == 2) return;
  throw lab::UsageError("function", fmt::format("has {} variables, and a plane shows two",
                                                run_.problem.function->dimension()));
}

std::vector<double> FunctionPlay::level_lines(const View& view) const {
  require_plane();
  const TestFunction& function = *run_.problem.function;
  const Grid grid = lab::report::sample(
      [&](lab::report::Point p) {
        return function.value(Vector{{p.x, p.y}});
      },
      {{view.x0, view.y0}, {view.x1, view.y1}}, static_cast<std::size_t>(view.columns),
      static_cast<std::size_t>(view.rows));
  const lab::report::Point unit{(view.x1 - view.x0) / view.columns,
                                (view.y1 - view.y0) / view.rows};
  std::vector<double> numbers;
  for (const double level :
       lab::report::contour_levels(grid, floor_of(function, grid), level_count)) {
    for (const lab::report::Polyline& whole : lab::report::contour(grid, level)) {
      const lab::report::Polyline line = lab::report::simplified(whole, unit, 0.05);
      numbers.push_back(level);
      numbers.push_back(static_cast<double>(line.size()));
      for (const lab::report::Point& p : line) {
        numbers.push_back(p.x);
        numbers.push_back(p.y);
      }
    }
  }
  return numbers;
}

std::vector<double> FunctionPlay::orbit(const Vector& through, int count,
                                        const Vector& mark) const {
  require_plane();
  if (!run_.problem.symmetry) return {};
  const TestFunction& function = *run_.problem.function;
  const auto orbit = run_.problem.symmetry->orbit(function, through);
  if (!orbit) return {};
  const double period = orbit->period();
  // A circle is followed counter-clockwise; elsewhere uphill is to the right.
  orbit->aim(period > 0.0 ? Slope{} : Slope{.grad_sq = 1.0});
  std::vector<double> numbers{0.0};
  double nearest = std::numeric_limits<double>::infinity();
  Vector x(2);
  for (int i = 0; i <= count; ++i) {
    const double part = static_cast<double>(i) / count;
    const double t = period > 0.0 ? part * period : orbit_reach * (2.0 * part - 1.0);
    if (!orbit->move(t)) continue;
    orbit->commit(x);
    const double distance = (x - mark).norm();
    if (distance < nearest) {
      nearest = distance;
      numbers[0] = static_cast<double>((numbers.size() - 1) / orbit_columns);
    }
    numbers.insert(numbers.end(),
                   {t, x[0], x[1], orbit->grad_sq(), orbit->curvature(), function.value(x)});
  }
  return numbers;
}

std::vector<double> FunctionPlay::conditions() const {
  const auto* pair = dynamic_cast<const MatrixFactorization*>(run_.problem.function.get());
  if (pair == nullptr) return {};
  std::vector<double> numbers;
  for (const Vector& w : {run_.start(), x_}) {
    if (!w.allFinite()) return {};
    const auto squared = [](double c) { return c * c; };
    numbers.push_back(squared(condition_number(pair->U(w))));
    numbers.push_back(squared(condition_number(pair->V(w))));
  }
  return numbers;
}

}  // namespace symport::playground
