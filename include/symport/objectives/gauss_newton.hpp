// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "symport/objectives/objective.hpp"

namespace symport {

/// The Gauss-Newton form of a loss: a matrix A(w), rows x parameters, and a vector c(w) with
///
///   dL/dw = A'c,   A'A = the Hessian of L without the second derivatives of the outputs in w.
///
/// Where L = |r(w)|^2 / 2 it is A = dr/dw and c = r. Where L is the cross-entropy of a model's
/// classes, A'A is its Fisher information (Martens, 2020, "New insights and perspectives on the
/// natural gradient method"); for Gaussian noise the two are the same.
///
/// Numbers are double in either precision. A itself is never asked for: of its two squares the
/// caller takes the smaller one.
template <Real Scalar>
class GaussNewton {
 public:
  virtual ~GaussNewton() = default;

  /// Rows of A.
  virtual Index rows() const = 0;
  /// L = |c|^2 / 2 and A = dc/dw: what Levenberg-Marquardt asks for.
  virtual bool least_squares() const = 0;
  /// What `kernel` or `matrix` costs, in gradients of the objective.
  virtual double cost() const = 0;

  /// c <- c(w), K <- A A', rows x rows.
  virtual void kernel(In<Scalar> w, Vector& c, Matrix& K) const = 0;
  /// G <- A'A, parameters x parameters.
  virtual void matrix(In<Scalar> w, Matrix& G) const = 0;
  /// result <- A(w)'x. Costs a gradient.
  virtual void pull(In<Scalar> w, const Vector& x, Vector& result) const = 0;
};

/// The form of this objective: its own, where its class also derives from GaussNewton; that of a
/// network with any loss and a batch; that of the library's test functions, all of which are sums
/// of squares. Null for others. The objective must outlive it.
template <Real Scalar>
std::shared_ptr<const GaussNewton<Scalar>> gauss_newton(const BasicObjective<Scalar>& objective);

}  // namespace symport
