// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/core/random.hpp"
#include "symport/symmetries/slot_group.hpp"

namespace symport {

// One group of a product, its elements and its algebra as matrices (see GroupMatrices).

/// Its elements are n x n.
inline bool is_dense(GroupKind kind) {
  return kind == GroupKind::general_linear || kind == GroupKind::orthogonal;
}
/// Its elements are orthogonal.
inline bool is_compact(GroupKind kind) {
  return kind != GroupKind::scaling && kind != GroupKind::general_linear;
}
/// It has a Lie algebra.
inline bool is_continuous(GroupKind kind) {
  return kind != GroupKind::signs && kind != GroupKind::permutations;
}

Matrix group_identity(const SlotGroup& group);
Matrix algebra_zero(const SlotGroup& group);
/// a b
Matrix group_product(GroupKind kind, const Matrix& a, const Matrix& b);
/// Throws std::logic_error when the size does not fit, InvalidArgument when g is not in the group.
Matrix group_inverse(const SlotGroup& group, const Matrix& g);
/// exp(T); the identity without an algebra.
Matrix group_exponential(const SlotGroup& group, const Matrix& T);
/// The algebra element that represents T -> tr(N'T), for an n x n matrix N or its diagonal.
Matrix algebra_part(GroupKind kind, const Matrix& N);
/// tr(S'T), half of it for O.
double algebra_inner(GroupKind kind, const Matrix& S, const Matrix& T);
/// Drawn uniformly from a compact group.
Matrix uniform_element(const SlotGroup& group, Random& random);

/// A permutation as numbers.
std::vector<Index> order_of(const Matrix& g);

}  // namespace symport
