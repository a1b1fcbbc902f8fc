// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "symport/core/parameter_layout.hpp"
#include "symport/symmetries/group_element.hpp"
#include "symport/symmetries/slot_group.hpp"

namespace symport {

/// A point of an orbit that depends only on the parameters, not on data or a loss.
enum class GaugeTarget {
  balance,      ///< the smallest |w|^2, (S10) and (S11)
  orthonormal,  ///< the slots with rho = g of each group have orthonormal rows together, (S12)
};
std::string_view to_string(GaugeTarget target);

struct GaugeOptions {
  GaugeTarget target = GaugeTarget::balance;
  /// Sweeps over groups that share tensors; each puts every group in its place given the others.
  Index max_sweeps = 200;
  /// Sweeps end when none changes the logarithm of a scale, or an entry of g, by more than this.
  double tolerance = 1e-9;
  /// Scales are rounded to powers of two at the end, which preserve every bit of the outputs
  /// (docs/mathematics/slots.md, "Exact bits").
  bool powers_of_two = false;
};

/// The way to that point.
struct GaugeMove {
  GroupElement element;
  /// The groups, by their index in the list, that are left as they are, and why.
  struct LeftAlone {
    std::size_t group = 0;
    std::string reason;
  };
  std::vector<LeftAlone> left_alone;
  Index sweeps = 0;
  bool settled = true;     ///< false: stopped by `max_sweeps`
  double condition = 1.0;  ///< of the element, its largest stretch over its smallest
};

/// The element of the product of `groups` that takes w to the target; w itself is not changed.
/// Scalings may have any charges. The norm does not change under O, signs and permutations, so
/// these are left alone. So are coordinates of a scaling and GL groups for which the target does
/// not exist: |w|^2 has no minimum where everything that is not zero has charges of one sign (a
/// dead unit, a factor that is zero or of lower rank), and zero rows have no norm to divide by.
///
/// Throws InvalidArgument when a slot is not in the layout or does not fit, std::logic_error when w
/// does not have its size. Cost of a sweep: O(parameters), and per group GL its Gram matrices and
/// four eigenvalue problems.
GaugeMove gauge_move(const ParameterLayout& layout, const std::vector<SlotGroup>& groups,
                     In<double> w, const GaugeOptions& options = {});

}  // namespace symport
