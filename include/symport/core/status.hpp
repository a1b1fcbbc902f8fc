// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace symport {

/// Bad options or input. `what()` names the field, the value found and what is allowed.
///
/// The other two kinds of error: a broken precondition throws `std::logic_error` at the public
/// boundary; a numerical outcome (diverged, refused, no improvement) is a value with a reason.
class InvalidArgument : public std::invalid_argument {
 public:
  /// "learning_rate: found -1, allowed is a finite number > 0"
  InvalidArgument(std::string field, const std::string& found, const std::string& allowed);

  const std::string& field() const { return field_; }
  /// The message without the field's name, so that an edge can put its own name (a flag) in front.
  const std::string& detail() const { return detail_; }

 private:
  std::string field_;
  std::string detail_;
};

/// Why a run ended.
enum class RunStatus {
  step_limit,   ///< all steps were made
  converged,    ///< a stopping criterion was met
  diverged,     ///< loss, gradient or parameters became non-finite
  interrupted,  ///< the caller asked to stop
};

std::string_view to_string(RunStatus status);

}  // namespace symport
