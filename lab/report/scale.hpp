// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace symport::lab::report {

struct Tick {
  double value = 0.0;
  std::string label;
};

/// From values to pixels along one axis, linearly or by the logarithm.
class Scale {
 public:
  /// `low` < `high` are the values at the pixels `from` and `to`; > 0 where logarithmic.
  Scale(double low, double high, double from, double to, bool logarithmic);
  /// A scale for all values that it can show, with some room around them; [0, 1] or [1e-1, 1e1]
  /// when there are none. A linear one begins at the smallest value where `tight`.
  static Scale around(const std::vector<double>& values, double from, double to, bool logarithmic,
                      bool tight = false);

  /// NaN for a value that the axis cannot show (not finite, or <= 0 where logarithmic).
  double operator()(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }

  /// Round values with labels, about `count` of them: 1, 2, 5 times powers of ten; whole powers
  /// (10⁻³²) where the axis is logarithmic and long enough.
  std::vector<Tick> ticks(int count) const;

 private:
  double low_, high_, from_, to_;
  bool logarithmic_;
};

/// "10⁻³²"
std::string power_of_ten(int exponent);

}  // namespace symport::lab::report
