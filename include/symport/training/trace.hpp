// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iosfwd>
#include <limits>
#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// The state before the update of one step (after its teleport, if there was one).
struct TraceRow {
  Index step = 0;
  double loss = 0.0;
  double grad_sq = 0.0;
  double learning_rate = 0.0;
  double evaluations = 0.0;  ///< in gradients, teleports included, up to here
  double seconds = 0.0;      ///< since the start
  bool teleported = false;   ///< a teleport was accepted just before
  /// On held-out samples, where there are any (TrainOptions::validate).
  double valid_loss = std::numeric_limits<double>::quiet_NaN();
  double valid_accuracy = std::numeric_limits<double>::quiet_NaN();
};

/// The record of a run. Everything that draws or prints reads this and computes nothing.
///
/// Long runs are thinned out, so that a trace never outgrows the memory: whenever there are
/// `max_rows`, every second one goes, and from then on only every 2nd, 4th, ... step is kept. Rows
/// of accepted teleports always stay, and so do the first and the last.
struct Trace {
  static constexpr int version = 1;
  std::vector<TraceRow> rows;
  /// The parameters at each row, kept for problems of at most `max_point_dimension` numbers.
  static constexpr Index max_point_dimension = 16;
  std::vector<Vector> points;

  static constexpr std::size_t max_rows = std::size_t{1} << 19;
  Index stride = 1;              ///< of the steps that are kept
  std::size_t limit = max_rows;  ///< rows at which it is thinned out next

  /// Adds a row and, for small problems, its point. Steps must come in order.
  void record(const TraceRow& row, const Vector* point);

 private:
  bool stays(const TraceRow& row) const { return row.teleported || row.step % stride == 0; }
  void thin_out();
};

/// Columns step, loss, grad_sq, learning_rate, evaluations, seconds, teleported and, where points
/// are kept, x1...; numbers with 17 digits, so that reading them back gives the same doubles.
/// Non-finite numbers are written as nan, inf, -inf.
void write_csv(const Trace& trace, std::ostream& out);

}  // namespace symport
