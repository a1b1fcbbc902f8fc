// SPDX-License-Identifier: MIT
#include "symport/objectives/objective.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/dense.hpp"

namespace symport {

template <Real Scalar>
void BasicObjective<Scalar>::third_derivative(In<Scalar> w, In<Scalar> v,
                                              Out<Scalar> result) const {
  // Central difference over e |v| = cbrt(roundoff) * max(1, |w|), where truncation and rounding
  // errors balance.
  const Scalar norm = v.norm();
  if (norm == Scalar(0)) {
    result.setZero();
    return;
  }
  const Scalar e = std::cbrt(std::numeric_limits<Scalar>::epsilon()) *
                   std::max(Scalar(1), Scalar(w.norm())) / norm;
  VectorOf<Scalar> minus(w.size());
  hessian_vector(w + e * v, v, result);
  hessian_vector(w - e * v, v, minus);
  result = (result - minus) / (2 * e);
}

template <Real Scalar>
double BasicObjective<Scalar>::curvature(In<Scalar> w, In<Scalar> v) const {
  VectorOf<Scalar> Hv(v.size());
  hessian_vector(w, v, Hv);
  return static_cast<double>(v.dot(Hv));
}

Matrix hessian(const Objective& objective, In<double> w) {
  const Index n = objective.dimension();
  Matrix H(n, n);
  Vector unit = Vector::Zero(n);
  for (Index j = 0; j < n; ++j) {
    unit[j] = 1.0;
    objective.hessian_vector(w, unit, H.col(j));
    unit[j] = 0.0;
  }
  return 0.5 * (H + H.transpose());
}

template <Real Scalar>
double largest_curvature(const BasicObjective<Scalar>& objective, In<Scalar> w, In<Scalar> start,
                         Index iterations) {
  const Index n = objective.dimension();
  const Index most = std::min(iterations, n);
  // Lanczos with full reorthogonalisation: the basis is small.
  MatrixOf<Scalar> basis(n, most);
  Vector diagonal(most), off_diagonal(most);
  VectorOf<Scalar> q = start, Hq(n);
  if (!(q.norm() > Scalar(0))) q.setOnes();
  q.normalize();
  Index k = 0;
  while (k < most) {
    basis.col(k) = q;
    objective.hessian_vector(w, q, Hq);
    diagonal[k] = static_cast<double>(q.dot(Hq));
    for (int pass = 0; pass < 2; ++pass) {
      Hq -= basis.leftCols(k + 1) * (basis.leftCols(k + 1).transpose() * Hq);
    }
    const double beta = static_cast<double>(Hq.norm());
    off_diagonal[k] = beta;
    const double scale = diagonal.head(k + 1).cwiseAbs().maxCoeff();
    ++k;
    if (k < most && !(beta > 10 * std::numeric_limits<Scalar>::epsilon() * scale)) {
      // The Krylov space is invariant; the rest of the spectrum is reached from a new direction.
      const auto complement = [&](VectorOf<Scalar> v) {
        for (int pass = 0; pass < 2; ++pass) {
          v -= basis.leftCols(k) * (basis.leftCols(k).transpose() * v);
        }
        return v;
      };
      q = complement(VectorOf<Scalar>::LinSpaced(n, Scalar(1), Scalar(2)));
      if (!(q.norm() > Scalar(1e-3) * std::sqrt(Scalar(n)))) {
        // That lies in the space too; the unit vector farthest from it does not.
        Index farthest = 0;
        basis.leftCols(k).rowwise().squaredNorm().minCoeff(&farthest);
        q = complement(VectorOf<Scalar>::Unit(n, farthest));
      }
      q.normalize();
      off_diagonal[k - 1] = 0.0;
    } else {
      q = Hq / static_cast<Scalar>(beta);
    }
  }
  return tridiagonal_eigenvalues(diagonal.head(k), off_diagonal.head(k - 1))[k - 1];
}

template class BasicObjective<float>;
template class BasicObjective<double>;
template double largest_curvature(const BasicObjective<float>&, In<float>, In<float>, Index);
template double largest_curvature(const BasicObjective<double>&, In<double>, In<double>, Index);

}  // namespace symport
