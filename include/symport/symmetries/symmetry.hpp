// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "symport/symmetries/orbit.hpp"

namespace symport {

/// A group that acts on parameters and leaves the loss unchanged.
///
/// A symmetry states in its header its domain, whether it is bound to a batch, and its cost. It is
/// exact: an inexact variant is a type of its own whose `loss_invariant()` is false.
template <Real Scalar>
class BasicSymmetry {
 public:
  virtual ~BasicSymmetry() = default;

  virtual std::string name() const = 0;
  virtual bool loss_invariant() const { return true; }
  /// Whether its orbits can `transport` the gradient-like state of an optimizer.
  virtual bool transports_state() const { return false; }
  /// The orbit of w. Throws InvalidArgument when the symmetry does not belong to this objective,
  /// and `Refusal` when it cannot act at this point on this data. The objective must outlive the
  /// orbit.
  virtual std::unique_ptr<BasicOrbit<Scalar>> orbit(const BasicObjective<Scalar>& objective,
                                                    In<Scalar> w) const = 0;
};

using Symmetry = BasicSymmetry<double>;

}  // namespace symport
