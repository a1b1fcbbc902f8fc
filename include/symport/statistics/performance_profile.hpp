// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// The performance profile of Dolan and Moré (2002): for every solver s the share of problems that
/// it solves within a factor tau of the best solver,
///
///   rho_s(tau) = #{ p : c_ps <= tau min_s' c_ps' } / #{ p }.
///
/// A problem that a solver does not solve has infinite cost and counts against it; one that no
/// solver solves counts against all.
class PerformanceProfile {
 public:
  /// `costs`: problems x solvers, positive or infinity. Throws InvalidArgument for anything else
  /// and for an empty matrix.
  explicit PerformanceProfile(const Matrix& costs);

  Index problems() const { return problems_; }
  /// c_ps / min c_ps' of the problems that solver s solves, ascending: rho_s jumps there.
  const std::vector<double>& ratios(Index solver) const {
    return ratios_[static_cast<std::size_t>(solver)];
  }
  /// rho_s(tau).
  double at(Index solver, double tau) const;

 private:
  Index problems_;
  std::vector<std::vector<double>> ratios_;
};

}  // namespace symport
