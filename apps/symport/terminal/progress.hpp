// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "symport/training/trace.hpp"

namespace symport::cli {

/// How a long run is getting on, on stderr: one line that is renewed on a terminal (from the first
/// second on, erased at the end), a line of its own now and then elsewhere. Short runs show
/// nothing.
class Progress {
 public:
  struct Options {
    bool shown = true;
    double first = 1.0;         ///< seconds before the terminal's line appears
    double interval = 0.1;      ///< seconds between its renewals
    double line_interval = 10;  ///< seconds between lines where there is no terminal
  };

  Progress(std::string title, Index steps) : Progress(std::move(title), steps, Options()) {}
  Progress(std::string title, Index steps, const Options& options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(const TraceRow& row);
  /// The same for work that words its line itself; `seconds` since its start. Without a terminal
  /// there are lines only if `plain_lines`.
  void update(double seconds, const std::function<std::string()>& line, bool plain_lines = true);
  /// A line that stays.
  void message(const std::string& line);

  bool on_terminal() const { return on_terminal_; }
  /// "[=====>    ]" for a part between 0 and 1.
  static std::string bar(double part);

 private:
  std::string line(const TraceRow& row) const;

  std::string title_;
  Index steps_;
  Options options_;
  bool on_terminal_;
  double next_;         ///< seconds at which to show something again
  bool drawn_ = false;  ///< there is a line to erase
};

}  // namespace symport::cli
