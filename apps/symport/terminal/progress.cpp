// SPDX-License-Identifier: MIT
#include "terminal/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/text/parse_numbers.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

namespace {

constexpr const char* erase_line = "\r\033[K";

}  // namespace

Progress::Progress(std::string title, Index steps, const Options& options)
    : title_(std::move(title)),
      steps_(steps),
      options_(options),
      on_terminal_(stderr_is_terminal()),
      next_(on_terminal_ ? options.first : options.line_interval) {}

Progress::~Progress() {
  if (drawn_) print_progress(erase_line);
}

std::string Progress::line(const TraceRow& row) const {
  const double done = static_cast<double>(row.step) / static_cast<double>(steps_);
  const double left = done > 0.0 ? row.seconds * (1.0 - done) / done : 0.0;
  return fmt::format("{}: step {} of {} ({:.0f} %), loss {:.4g}, {} left", title_, row.step, steps_,
                     100.0 * done, row.loss, lab::duration_text(left));
}

void Progress::update(const TraceRow& row) {
  update(row.seconds, [&] { return line(row); });
}

void Progress::update(double seconds, const std::function<std::string()>& line, bool plain_lines) {
  if (!options_.shown || seconds < next_) return;
  next_ = seconds + (on_terminal_ ? options_.interval : options_.line_interval);
  if (!on_terminal_) {
    if (plain_lines) print_progress(line() + "\n");
    return;
  }
  const auto width = static_cast<std::size_t>(stderr_width());
  print_progress(erase_line + line().substr(0, width - 1));
  drawn_ = true;
}

void Progress::message(const std::string& line) {
  print_progress((drawn_ ? erase_line : "") + line + "\n");
  drawn_ = false;
}

std::string Progress::bar(double part) {
  constexpr int width = 20;
  const int full = std::clamp(static_cast<int>(part * width), 0, width);
  std::string bar(static_cast<std::size_t>(full), '=');
  if (full < width) bar += '>';
  bar.resize(width, ' ');
  return "[" + bar + "]";
}

}  // namespace symport::cli
