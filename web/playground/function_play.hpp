// SPDX-License-Identifier: MIT
#pragma once

#include "lab/runs/function_run.hpp"
#include "play.hpp"

namespace symport::playground {

/// `symport optimize` with these words, and what a page draws of its function.
class FunctionPlay final : public Play {
 public:
  /// Throws UsageError, as the program does.
  explicit FunctionPlay(const std::vector<std::string>& words);

  std::string about() const override;
  void run(const std::function<bool()>& goes_on) override;

  /// Level lines over the view, in equal ratios: for every line its level, its number of points,
  /// and these. Throws UsageError unless the function has two variables.
  std::vector<double> level_lines(const View& view) const;

  /// The orbit through a point in `count` steps, of every point: the group's coordinate (an angle
  /// where the orbit is closed), x1, x2, |gradient|^2, Phi, loss. Before them one more number: the
  /// number of the point nearest to `mark`. Empty without a symmetry, or where there is no orbit.
  std::vector<double> orbit(const Vector& through, int count, const Vector& mark) const;
  static constexpr int orbit_columns = 6;

  /// Of a factorization at the end of the run: the condition numbers of U'U and VV', at the start
  /// and now. Empty for other functions.
  std::vector<double> conditions() const;

 private:
  void require_plane() const;

  lab::FunctionRun run_;
  Vector x_;
};

}  // namespace symport::playground
