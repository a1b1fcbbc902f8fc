// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "symport/core/types.hpp"

namespace symport {

/// What a weight matrix multiplies.
enum class InputKind {
  data,    ///< numbers that depend on no parameter, such as pixels
  hidden,  ///< what other layers computed
  factor,  ///< the other factor of a product of two parameters
};

/// A weight matrix W (outputs x d) inside the flat parameter vector, column-major, and the inputs
/// h that it multiplies: z = W h with a column for every sample, position or patch.
template <Real Scalar>
struct WeightInputs {
  Index first = 0;    ///< the place of W's first entry
  Index outputs = 0;  ///< rows of W
  MatrixIn<Scalar> h;
  InputKind kind = InputKind::hidden;
  bool transposed = false;  ///< the parameters are W', d x outputs
};

template <Real Scalar>
using UseInputs = std::function<void(const WeightInputs<Scalar>&)>;

}  // namespace symport
