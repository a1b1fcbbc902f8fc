// SPDX-License-Identifier: MIT
#include "progress.hpp"

#include <fmt/format.h>

#include "terminal.hpp"

namespace symport::cli {

namespace {

constexpr const char* erase_line = "\r\033[K";

std::string duration(double seconds) {
  if (seconds < 100.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace

Progress::Progress(std::string title, Index steps, const Options& options)
    : title_(std::move(title)),
      steps_(steps),
      options_(options),
      on_terminal_(stderr_is_terminal()),
      next_(on_terminal_ ? options.first : options.line_interval) {}

Progress::~Progress() {
  if (drawn_) print_error(erase_line);
}

std::string Progress::line(const TraceRow& row) const {
  const double done = static_cast<double>(row.step) / static_cast<double>(steps_);
  const double left = done > 0.0 ? row.seconds * (1.0 - done) / done : 0.0;
  return fmt::format("{}: step {} of {} ({:.0f} %), loss {:.4g}, {} left", title_, row.step, steps_,
                     100.0 * done, row.loss, duration(left));
}

void Progress::update(const TraceRow& row) {
  if (!options_.shown || row.seconds < next_) return;
  next_ = row.seconds + (on_terminal_ ? options_.interval : options_.line_interval);
  if (!on_terminal_) {
    print_error(line(row) + "\n");
    return;
  }
  const auto width = static_cast<std::size_t>(stderr_width());
  print_error(erase_line + line(row).substr(0, width - 1));
  drawn_ = true;
}

}  // namespace symport::cli
