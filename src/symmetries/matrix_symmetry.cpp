// SPDX-License-Identifier: MIT
#include "symport/symmetries/matrix_symmetry.hpp"

#include <cmath>

#include "core/dense.hpp"
#include "symmetries/matrix_orbit.hpp"

namespace symport {

double MatrixSymmetry::inner(const Matrix& S, const Matrix& T) const {
  return S.cwiseProduct(T).sum();
}

Matrix MatrixSymmetry::random_element(Random& random, double spread) const {
  Matrix T = project(random.normal_matrix(order(), order()));
  T *= spread / std::sqrt(inner(T, T));
  return matrix_exponential(T);
}

OrbitOrReason<double> MatrixSymmetry::orbit(const Objective& objective, In<double> w) const {
  return std::make_unique<MatrixOrbit>(*this, objective, w);
}

}  // namespace symport
