// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/parameter_layout.hpp"
#include "symport/symmetries/slot_group.hpp"

namespace symport {

/// A slot inside the flat vector. Column-major, the entries of one coordinate j of the group are
/// column j of `blocks` matrices (inner x n) that are contiguous each, `distance` apart. What is
/// repeated counts as inner.
struct SlotPlace {
  Index offset = 0;
  Index inner = 1;
  Index n = 0;
  Index blocks = 1;
  Index distance = 0;
  double exponent = 1.0;  ///< rho = s^exponent for a scaling; 1: g, -1: g^-T for all groups
  bool shared = false;    ///< the tensor has a slot on another axis too
};

/// Throws InvalidArgument when the slot is not in the layout or does not fit a group of this kind
/// and size.
SlotPlace place_of(const ParameterLayout& layout, GroupKind kind, Index size, const Slot& slot);

/// X as n x blocks when inner is 1.
template <class Number>
auto side_by_side(const SlotPlace& place, Number* w) {
  using Plain = std::conditional_t<std::is_const_v<Number>,
                                   const MatrixOf<std::remove_const_t<Number>>, MatrixOf<Number>>;
  return Eigen::Map<Plain, 0, Eigen::OuterStride<>>(w + place.offset, place.n, place.blocks,
                                                    Eigen::OuterStride<>(place.distance));
}

/// Block b, inner x n.
template <class Number>
auto block_of(const SlotPlace& place, Index b, Number* w) {
  using Plain = std::conditional_t<std::is_const_v<Number>,
                                   const MatrixOf<std::remove_const_t<Number>>, MatrixOf<Number>>;
  return Eigen::Map<Plain>(w + place.offset + b * place.distance, place.inner, place.n);
}

/// X <- M x X along the slot's axis.
template <class Number>
void apply_matrix(const SlotPlace& place, const MatrixOf<Number>& M, Number* w) {
  if (place.inner == 1) {
    auto X = side_by_side(place, w);
    X = (M * X).eval();
    return;
  }
  for (Index b = 0; b < place.blocks; ++b) {
    auto X = block_of(place, b, w);
    X = (X * M.transpose()).eval();
  }
}

/// Coordinate j times (or divided by) factors[j].
template <class Number>
void apply_diagonal(const SlotPlace& place, const VectorOf<Number>& factors, bool divide,
                    Number* w) {
  if (place.inner == 1) {
    auto X = side_by_side(place, w).array();
    if (divide) {
      X.colwise() /= factors.array();
    } else {
      X.colwise() *= factors.array();
    }
    return;
  }
  for (Index b = 0; b < place.blocks; ++b) {
    auto X = block_of(place, b, w);
    for (Index j = 0; j < place.n; ++j) {
      if (divide) {
        X.col(j) /= factors[j];
      } else {
        X.col(j) *= factors[j];
      }
    }
  }
}

/// Coordinate j <- the old one at order[j].
template <class Number>
void apply_order(const SlotPlace& place, const std::vector<Index>& order, Number* w) {
  if (place.inner == 1) {
    auto X = side_by_side(place, w);
    X = X(order, Eigen::all).eval();
    return;
  }
  for (Index b = 0; b < place.blocks; ++b) {
    auto X = block_of(place, b, w);
    X = X(Eigen::all, order).eval();
  }
}

inline void fill_ones(const SlotPlace& place, double* w) {
  for (Index b = 0; b < place.blocks; ++b) block_of(place, b, w).setOnes();
}

/// C_(k) P_(k)', n x n; with `diagonal` its diagonal alone, n x 1.
inline Matrix slot_product(const SlotPlace& place, const double* c, const double* p,
                           bool diagonal) {
  if (place.inner == 1) {
    const auto C = side_by_side(place, c), P = side_by_side(place, p);
    if (diagonal) return C.cwiseProduct(P).rowwise().sum();
    return C * P.transpose();
  }
  Matrix sum = Matrix::Zero(place.n, diagonal ? 1 : place.n);
  for (Index b = 0; b < place.blocks; ++b) {
    const auto C = block_of(place, b, c), P = block_of(place, b, p);
    if (diagonal) {
      sum += C.cwiseProduct(P).colwise().sum().transpose();
    } else {
      sum.noalias() += C.transpose() * P;
    }
  }
  return sum;
}

}  // namespace symport
