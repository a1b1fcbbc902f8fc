// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "symport/core/random.hpp"
#include "symport/objectives/loss.hpp"

namespace symport {

/// The factor of |z - y|^2 / 2 in the loss of one sample.
inline double curvature_of(const Loss& loss, Index outputs) {
  return loss.kind() == Loss::Kind::mean_squares ? 2.0 / static_cast<double>(outputs) : 1.0;
}

/// p <- softmax of the columns of z.
template <Real Scalar>
void softmax(const MatrixOf<Scalar>& z, MatrixOf<Scalar>& p) {
  p = z;
  for (Index i = 0; i < p.cols(); ++i) {
    p.col(i) = (p.col(i).array() - p.col(i).maxCoeff()).exp();
    p.col(i) /= p.col(i).sum();
  }
}

/// delta <- dL/dz of every sample with a target from the model.
template <Real Scalar>
void sample_delta(const Loss& loss, const MatrixOf<Scalar>& z, Random& random,
                  MatrixOf<Scalar>& delta) {
  if (loss.categorical()) {
    softmax<Scalar>(z, delta);
    for (Index i = 0; i < z.cols(); ++i) {
      double left = random.uniform();
      Index chosen = 0;
      for (; chosen + 1 < z.rows(); ++chosen) {
        left -= static_cast<double>(delta(chosen, i));
        if (left < 0.0) break;
      }
      delta(chosen, i) -= Scalar(1);
    }
    return;
  }
  const double deviation = std::sqrt(curvature_of(loss, z.rows()));
  delta.resize(z.rows(), z.cols());
  for (Index i = 0; i < z.cols(); ++i) {
    for (Index k = 0; k < z.rows(); ++k) {
      delta(k, i) = static_cast<Scalar>(deviation * random.normal());
    }
  }
}

/// delta <- column k of a root of the loss's Hessian in z, for every sample: the sum of delta
/// delta' over k is that Hessian. p is the softmax of z for cross-entropy: diag(p) - p p' is the
/// sum of p_k (e_k - p)(e_k - p)'.
template <Real Scalar>
void exact_delta(const Loss& loss, const MatrixOf<Scalar>& p, Index k, MatrixOf<Scalar>& delta) {
  if (loss.categorical()) {
    delta = -p;
    delta.row(k).array() += Scalar(1);
    delta.array().rowwise() *= p.row(k).array().sqrt();
    return;
  }
  delta.setZero(p.rows(), p.cols());
  delta.row(k).setConstant(static_cast<Scalar>(std::sqrt(curvature_of(loss, p.rows()))));
}

}  // namespace symport
