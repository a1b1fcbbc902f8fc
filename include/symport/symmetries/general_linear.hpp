// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "symport/objectives/mlp_objective.hpp"
#include "symport/symmetries/symmetry.hpp"

namespace symport {

struct GeneralLinearOptions {
  /// Hidden layers that GL acts on, counted from 1; empty: all.
  std::vector<Index> layers{};
  /// When the batch is too large or rank-deficient: use as many of its samples as possible instead
  /// of refusing.
  bool allow_partial_batch = false;
  /// Ascent directions of more than twice this rank are cut to it; 0: never; unset: max(16, n/6).
  /// The gradient has rank up to 4n, but few of its singular values matter: on MNIST, ten steps
  /// along its projection onto this many leading directions get as far (97 to 100 per cent of the
  /// predicted decrease for n = 20 and n = 400) in half the time.
  std::optional<Index> max_rank{};
};

/// GL(d_1) x ... x GL(d_(p-1)) on the hidden layers of a network with a bijective activation,
/// exact on a batch, in residual form with transported left inverses, (G2) of
/// docs/mathematics/networks.md.
///
/// Bound to a batch: the outputs for the batch of the objective do not change, those for other data
/// do (`Orbit::scope`). Where it acts on hidden layer m, the states h_(m-1) of the n samples must
/// be linearly independent, so n <= d_(m-1) (+1 with biases). Otherwise there is no orbit, and the
/// reason has n, the rank and the width. With `allow_partial_batch` the orbit is that of the
/// largest usable part: only the *part's* loss is kept, so `orbit.objective()` is the loss of the
/// part, everything that the orbit measures and the certificate of the teleport refer to it, and
/// `scope()` says so. A teleport that raises the loss of the whole batch is refused.
///
/// `orbit` throws InvalidArgument when the objective is not an `MlpObjective`, the network has no
/// hidden layer, a chosen layer is not one, or the activation is not a bijection of the real line.
template <Real Scalar = double>
class GeneralLinear final : public BasicSymmetry<Scalar> {
 public:
  explicit GeneralLinear(GeneralLinearOptions options = {});

  std::string name() const override { return "gl"; }
  bool bound_to_batch() const override { return true; }
  using BasicSymmetry<Scalar>::orbit;
  OrbitOrReason<Scalar> orbit(const BasicObjective<Scalar>& objective, In<Scalar> w) const override;

 private:
  GeneralLinearOptions options_;
};

}  // namespace symport
