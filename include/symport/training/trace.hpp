// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string_view>
#include <vector>

#include "symport/training/trace_row.hpp"
#include "symport/training/trace_teleport.hpp"

namespace symport {

/// The record of a run, the same for Algorithms 1, 2 and 3. Everything that draws or prints reads
/// this and computes nothing.
///
/// Row k is the state after k updates (after the teleport that step k begins with, if it has one)
/// or, with mini-batches, after k epochs; row 0 is the state before training. The last row of a run
/// that diverged is the one that revealed it; with mini-batches, that of the epoch it did not
/// finish.
///
/// Long runs are thinned out, so that a trace never outgrows memory: whenever there are `max_rows`,
/// every second one is dropped, and from then on only every 2nd, 4th, ... is kept. Rows of accepted
/// teleports are always kept, and so are the first and the last.
struct Trace {
  /// Of the files that hold it: 1 had no row 0 with mini-batches and no points before teleports.
  static constexpr int version = 2;
  RowUnit unit = RowUnit::step;
  std::vector<TraceRow> rows;
  std::vector<TraceTeleport> teleports;
  /// The parameters at each row, kept for problems of at most `max_point_dimension` numbers.
  static constexpr Index max_point_dimension = 16;
  std::vector<Vector> points;

  static constexpr std::size_t max_rows = std::size_t{1} << 19;
  Index stride = 1;              ///< of the rows that are kept
  std::size_t limit = max_rows;  ///< rows at which it is thinned out next

  /// Adds a row and, for small problems, its point. Rows must come in order.
  void record(const TraceRow& row, const Vector* point);

 private:
  Index index(const TraceRow& row) const { return unit == RowUnit::epoch ? row.epoch : row.step; }
  bool stays(const TraceRow& row) const { return row.teleported || index(row) % stride == 0; }
  void thin_out();
};

/// Which columns a table of the rows has.
enum class TraceLayout {
  function,  ///< step, loss, grad_sq, learning_rate, evaluations, seconds, teleported
  /// step or epoch, train_loss, valid_loss, valid_accuracy, grad_sq, learning_rate, evaluations,
  /// seconds, teleported and, where rows are epochs, step
  training,
};

/// A column of such a table.
struct TraceColumn {
  enum class Notation { whole, shortest, nanoseconds, exact };

  std::string_view name;
  Notation notation;  ///< `exact`: 17 digits, which give the same double when they are read
  double (*value)(const TraceRow&);
};
std::vector<TraceColumn> trace_columns(TraceLayout layout, RowUnit unit);

/// A line of column names, and a line for each row. Where points are kept, x1, x2, ... follow the
/// layout's columns. Non-finite numbers are written as nan, inf, -inf.
void write_csv(const Trace& trace, std::ostream& out, TraceLayout layout = TraceLayout::function);

}  // namespace symport
