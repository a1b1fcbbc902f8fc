// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "symport/symmetries/orbit_or_reason.hpp"

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
  /// The loss is kept on the batch of the objective alone.
  virtual bool bound_to_batch() const { return false; }
  /// Whether its orbits can `transport` buffers of this kind.
  virtual bool transports(StateKind kind) const { return kind == StateKind::scalar; }
  /// The orbit of w, or the reason why the symmetry cannot act at this point on this data. Throws
  /// InvalidArgument when it does not belong to this objective. The objective must outlive the
  /// orbit.
  virtual OrbitOrReason<Scalar> orbit(const BasicObjective<Scalar>& objective,
                                      In<Scalar> w) const = 0;
  /// A temporary would be gone before its orbit is used.
  OrbitOrReason<Scalar> orbit(const BasicObjective<Scalar>&& objective,
                              In<Scalar> w) const = delete;
};

using Symmetry = BasicSymmetry<double>;

}  // namespace symport
