// SPDX-License-Identifier: MIT
#pragma once

#include "symport/objectives/quadratic.hpp"
#include "symport/symmetries/rotation.hpp"

namespace symport {

struct SymmetricEigen;

/// O(n) on a quadratic form w'Aw: g.w = A^-1/2 g A^1/2 w (section 5.3 of the paper). Exact on all
/// of R^n; a level set is a single orbit.
///
/// Its orbit has a closed form. With u = A^1/2 w and |u|^2 = c, J = 4 u'Au and Phi = 8 u'A^2u,
/// (F7), are averages over the eigenvalues of A, so the best point is an eigenvector, scaled to the
/// level set: of the largest eigenvalue for J and for the decrement J^2/(2 Phi) (which every
/// eigenvector maximises), of the one with the largest eta l (1 - eta l) for the predicted
/// decrease. The element that goes there is one Householder reflection.
class OrthogonalSymmetry final : public RotationSymmetry {
 public:
  explicit OrthogonalSymmetry(const Quadratic& quadratic);

  std::string name() const override;
  /// Uniform on O(n).
  Matrix random_element(Random& random, double spread) const override;
  using Symmetry::orbit;
  OrbitOrReason<double> orbit(const Objective& objective, In<double> w) const override;

  /// Of A, ascending.
  const Vector& eigenvalues() const { return eigenvalues_; }
  const Matrix& eigenvectors() const { return eigenvectors_; }

 private:
  explicit OrthogonalSymmetry(const SymmetricEigen& eigen);

  Vector eigenvalues_;
  Matrix eigenvectors_;
};

}  // namespace symport
