// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "symport/objectives/objective.hpp"

namespace symport {

/// How a test function is usually run; the paper's numbers where it has some.
struct UsualRun {
  double learning_rate = 0.0;
  Index steps = 0;
};

/// An objective that knows its own start, answer and source.
class TestFunction : public Objective {
 public:
  virtual std::string name() const = 0;
  /// One line: the formula.
  virtual std::string formula() const = 0;
  virtual std::string citation() const = 0;
  virtual Vector start() const = 0;
  /// A global minimiser, and the loss there.
  virtual Vector minimizer() const = 0;
  virtual double minimum() const { return 0.0; }
  virtual UsualRun usual_run() const = 0;
};

}  // namespace symport
