// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "symport/core/types.hpp"

namespace symport {

/// Lanczos' method with full reorthogonalisation: an orthonormal basis q_1 ... q_k of the Krylov
/// space of a symmetric operator H and a start vector, and the tridiagonal matrix T = Q'HQ, whose
/// eigenvalues (Ritz values) approach the ends of the spectrum of H from inside.
///
/// The inner product is <x, M y>, M symmetric positive definite; without a metric M = I. When to
/// stop is up to the caller:
///
///   Lanczos<double> krylov(n, 12, product);
///   krylov.begin(start);
///   while (krylov.steps() < krylov.capacity()) krylov.step();
///   const double largest = krylov.value();
template <Real Scalar>
class Lanczos {
 public:
  /// y <- a linear map of x; both have `size` entries.
  using Map = std::function<void(const Scalar* x, Scalar* y)>;

  /// For at most `capacity` steps. `product` maps M x (x itself without a metric) to H x, `metric`
  /// maps x to M x.
  Lanczos(Index size, Index capacity, Map product, Map metric = {});

  /// q_1 <- start / |start|. False, and nothing begins, unless |start| > 0.
  bool begin(In<Scalar> start);
  /// Adds q_(k+1), normalised from what the step before left over, at the price of one product.
  void step();
  /// Lets the next step go on from a vector orthogonal to the basis, when the space is invariant:
  /// the rest of the spectrum is reached from there. Without a metric only, and with a basis that
  /// is not complete.
  void restart();

  Index steps() const { return steps_; }
  Index capacity() const { return diagonal_.size(); }
  /// What H q_k leaves outside of the space, as a length; about 0: the space is invariant.
  double remainder() const { return remainder_norm_; }
  /// The largest |<q_i, H q_i>|, which tells what a small remainder is.
  double scale() const { return diagonal_.head(steps_).cwiseAbs().maxCoeff(); }

  /// The largest Ritz value; NaN when the products are not finite.
  double value() const;
  /// The same with its residual |H v - value v|, v the Ritz vector: some eigenvalue of H is that
  /// near, and the error of the value is of second order in it.
  struct Ritz {
    double value = 0.0;
    double residual = 0.0;
  };
  Ritz ritz() const;
  /// v, of length 1.
  VectorOf<Scalar> vector() const;

 private:
  const MatrixOf<Scalar>& images() const { return metric_ ? images_ : basis_; }
  /// |remainder| in the inner product.
  void measure_remainder();
  Matrix tridiagonal() const;

  Map product_, metric_;
  Index steps_ = 0;
  MatrixOf<Scalar> basis_, images_;  ///< Q and M Q; no images without a metric
  Vector diagonal_, off_diagonal_;
  VectorOf<Scalar> remainder_, remainder_image_, coefficients_;
  double remainder_norm_ = 0.0;
};

}  // namespace symport
