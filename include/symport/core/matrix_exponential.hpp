// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/types.hpp"

namespace symport {

/// exp(T) of a square matrix, by scaling and squaring.
Matrix matrix_exponential(const Matrix& T);

}  // namespace symport
