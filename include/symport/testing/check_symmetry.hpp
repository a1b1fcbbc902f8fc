// SPDX-License-Identifier: MIT
#pragma once

#include "symport/symmetries/matrix_symmetry.hpp"
#include "symport/testing/check_gradient.hpp"

namespace symport::testing {

struct CheckSymmetryOptions {
  double tolerance = 1e-10;  ///< relative, of every law that holds exactly
  double spread = 0.5;       ///< size of the random elements of a non-compact group
  int elements = 5;          ///< random elements per law; zero and tiny ones are always tried
};

/// All laws in the header of MatrixSymmetry at w: identity, composition, inverse, invariance of
/// `objective`, pull-back (by Taylor slope) and transport (against the gradient at the moved
/// point). Stops at the first law that fails and says which, with the numbers.
CheckResult check_symmetry(const MatrixSymmetry& symmetry, const Objective& objective, In<double> w,
                           Random& random, const CheckSymmetryOptions& options = {});

}  // namespace symport::testing
