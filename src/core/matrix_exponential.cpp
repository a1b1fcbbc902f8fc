// SPDX-License-Identifier: MIT
#include "symport/core/matrix_exponential.hpp"

#include <unsupported/Eigen/MatrixFunctions>

namespace symport {

Matrix matrix_exponential(const Matrix& T) { return T.exp(); }

}  // namespace symport
