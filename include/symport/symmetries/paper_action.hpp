// SPDX-License-Identifier: MIT
#pragma once

#include "symport/symmetries/symmetry.hpp"

namespace symport {

/// Eq. (8) of the paper as printed, with I + T for g and I - T for its inverse, applied to the
/// hidden layers bottom up. *Not loss-invariant*: I - T is not the inverse of I + T, and with fewer
/// samples than units W_m = sigma^-1(g sigma(W_m h_(m-1))) h_(m-1)+ loses all of W_m that the batch
/// does not see, even at T = 0. It exists to reproduce the paper's figures (a fixed rate, fixed
/// steps) and to show that drift; `GeneralLinear` is the exact action.
///
/// Works on any batch (least squares where it is too large). Cost: dense, one Hessian-vector
/// product and a pseudo-inverse per layer and ascent step. `orbit` throws InvalidArgument when the
/// objective is not an `MlpObjective`, the network has no hidden layer or its activation is not a
/// bijection.
template <Real Scalar = double>
class PaperAction final : public BasicSymmetry<Scalar> {
 public:
  std::string name() const override { return "paper"; }
  bool loss_invariant() const override { return false; }
  using BasicSymmetry<Scalar>::orbit;
  OrbitOrReason<Scalar> orbit(const BasicObjective<Scalar>& objective, In<Scalar> w) const override;
};

}  // namespace symport
