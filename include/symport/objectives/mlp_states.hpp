// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// The states of a batch in a network, as `MlpObjective::forward` and `backpropagate` leave them.
/// Index m is layer m, columns are samples.
template <Real Scalar>
struct MlpStates {
  /// sigma(z_m) with its row of ones, if any, for 0 < m < p. h_0 is the batch and stays with the
  /// objective; `MlpObjective::h` has both.
  std::vector<MatrixOf<Scalar>> h;
  std::vector<MatrixOf<Scalar>> z;      ///< for m > 0
  std::vector<MatrixOf<Scalar>> delta;  ///< dL/dz_m for m > 0; only from `backpropagate`
};

}  // namespace symport
