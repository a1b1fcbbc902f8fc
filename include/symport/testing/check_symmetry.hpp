// SPDX-License-Identifier: MIT
#pragma once

#include "symport/symmetries/symmetry.hpp"
#include "symport/testing/check_gradient.hpp"

namespace symport::testing {

struct CheckSymmetryOptions {
  double tolerance = 1e-10;  ///< relative, of every law that holds exactly
  double spread = 0.5;       ///< size of the random elements of a non-compact group
  int elements = 5;          ///< random elements per law; zero and tiny ones are always tried
};

/// Checks the laws of any symmetry at w. Stops at the first failure and reports it with numbers
/// and, where vectors differ, the entry that is off most, counted from 0. Errors are relative, so
/// neither the loss nor its gradient may be zero at w.
///
/// For its group, where it has explicit elements (MatrixSymmetry, SlotSymmetry):
///   identity      act(1, w) = w
///   inverse       act(g^-1, act(g, w)) = w
///   composition   act(a, act(b, w)) = act(a b, w)
///   invariance    L(act(g, w)) = L(w)
///   transport     dL/dw at act(g, w) is what transport makes of dL/dw at w
///   pull_back     d/de <c, act(exp(e T), w)> = inner(pull_back(w, c), T), by Taylor slope
///
/// For its orbit, which every symmetry has, at zero, tiny and random elements and its candidate:
///   orbit         there is one; it begins at w, and `back` returns to the base
///   invariance    as above
///   J, Phi        what the orbit says is what the objective says at the point
///   transport     of every kind that the symmetry `transports`: gradients as above; tangents keep
///                 their product with covectors; the point w goes to the current point; squares of
///                 a covector go to those of the moved one
///   aim           J, Phi and a functional of w grow along `move` as fast as `aim` says, by slope
CheckResult check_symmetry(const Symmetry& symmetry, const Objective& objective, In<double> w,
                           Random& random, const CheckSymmetryOptions& options = {});

}  // namespace symport::testing
