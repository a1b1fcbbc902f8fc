// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

namespace symport {

/// Bad options or input. `what()` names the field, what is wrong with it and what to do.
///
/// The other two kinds of error: a broken precondition throws `std::logic_error` at the public
/// boundary; a numerical outcome (diverged, refused, no improvement) is a value with a reason.
class InvalidArgument : public std::invalid_argument {
 public:
  /// "learning_rate: found -1, allowed is a finite number > 0"
  InvalidArgument(std::string field, const std::string& found, const std::string& allowed);
  /// In other words than those: "weights.npz: no such file"
  InvalidArgument(std::string field, std::string detail);

  const std::string& field() const { return field_; }
  /// The message without the field's name, so that an edge can put its own name (a flag) in front.
  const std::string& detail() const { return detail_; }

 private:
  std::string field_;
  std::string detail_;
};

}  // namespace symport
