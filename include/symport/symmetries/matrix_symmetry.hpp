// SPDX-License-Identifier: MIT
#pragma once

#include "symport/symmetries/symmetry.hpp"

namespace symport {

/// A matrix Lie group with an action on flat parameter vectors, from which the generic orbit is
/// built. Group elements g and algebra elements T are `order() x order()` matrices.
///
/// Laws (`symport/testing/check_symmetry.hpp` tests them for any symmetry):
///   identity      act(I, w) = w
///   composition   act(a, act(b, w)) = act(a b, w)
///   inverse       act(g^-1, act(g, w)) = w
///   invariance    L(act(g, w)) = L(w)
///   pull-back     d/de <c, act(exp(e T), w)> at e = 0  equals  inner(pull_back(w, c), T)
///   transport     dL/dw at act(g, w)  equals  transport(g, w, dL/dw at w)
class MatrixSymmetry : public Symmetry {
 public:
  /// Rows of the matrices that represent the group.
  virtual Index order() const = 0;
  virtual bool compact() const = 0;
  /// All except squares of gradients.
  bool transports(StateKind kind) const override { return kind != StateKind::squared_cotangent; }
  /// w <- g.w
  virtual void act(const Matrix& g, Out<double> w) const = 0;
  /// The algebra element that represents T -> <covector, d/de exp(eT).w>.
  virtual Matrix pull_back(In<double> w, In<double> covector) const = 0;
  /// covector <- J^-T covector with J the Jacobian of w -> g.w at w.
  virtual void transport(const Matrix& g, In<double> w, Out<double> covector) const = 0;
  /// The nearest element of the Lie algebra: the skew part for rotations, T itself for GL.
  virtual Matrix project(const Matrix& T) const = 0;
  /// The inner product of the algebra, tr(S'T) unless overridden. Lengths on the orbit are its
  /// norms.
  virtual double inner(const Matrix& S, const Matrix& T) const;
  /// A random element: from the invariant distribution of a compact group, otherwise
  /// exp(spread * N) with N a random algebra element of unit norm.
  virtual Matrix random_element(Random& random, double spread) const;

  /// The generic orbit: dJ/dw = 2 H g, dPhi/dw = 2 H (H g) + d/de H(w + e g) g, pulled back.
  using Symmetry::orbit;
  OrbitOrReason<double> orbit(const Objective& objective, In<double> w) const override;
};

}  // namespace symport
