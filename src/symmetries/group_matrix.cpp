// SPDX-License-Identifier: MIT
#include "symmetries/group_matrix.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "core/dense.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/symmetries/rotation.hpp"

namespace symport {

std::string_view to_string(GroupKind kind) {
  switch (kind) {
    case GroupKind::scaling:
      return "scaling";
    case GroupKind::general_linear:
      return "general_linear";
    case GroupKind::orthogonal:
      return "orthogonal";
    case GroupKind::signs:
      return "signs";
    case GroupKind::permutations:
      return "permutations";
  }
  return "unknown";
}

namespace {

Matrix first_numbers(Index n) { return Vector::LinSpaced(n, 0.0, static_cast<double>(n - 1)); }

Matrix general_inverse(const Matrix& g) {
  const Eigen::FullPivLU<Matrix> lu(g);
  if (!g.allFinite() || !lu.isInvertible()) {
    throw InvalidArgument("g", fmt::format("a matrix of rank {}", lu.rank()),
                          fmt::format("an invertible one of order {}", g.rows()));
  }
  return lu.inverse();
}

Matrix orthogonal_inverse(const Matrix& g) {
  const double error = (g.transpose() * g - Matrix::Identity(g.rows(), g.rows())).norm();
  if (!(error <= 1e-10 * static_cast<double>(g.rows()))) {
    throw InvalidArgument("g", fmt::format("a matrix with |g'g - I| = {:.3g}", error),
                          "an orthogonal one");
  }
  return g.transpose();
}

Matrix inverse_order(const Matrix& g) {
  Matrix inverse = Matrix::Constant(g.rows(), 1, -1.0);
  for (Index i = 0; i < g.rows(); ++i) {
    const double from = g(i, 0);
    const bool free = from >= 0.0 && from < static_cast<double>(g.rows()) &&
                      from == std::floor(from) && inverse(static_cast<Index>(from), 0) < 0.0;
    if (!free) {
      throw InvalidArgument("orders", fmt::format("unit {} where it cannot be", from),
                            fmt::format("every number from 0 to {} once", g.rows() - 1));
    }
    inverse(static_cast<Index>(from), 0) = static_cast<double>(i);
  }
  return inverse;
}

}  // namespace

Matrix group_identity(const SlotGroup& group) {
  if (is_dense(group.kind)) return Matrix::Identity(group.size, group.size);
  if (group.kind == GroupKind::permutations) return first_numbers(group.size);
  return Matrix::Ones(group.size, 1);
}

Matrix algebra_zero(const SlotGroup& group) {
  if (is_dense(group.kind)) return Matrix::Zero(group.size, group.size);
  return Matrix::Zero(is_continuous(group.kind) ? group.size : 0, is_continuous(group.kind));
}

Matrix group_product(GroupKind kind, const Matrix& a, const Matrix& b) {
  if (is_dense(kind)) return a * b;
  // b acts first: entry i comes from a(i), which came from b(a(i)).
  if (kind == GroupKind::permutations) return b(order_of(a), Eigen::all);
  return a.cwiseProduct(b);
}

Matrix group_inverse(const SlotGroup& group, const Matrix& g) {
  if (g.rows() != group.size || g.cols() != (is_dense(group.kind) ? group.size : 1)) {
    throw std::logic_error(
        fmt::format("an element of {} x {} numbers does not fit a group {} of size {}", g.rows(),
                    g.cols(), to_string(group.kind), group.size));
  }
  switch (group.kind) {
    case GroupKind::general_linear:
      return general_inverse(g);
    case GroupKind::orthogonal:
      return orthogonal_inverse(g);
    case GroupKind::permutations:
      return inverse_order(g);
    case GroupKind::scaling:
      for (const double scale : g.reshaped()) {
        if (!(scale > 0.0 && std::isfinite(scale))) {
          throw InvalidArgument("scales", fmt::format("{}", scale), "finite numbers > 0");
        }
      }
      return g.cwiseInverse();
    case GroupKind::signs:
      for (const double sign : g.reshaped()) {
        if (std::abs(sign) != 1.0) {
          throw InvalidArgument("signs", fmt::format("{}", sign), "-1 or 1");
        }
      }
      return g;
  }
  return g;
}

Matrix group_exponential(const SlotGroup& group, const Matrix& T) {
  if (is_dense(group.kind)) return matrix_exponential(T);
  if (group.kind == GroupKind::scaling) return T.array().exp();
  return group_identity(group);
}

Matrix algebra_part(GroupKind kind, const Matrix& N) {
  switch (kind) {
    case GroupKind::general_linear:
      return N;
    case GroupKind::orthogonal:  // the half in the inner product makes up for the other half
      return N - N.transpose();
    case GroupKind::scaling:
      return N.cols() == 1 ? N : Matrix(N.diagonal());
    case GroupKind::signs:
    case GroupKind::permutations:
      break;
  }
  return {};
}

double algebra_inner(GroupKind kind, const Matrix& S, const Matrix& T) {
  return (kind == GroupKind::orthogonal ? 0.5 : 1.0) * S.cwiseProduct(T).sum();
}

Matrix uniform_element(const SlotGroup& group, Random& random) {
  if (group.kind == GroupKind::orthogonal) return random_orthogonal(group.size, random, false);
  Matrix g = group_identity(group);
  if (group.kind == GroupKind::signs) {
    for (double& sign : g.reshaped()) sign = random.below(2) == 0 ? 1.0 : -1.0;
    return g;
  }
  std::vector<Index> order = order_of(g);
  random.shuffle(order);
  for (Index i = 0; i < group.size; ++i) {
    g(i, 0) = static_cast<double>(order[static_cast<std::size_t>(i)]);
  }
  return g;
}

std::vector<Index> order_of(const Matrix& g) {
  std::vector<Index> order(static_cast<std::size_t>(g.rows()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<Index>(g(static_cast<Index>(i), 0));
  }
  return order;
}

}  // namespace symport
