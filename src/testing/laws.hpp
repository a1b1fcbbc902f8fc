// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "symport/testing/check_symmetry.hpp"
#include "testing/largest_error.hpp"

namespace symport::testing {

/// Collects the first law that fails.
class Laws {
 public:
  Laws(std::string subject, double tolerance)
      : subject_(std::move(subject)), tolerance_(tolerance) {}

  bool passed() const { return result_.passed; }
  const CheckResult& result() const { return result_; }

  /// A relative error.
  void require(double error, const std::string& law) {
    if (passed() && !(error <= tolerance_)) {
      fail(fmt::format("{} is off by {:.3g}, allowed is {:.3g}", law, error, tolerance_));
    }
  }
  /// Two vectors that should be equal. Names the entry that is off most.
  void require_equal(const Vector& found, const Vector& expected, const std::string& law) {
    const double error =
        (found - expected).norm() / std::max({found.norm(), expected.norm(), 1e-300});
    if (!passed() || error <= tolerance_) return;
    fail(fmt::format("{} is off by {:.3g}, allowed is {:.3g}; {}", law, error, tolerance_,
                     largest_error(found, expected)));
  }
  void fail(const std::string& what) {
    if (passed()) result_ = {false, subject_ + ": " + what};
  }
  void take(CheckResult verdict) {
    if (passed()) result_ = std::move(verdict);
  }
  const std::string& subject() const { return subject_; }

 private:
  std::string subject_;
  double tolerance_;
  CheckResult result_;
};

inline double relative_error(double a, double b) {
  return std::abs(a - b) / std::max({std::abs(a), std::abs(b), 1e-300});
}

/// The laws of an orbit in the header of check_symmetry.
void check_orbit(const Symmetry& symmetry, const Objective& objective, In<double> w, Random& random,
                 const CheckSymmetryOptions& options, Laws& laws);

}  // namespace symport::testing
