// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "symport/objectives/linear_model.hpp"
#include "symport/symmetries/orbit.hpp"

namespace symport {

/// An orbit of parameters and data together. `objective()` is the one on the moved data.
class DataOrbit : public BasicOrbit<double> {
 public:
  /// g_X, the matrix by which the data of the start is multiplied from the left.
  virtual const Matrix& data_element() const = 0;

 protected:
  using BasicOrbit<double>::BasicOrbit;
};

/// GL(d) on a linear model and its data: g.(W, X) = (W g^-1, g X). Predictions W X do not change,
/// for any data that g is applied to. Exact for invertible g.
///
/// With X' = g X, R = W X - Y (which does not change) and the kernel K = X'^T X':
///   J = tr(R'R K),   dJ/dT   = 2 X' R'R X'^T
///   Phi = |R K|^2,   dPhi/dT = 2 X' (R'R K + K R'R) X'^T
/// at g -> (I + T) g, (F12) and (F13). The decrement is largest where X'X'^T is a multiple of the
/// identity on the residual's space: on whitened data, gradient descent is Newton's method.
class LinearDataSymmetry final {
 public:
  /// The orbit of (w, model.X()). `model` must outlive the orbit.
  std::unique_ptr<DataOrbit> orbit(const LinearModel& model, In<double> w) const;
};

}  // namespace symport
