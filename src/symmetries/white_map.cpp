// SPDX-License-Identifier: MIT
#include "symmetries/white_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/dense.hpp"
#include "symport/core/gemm.hpp"

namespace symport {

namespace {

/// h h' on the span of h: eigenvalues and orthonormal eigenvectors.
struct Span {
  Vector values;
  Matrix vectors;
};

/// Up to this order singular values are cheap, and small ones twice as accurate as by squares.
constexpr Index exact_order = 64;

Span span_of(const Matrix& h) {
  const bool wide = h.cols() > h.rows();
  const Index order = std::min(h.rows(), h.cols());
  if (order <= exact_order) {
    const SingularValues svd = singular_values(h);
    const double rounding =
        static_cast<double>(order) * std::numeric_limits<double>::epsilon() * svd.values[0];
    const Index rank = (svd.values.array() > rounding).count();
    return {svd.values.head(rank).cwiseAbs2(), svd.U.leftCols(rank)};
  }
  Matrix gram(order, order);
  multiply<double>(1, !wide, h, wide, h, 0, gram);
  const SymmetricEigen eigen = symmetric_eigen(gram);
  const double largest = eigen.values[order - 1];
  const double rounding =
      static_cast<double>(order) * std::numeric_limits<double>::epsilon() * largest;
  const Index rank = (eigen.values.array() > rounding).count();
  Span span{eigen.values.tail(rank), eigen.vectors.rightCols(rank)};
  if (!wide) {
    // h'h = V Lambda V' makes h V Lambda^(-1/2) orthonormal.
    span.vectors = span.vectors * span.values.cwiseSqrt().cwiseInverse().asDiagonal();
    Matrix vectors(h.rows(), rank);
    multiply<double>(1, false, h, false, span.vectors, 0, vectors);
    span.vectors = std::move(vectors);
  }
  return span;
}

}  // namespace

template <Real Scalar>
LowRankElement<Scalar> white_map(MatrixIn<Scalar> h, const WhiteMapOptions& options) {
  const Matrix states = h.template cast<double>();
  if (states.size() == 0 || !states.allFinite() || states.isZero(0.0)) return {};
  const Span span = span_of(states);
  const double lambda =
      std::max(options.damping * span.values.mean(), options.floor * span.values.maxCoeff());
  const Vector gains = (span.values.array() + lambda).rsqrt();
  const double gamma = std::exp(gains.array().log().mean());
  const Vector excess = gains.array() / gamma - 1.0;
  const Matrix left = span.vectors * excess.asDiagonal();
  auto T = std::make_shared<const LowRankMatrix<Scalar>>(left.cast<Scalar>(),
                                                         span.vectors.cast<Scalar>());
  return LowRankElement<Scalar>(std::move(T), 1.0).times(gamma);
}

template LowRankElement<float> white_map(MatrixIn<float>, const WhiteMapOptions&);
template LowRankElement<double> white_map(MatrixIn<double>, const WhiteMapOptions&);

}  // namespace symport
