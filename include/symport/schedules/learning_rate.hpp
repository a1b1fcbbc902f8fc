// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "symport/core/types.hpp"

namespace symport {

/// The learning rate as a pure function of time: steps with full batches, epochs with mini-batches,
/// including the fraction of the current epoch. A plain number is a constant rate.
///
///   0.1                 constant
///   step:0.1,0.5,30     0.1, times 0.5 after every 30
///   cosine:0.1,100      from 0.1 to 0 along half a cosine over 100, then 0
///   linear:0.1,100      from 0.1 to 0 along a line over 100, then 0
class LearningRate {
 public:
  /// Throws InvalidArgument unless `rate` is finite and > 0.
  LearningRate(double rate);  // NOLINT: a number is a learning rate
  static LearningRate step(double rate, double factor, Index period);
  static LearningRate cosine(double rate, Index period);
  static LearningRate linear(double rate, Index period);
  static LearningRate parse(std::string_view text);

  double at(double t) const { return kind_ == Kind::constant ? rate_ : varying(t); }
  double initial() const { return rate_; }
  std::string to_string() const;

 private:
  enum class Kind { constant, step, cosine, linear };
  double varying(double t) const;
  Kind kind_ = Kind::constant;
  double rate_;
  double factor_ = 1.0;
  Index period_ = 1;
};

}  // namespace symport
