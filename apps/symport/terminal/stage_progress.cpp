// SPDX-License-Identifier: MIT
#include "terminal/stage_progress.hpp"

#include <fmt/format.h>

#include "terminal/terminal.hpp"

namespace symport::cli {

namespace {

constexpr const char* erase_line = "\r\033[K";
constexpr auto interval = std::chrono::milliseconds(200);

}  // namespace

StageProgress::StageProgress(std::string title, bool shown)
    : title_(std::move(title)), shown_(shown), on_terminal_(stderr_is_terminal()) {}

StageProgress::~StageProgress() {
  if (drawn_) print_progress(erase_line);
}

void StageProgress::begin(std::string stage) {
  stage_ = std::move(stage);
  began_ = next_ = Clock::now();
  if (shown_ && !on_terminal_) print_progress(fmt::format("{}: {}\n", title_, stage_));
  tick();
}

void StageProgress::tick() {
  const Clock::time_point now = Clock::now();
  if (!shown_ || !on_terminal_ || now < next_) return;
  next_ = now + interval;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - began_).count();
  std::string line = fmt::format("{}: {}", title_, stage_);
  if (seconds > 0) line += fmt::format(", {} s", seconds);
  const auto width = static_cast<std::size_t>(stderr_width());
  print_progress(erase_line + line.substr(0, width - 1));
  drawn_ = true;
}

}  // namespace symport::cli
