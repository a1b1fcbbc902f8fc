// SPDX-License-Identifier: MIT
#include "optimizers/wolfe_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace symport {

namespace {

/// How far a trial may go beyond the last, in steps of the last, before there is a bracket.
constexpr double least_extrapolation = 1.1;
constexpr double largest_extrapolation = 4.0;
/// A bracket that does not shrink to this part in two trials is halved.
constexpr double slow_shrinking = 0.66;

/// Where the cubic through both values and slopes has its minimiser: the distance from a, as a part
/// of that to b. With `clip` there is an answer even where the cubic has none.
double cubic_part(const LineSample& a, const LineSample& b, bool clip) {
  const double theta = 3.0 * (a.value - b.value) / (b.t - a.t) + a.slope + b.slope;
  const double scale = std::max({std::abs(theta), std::abs(a.slope), std::abs(b.slope)});
  double under = (theta / scale) * (theta / scale) - (a.slope / scale) * (b.slope / scale);
  if (clip) under = std::max(0.0, under);
  double gamma = scale * std::sqrt(under);
  if (b.t < a.t) gamma = -gamma;
  return (gamma - a.slope + theta) / (gamma - a.slope + gamma + b.slope);
}

/// The best point so far, the other end of the bracket, and the next trial.
struct Bracket {
  LineSample best, other;
  bool closed = false;  ///< a minimiser is between the two

  /// The trial that follows `now`, which replaces one of the ends: within the bracket or, where
  /// there is none yet, within [least, largest].
  double next(const LineSample& now, double least, double largest) {
    const double sign = now.slope * (best.slope / std::abs(best.slope));
    double t = now.t;
    if (now.value > best.value) {
      // Higher: the minimiser is in between.
      const double cubic = best.t + cubic_part(best, now, false) * (now.t - best.t);
      const double parabola =
          best.t + 0.5 * (best.slope / ((best.value - now.value) / (now.t - best.t) + best.slope)) *
                       (now.t - best.t);
      t = std::abs(cubic - best.t) < std::abs(parabola - best.t) ? cubic
                                                                 : cubic + 0.5 * (parabola - cubic);
      closed = true;
    } else if (sign < 0.0) {
      // Lower, with the slope of the other sign: the minimiser is in between.
      const double cubic = now.t + cubic_part(now, best, false) * (best.t - now.t);
      const double secant = now.t + now.slope / (now.slope - best.slope) * (best.t - now.t);
      t = std::abs(cubic - now.t) > std::abs(secant - now.t) ? cubic : secant;
      closed = true;
    } else if (std::abs(now.slope) < std::abs(best.slope)) {
      // Lower, on the same side, and flatter: the cubic may have no minimiser beyond.
      const double part = cubic_part(now, best, true);
      double cubic = now.t > best.t ? largest : least;
      if (part < 0.0 && std::isfinite(part)) cubic = now.t + part * (best.t - now.t);
      const double secant = now.t + now.slope / (now.slope - best.slope) * (best.t - now.t);
      const bool nearer = std::abs(cubic - now.t) < std::abs(secant - now.t);
      if (closed) {
        t = nearer ? cubic : secant;
        const double limit = now.t + slow_shrinking * (other.t - now.t);
        t = now.t > best.t ? std::min(limit, t) : std::max(limit, t);
      } else {
        t = std::clamp(nearer ? secant : cubic, least, largest);
      }
    } else if (closed) {
      // Lower, on the same side, and not flatter.
      t = now.t + cubic_part(now, other, false) * (other.t - now.t);
    } else {
      t = now.t > best.t ? largest : least;
    }
    if (now.value > best.value) {
      other = now;
    } else {
      if (sign < 0.0) other = best;
      best = now;
    }
    if (!std::isfinite(t)) t = best.t + 0.5 * (other.t - best.t);
    return t;
  }
};

}  // namespace

WolfeOutcome wolfe_search(const std::function<LineSample(double)>& phi, const LineSample& start,
                          double first, const WolfeOptions& options) {
  const double test_slope = options.decrease * start.slope;
  WolfeOutcome outcome{false, start, 0};
  Bracket bracket{start, start, false};
  bool auxiliary = true;  // the first stage minimises phi(t) - test_slope t
  double least = 0.0, largest = first + largest_extrapolation * first;
  double ceiling = std::numeric_limits<double>::infinity();  // phi is not finite there
  double width = ceiling, width_before = ceiling;
  double t = first;
  while (outcome.trials < options.max_trials) {
    LineSample now = phi(t);
    ++outcome.trials;
    if (!std::isfinite(now.value) || !std::isfinite(now.slope)) {
      ceiling = t;
      t = bracket.best.t + 0.1 * (t - bracket.best.t);
      largest = std::min(largest, ceiling);
      continue;
    }
    if (now.value < outcome.best.value || (!outcome.moved && now.value < start.value)) {
      outcome.best = now;
      outcome.moved = true;
    }
    const double allowed = start.value + now.t * test_slope;
    if (now.value <= allowed && std::abs(now.slope) <= -options.slope * start.slope) {
      outcome.best = now;
      outcome.moved = now.value < start.value;
      return outcome;
    }
    if (auxiliary && now.value <= allowed && now.slope >= 0.0) auxiliary = false;
    if (auxiliary && now.value <= bracket.best.value && now.value > allowed) {
      const auto tilt = [&](LineSample s, double sign) {
        s.value -= sign * s.t * test_slope;
        s.slope -= sign * test_slope;
        return s;
      };
      Bracket tilted{tilt(bracket.best, 1.0), tilt(bracket.other, 1.0), bracket.closed};
      t = tilted.next(tilt(now, 1.0), least, largest);
      bracket = {tilt(tilted.best, -1.0), tilt(tilted.other, -1.0), tilted.closed};
    } else {
      t = bracket.next(now, least, largest);
    }
    const double low = std::min(bracket.best.t, bracket.other.t);
    const double high = std::max(bracket.best.t, bracket.other.t);
    if (bracket.closed) {
      if (high - low >= slow_shrinking * width_before) t = low + 0.5 * (high - low);
      width_before = width;
      width = high - low;
      least = low;
      largest = high;
      // What is left of the bracket is too narrow to look into.
      if (t <= low || t >= high || width <= options.width * high) return outcome;
    } else {
      least = t + least_extrapolation * (t - bracket.best.t);
      largest = std::min(t + largest_extrapolation * (t - bracket.best.t), ceiling);
      least = std::min(least, largest);
    }
  }
  return outcome;
}

}  // namespace symport
