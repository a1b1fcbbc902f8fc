// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "symport/core/types.hpp"
#include "symport/objectives/local_curvature.hpp"
#include "symport/objectives/weight_inputs.hpp"

namespace symport {

template <Real Scalar>
class MlpObjective;

/// A loss L(w) with the derivatives that training and teleportation need.
///
/// The value is a double in either precision. Implementations are pure: the same w gives the same
/// bytes, whoever else calls at the same time. Every objective of the library may be shared by
/// threads through a const reference; an own one must either do the same (buffers that are kept
/// between calls: `Workspaces`) or stay on one thread, as the library itself calls an objective
/// only on the thread that passed it in. Outputs never alias inputs; sizes are `dimension()`
/// throughout (checked by the callers at the public boundary, not here).
template <Real Scalar>
class BasicObjective {
 public:
  virtual ~BasicObjective() = default;

  virtual Index dimension() const = 0;
  /// L(w).
  virtual double value(In<Scalar> w) const = 0;
  /// gradient <- dL/dw; returns L(w).
  virtual double gradient(In<Scalar> w, Out<Scalar> gradient) const = 0;
  /// result <- H(w) v with H the Hessian of L. The default is a central difference of two
  /// gradients, good to about two thirds of the digits: value and gradient are all that must be
  /// written. Exact products make teleports as exact as they can be.
  virtual void hessian_vector(In<Scalar> w, In<Scalar> v, Out<Scalar> result) const;
  /// result <- d/de H(w + e v) v at e = 0, the third derivative of L along v, v and a free index.
  /// The default is a central difference of two Hessian-vector products.
  virtual void third_derivative(In<Scalar> w, In<Scalar> v, Out<Scalar> result) const;
  /// v' H(w) v. The default is one Hessian-vector product.
  virtual double curvature(In<Scalar> w, In<Scalar> v) const;
  /// The landscape around w, where the gradient may be `known` ({}: it is not). The default asks
  /// for Hessian-vector products. The objective must outlive it; w is copied.
  virtual std::unique_ptr<LocalCurvature<Scalar>> local_curvature(
      In<Scalar> w, KnownGradient<Scalar> known) const;

  /// Calls use(inputs) for every weight matrix whose inputs at w are known, always in the same
  /// order: what an own model overrides to take round trips. The default throws InvalidArgument.
  virtual void weight_inputs(In<Scalar> w, const UseInputs<Scalar>& use) const;

  /// The network whose loss this is, for symmetries that act on its layers; null for any other
  /// objective. A wrapper passes the question on to what it wraps.
  virtual const MlpObjective<Scalar>* mlp() const { return nullptr; }
  /// Called with work on the states of `mlp()` that bypassed the functions above, in gradients. For
  /// wrappers that count.
  virtual void note_work(double /*gradients*/) const {}
};

using Objective = BasicObjective<double>;

/// The n x n Hessian from n Hessian-vector products. For small n.
Matrix hessian(const Objective& objective, In<double> w);

/// The largest eigenvalue of the Hessian at w by at most `iterations` Lanczos steps from `start`
/// (exact when `iterations >= n`; otherwise a lower bound that is good to a few per cent). Each
/// step costs one Hessian-vector product.
template <Real Scalar>
double largest_curvature(const BasicObjective<Scalar>& objective, In<Scalar> w, In<Scalar> start,
                         Index iterations);

/// That eigenvalue with a unit eigenvector, to the accuracy of a Ritz vector.
template <Real Scalar>
struct Eigenpair {
  double value = 0.0;
  VectorOf<Scalar> vector;
};
template <Real Scalar>
Eigenpair<Scalar> largest_eigenpair(const BasicObjective<Scalar>& objective, In<Scalar> w,
                                    In<Scalar> start, Index iterations);

}  // namespace symport
