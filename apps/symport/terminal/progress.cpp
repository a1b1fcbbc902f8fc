// SPDX-License-Identifier: MIT
#include "terminal/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terminal/terminal.hpp"

namespace symport::cli {

namespace {

constexpr const char* erase_line = "\r\033[K";

}  // namespace

Progress::Progress(const Options& options)
    : options_(options),
      on_terminal_(stderr_is_terminal()),
      next_(on_terminal_ ? options.first : options.line_interval) {}

Progress::~Progress() {
  if (drawn_) print_progress(erase_line);
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void Progress::update(const std::function<std::string()>& line, bool plain_lines) {
  if (!options_.shown) return;
  const double now = seconds();
  if (now < next_) return;
  next_ = now + (on_terminal_ ? options_.interval : options_.line_interval);
  if (!on_terminal_) {
    if (plain_lines) print_progress(harmless(line()) + "\n");
    return;
  }
  const auto width = static_cast<std::size_t>(stderr_width());
  print_progress(erase_line + harmless(line()).substr(0, width - 1));
  drawn_ = true;
}

void Progress::message(const std::string& line) {
  print_progress((drawn_ ? erase_line : "") + harmless(line) + "\n");
  drawn_ = false;
}

void Progress::begin(std::string stage) {
  stage_ = harmless(stage);
  stage_began_ = next_ = seconds();
  if (options_.shown && !on_terminal_) print_progress(stage_ + "\n");
  tick();
}

void Progress::tick() {
  const auto line = [&] {
    const auto whole = static_cast<long>(seconds() - stage_began_);
    return whole > 0 ? fmt::format("{}, {} s", stage_, whole) : stage_;
  };
  update(line, false);
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
