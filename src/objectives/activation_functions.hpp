// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

/// The activations as function objects, for float and double.
namespace symport::activations {

// One struct per function: value, first, second and third derivative, and the inverse if any.

struct Linear {
  template <class T>
  T value(T x) const {
    return x;
  }
  template <class T>
  T first(T) const {
    return T(1);
  }
  template <class T>
  T second(T) const {
    return T(0);
  }
  template <class T>
  T third(T) const {
    return T(0);
  }
  template <class T>
  T inverse(T y) const {
    return y;
  }
};

/// The part above 0 and the part below are added, so that nothing but a number is chosen: then the
/// loops become vector instructions. Not a number stays so.
struct LeakyRelu {
  double slope;
  template <class T>
  static T above(T x) {
    return x > T(0) ? x : T(0);
  }
  template <class T>
  static T below(T x) {
    return x > T(0) ? T(0) : x;
  }
  template <class T>
  T value(T x) const {
    return above(x) + static_cast<T>(slope) * below(x);
  }
  template <class T>
  T first(T x) const {
    const T below_zero = static_cast<T>(slope);
    return x > T(0) ? T(1) : below_zero;
  }
  template <class T>
  T second(T) const {
    return T(0);
  }
  template <class T>
  T third(T) const {
    return T(0);
  }
  template <class T>
  T inverse(T y) const {
    return above(y) + below(y) / static_cast<T>(slope);
  }
};

struct Tanh {
  template <class T>
  T value(T x) const {
    return std::tanh(x);
  }
  /// 1 - tanh^2 without cancellation.
  template <class T>
  T first(T x) const {
    const T e = std::exp(-2 * std::abs(x));
    return 4 * e / ((1 + e) * (1 + e));
  }
  template <class T>
  T second(T x) const {
    return -2 * value(x) * first(x);
  }
  template <class T>
  T third(T x) const {
    const T t = value(x);
    return (6 * t * t - 2) * first(x);
  }
};

struct Sigmoid {
  template <class T>
  T value(T x) const {
    const T e = std::exp(-std::abs(x));
    return (x > T(0) ? T(1) : e) / (1 + e);
  }
  template <class T>
  T first(T x) const {
    const T e = std::exp(-std::abs(x));
    return e / ((1 + e) * (1 + e));
  }
  /// s' (1 - 2s) with 1 - 2s = -tanh(x/2).
  template <class T>
  T second(T x) const {
    return -first(x) * std::tanh(x / 2);
  }
  template <class T>
  T third(T x) const {
    const T t = std::tanh(x / 2);
    return first(x) * (3 * t * t - 1) / 2;
  }
};

struct Asinh {
  template <class T>
  T value(T x) const {
    return std::asinh(x);
  }
  template <class T>
  T first(T x) const {
    return 1 / std::hypot(T(1), x);
  }
  template <class T>
  T second(T x) const {
    const T c = first(x);
    return -(x * c) * c * c;
  }
  template <class T>
  T third(T x) const {
    const T c = first(x), s = x * c;
    return (2 * s * s - c * c) * c * c * c;
  }
  template <class T>
  T inverse(T y) const {
    return std::sinh(y);
  }
};

struct Gelu {
  template <class T>
  static T density(T x) {
    return std::exp(-x * x / 2) *
           static_cast<T>(0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2);
  }
  template <class T>
  static T probability(T x) {
    return std::erfc(-x / static_cast<T>(std::numbers::sqrt2)) / 2;
  }
  template <class T>
  T value(T x) const {
    return x * probability(x);
  }
  template <class T>
  T first(T x) const {
    return probability(x) + x * density(x);
  }
  template <class T>
  T second(T x) const {
    return density(x) * (2 - x * x);
  }
  template <class T>
  T third(T x) const {
    return density(x) * x * (x * x - 4);
  }
};

/// b(x) + 2 e^-N sinh x for a bounded, increasing b with values in (low, high).
template <class Bounded>
struct Extended {
  Bounded bounded;
  double low, high;
  double N;

  /// 2 e^-N sinh x, which stays finite longer than sinh x does.
  template <class T>
  T wing(T x) const {
    const T n = static_cast<T>(N);
    return std::abs(x) < T(20) ? 2 * std::exp(-n) * std::sinh(x)
                               : std::exp(x - n) - std::exp(-x - n);
  }
  template <class T>
  T wing_slope(T x) const {
    const T n = static_cast<T>(N);
    return std::exp(x - n) + std::exp(-x - n);
  }
  template <class T>
  T value(T x) const {
    return bounded.value(x) + wing(x);
  }
  template <class T>
  T first(T x) const {
    return bounded.first(x) + wing_slope(x);
  }
  template <class T>
  T second(T x) const {
    return bounded.second(x) + wing(x);
  }
  template <class T>
  T third(T x) const {
    return bounded.third(x) + wing_slope(x);
  }
  template <class T>
  T inverse(T y) const {
    return static_cast<T>(solve(static_cast<double>(y)));
  }

  /// The x with 2 e^-N sinh x = t.
  double wing_inverse(double t) const {
    const double size = std::abs(t);
    const double x = size < 1e250 ? std::asinh(0.5 * std::exp(N) * size) : std::log(size) + N;
    return std::copysign(x, t);
  }

  /// (N8). As low < b < high, the root lies between the two places where the wing alone would have
  /// to make up for y - high and y - low. Newton, and bisection wherever Newton leaves the bracket
  /// or does not halve its last step.
  double solve(double y) const {
    if (!std::isfinite(y)) return y;
    double left = wing_inverse(y - high), right = wing_inverse(y - low);
    double x = std::clamp(wing_inverse(y - 0.5 * (low + high)), left, right);
    double step = right - left;
    for (int iteration = 0; iteration < 200; ++iteration) {
      const double error = value(x) - y;
      if (error == 0.0) break;
      (error > 0.0 ? right : left) = x;
      const double newton = error / first(x);
      const bool inside = x - newton >= left && x - newton <= right;
      const double next =
          inside && std::abs(newton) <= 0.5 * std::abs(step) ? x - newton : 0.5 * (left + right);
      step = next - x;
      x = next;
      if (std::abs(step) <= 2 * std::numeric_limits<double>::epsilon() * std::abs(x)) break;
    }
    return x;
  }
};

}  // namespace symport::activations
