// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace symport::cli {

/// The progress of long work, on stderr: on a terminal one line that is renewed, and erased at the
/// end; elsewhere a line of its own now and then. Short work shows nothing.
class Progress {
 public:
  struct Options {
    bool shown = true;
    double first = 1.0;         ///< seconds before the terminal's line appears
    double interval = 0.1;      ///< seconds between its renewals
    double line_interval = 10;  ///< seconds between lines where there is no terminal
  };

  explicit Progress(const Options& options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows `line` if it is time to. Without a terminal there are lines only if `plain_lines`.
  void update(const std::function<std::string()>& line, bool plain_lines = true);
  /// A line that stays.
  void message(const std::string& line);

  /// Work in stages: the line says which one and, after a second, for how long; elsewhere there is
  /// a line for each. To be renewed by `tick`, often.
  void begin(std::string stage);
  void tick();

  double seconds() const;  ///< since the beginning
  bool shown() const { return options_.shown; }
  bool on_terminal() const { return on_terminal_; }
  /// "[=====>    ]" for a part between 0 and 1.
  static std::string bar(double part);

 private:
  Options options_;
  bool on_terminal_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double next_;         ///< seconds at which to show something again
  bool drawn_ = false;  ///< there is a line to erase
  std::string stage_{};
  double stage_began_ = 0.0;
};

}  // namespace symport::cli
