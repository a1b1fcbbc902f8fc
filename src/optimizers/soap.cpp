// SPDX-License-Identifier: MIT
#include "symport/optimizers/soap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/column_basis.hpp"
#include "core/symmetric_root.hpp"
#include "optimizers/option_checks.hpp"
#include "symport/core/gemm.hpp"

namespace symport {

namespace {

template <Real Scalar>
using BasisMap = Eigen::Map<MatrixOf<Scalar>>;

/// Q <- the eigenvectors of S, or the identity where it has none.
template <Real Scalar>
void first_basis(const BasisMap<Scalar>& S, BasisMap<Scalar> Q) {
  MatrixOf<Scalar> vectors = S;
  VectorOf<Scalar> values;
  if (!symmetric_eigenvectors<Scalar>(vectors, values)) vectors.setIdentity();
  Q = vectors;
}

/// Q <- one power iteration on S from Q. `order` <- which column became which.
template <Real Scalar>
void next_basis(const BasisMap<Scalar>& S, BasisMap<Scalar> Q, std::vector<Index>& order) {
  const Index n = S.rows();
  MatrixOf<Scalar> product(n, n), sorted(n, n);
  multiply<Scalar>(1, false, S, false, Q, 0, product);
  const VectorOf<Scalar> values = Q.cwiseProduct(product).colwise().sum();
  order.resize(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index(0));
  if (!product.allFinite()) return;  // of statistics that have diverged: the last one stays
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index j) { return values[i] > values[j]; });
  for (Index j = 0; j < n; ++j) sorted.col(j) = product.col(order[static_cast<std::size_t>(j)]);
  Q = column_basis<Scalar>(sorted);
}

}  // namespace

template <Real Scalar>
Soap<Scalar>::Soap(const ParameterLayout& layout, const SoapOptions& options)
    : options_(options), dimension_(layout.size()) {
  require_fraction("beta1", options.beta1);
  require_fraction("beta2", options.beta2);
  require_positive("epsilon", options.epsilon);
  require_not_negative("weight_decay", options.weight_decay);
  require_count("refresh", options.refresh);
  require_count("largest_side", options.largest_side);
  Index statistics = 0;
  for (const ParameterBlock& block : layout.blocks()) {
    const bool matrix = block.rows > 1 && block.cols > 1;
    blocks_.push_back({block.offset, block.rows, block.cols,
                       matrix && block.rows <= options.largest_side,
                       matrix && block.cols <= options.largest_side, statistics});
    statistics = blocks_.back().statistics_end();
  }
}

template <Real Scalar>
OptimizerState<Scalar> Soap<Scalar>::init(Index dimension) const {
  if (dimension != dimension_) {
    throw InvalidArgument("dimension", fmt::format("{}", dimension),
                          fmt::format("{}, that of the layout", dimension_));
  }
  const Index statistics = blocks_.empty() ? 0 : blocks_.back().statistics_end();
  OptimizerState<Scalar> state;
  state.add("mean", StateKind::cotangent, dimension);
  state.add("squares", StateKind::scalar, dimension);
  state.add("statistics", StateKind::scalar, statistics);
  state.add("bases", StateKind::scalar, statistics);
  return state;
}

template <Real Scalar>
void Soap<Scalar>::rotate(const Block& block, const VectorOf<Scalar>& bases, bool back,
                          MatrixOf<Scalar>& A) const {
  using ConstMap = Eigen::Map<const MatrixOf<Scalar>>;
  MatrixOf<Scalar> product(block.left || block.right ? block.rows : 0, block.cols);
  if (block.left) {
    const ConstMap Q(bases.data() + block.statistics, block.rows, block.rows);
    multiply<Scalar>(1, !back, Q, false, A, 0, product);
    A.swap(product);
  }
  if (block.right) {
    const ConstMap Q(bases.data() + block.right_statistics(), block.cols, block.cols);
    multiply<Scalar>(1, false, A, back, Q, 0, product);
    A.swap(product);
  }
}

template <Real Scalar>
void Soap<Scalar>::move(const Block& block, In<Scalar> gradient, double learning_rate,
                        OptimizerState<Scalar>& state, Out<Scalar> w) const {
  const auto b1 = static_cast<Scalar>(options_.beta1), b2 = static_cast<Scalar>(options_.beta2);
  const auto g = gradient.segment(block.offset, block.size());
  auto mean = state["mean"].segment(block.offset, block.size());
  mean = b1 * mean + (1 - b1) * g;
  MatrixOf<Scalar> A = g.reshaped(block.rows, block.cols);
  rotate(block, state["bases"], false, A);
  BasisMap<Scalar> V(state["squares"].data() + block.offset, block.rows, block.cols);
  V = b2 * V.array() + (1 - b2) * A.array().square();
  A = mean.reshaped(block.rows, block.cols);
  rotate(block, state["bases"], false, A);
  A.array() /= V.array().sqrt() + static_cast<Scalar>(options_.epsilon);
  rotate(block, state["bases"], true, A);
  const auto t = static_cast<double>(state.count);
  const auto rate =
      static_cast<Scalar>(learning_rate * std::sqrt(1.0 - std::pow(options_.beta2, t)) /
                          (1.0 - std::pow(options_.beta1, t)));
  const auto kept = static_cast<Scalar>(1.0 - learning_rate * options_.weight_decay);
  auto part = w.segment(block.offset, block.size());
  part = kept * (part - rate * A.reshaped());
}

template <Real Scalar>
void Soap<Scalar>::gather(const Block& block, In<Scalar> gradient,
                          VectorOf<Scalar>& statistics) const {
  const auto b2 = static_cast<Scalar>(options_.beta2);
  const Eigen::Map<const MatrixOf<Scalar>> G(gradient.data() + block.offset, block.rows,
                                             block.cols);
  MatrixOf<Scalar> product;
  if (block.left) {
    product.resize(block.rows, block.rows);
    row_gram<Scalar>(G, product);
    BasisMap<Scalar> L(statistics.data() + block.statistics, block.rows, block.rows);
    L = b2 * L + (1 - b2) * product;
  }
  if (block.right) {
    product.resize(block.cols, block.cols);
    gram<Scalar>(G, product);
    BasisMap<Scalar> R(statistics.data() + block.right_statistics(), block.cols, block.cols);
    R = b2 * R + (1 - b2) * product;
  }
}

template <Real Scalar>
void Soap<Scalar>::find_bases(const Block& block, OptimizerState<Scalar>& state) const {
  VectorOf<Scalar>&statistics = state["statistics"], &bases = state["bases"];
  BasisMap<Scalar> V(state["squares"].data() + block.offset, block.rows, block.cols);
  std::vector<Index> order;
  const auto find = [&](Index first, Index n) {
    const BasisMap<Scalar> S(statistics.data() + first, n, n), Q(bases.data() + first, n, n);
    if (state.count == 0) {
      first_basis<Scalar>(S, Q);
    } else {
      next_basis<Scalar>(S, Q, order);
    }
  };
  if (block.left) {
    find(block.statistics, block.rows);
    if (!order.empty()) V = MatrixOf<Scalar>(V(order, Eigen::all));
  }
  if (block.right) {
    find(block.right_statistics(), block.cols);
    if (!order.empty()) V = MatrixOf<Scalar>(V(Eigen::all, order));
  }
}

template <Real Scalar>
void Soap<Scalar>::advance(In<Scalar> gradient, double learning_rate, OptimizerState<Scalar>& state,
                           Out<Scalar> w) const {
  for (const Block& block : blocks_) {
    if (state.count > 0) move(block, gradient, learning_rate, state, w);
    gather(block, gradient, state["statistics"]);
    if (state.count % options_.refresh == 0) find_bases(block, state);
  }
}

template class Soap<float>;
template class Soap<double>;

}  // namespace symport
