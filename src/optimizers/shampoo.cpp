// SPDX-License-Identifier: MIT
#include "symport/optimizers/shampoo.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/symmetric_root.hpp"
#include "optimizers/option_checks.hpp"
#include "symport/core/gemm.hpp"

namespace symport {

namespace {

/// The numbers in the buffer `steps`.
struct ShampooSteps {
  enum : Index { made, since_roots, count };
};

/// As AdaGrad has it.
constexpr double adagrad_epsilon = 1e-10;

template <Real Scalar>
Eigen::Map<MatrixOf<Scalar>> square_at(VectorOf<Scalar>& values, Index first, Index order) {
  return {values.data() + first, order, order};
}
template <Real Scalar>
Eigen::Map<const MatrixOf<Scalar>> square_at(const VectorOf<Scalar>& values, Index first,
                                             Index order) {
  return {values.data() + first, order, order};
}

}  // namespace

std::string_view to_string(Grafting grafting) {
  switch (grafting) {
    case Grafting::none:
      return "none";
    case Grafting::sgd:
      return "sgd";
    case Grafting::adagrad:
      return "adagrad";
  }
  return "unknown";
}

template <Real Scalar>
Index Shampoo<Scalar>::Block::statistics_size() const {
  return left || right ? (left ? rows * rows : 0) + (right ? cols * cols : 0) : size();
}

template <Real Scalar>
Shampoo<Scalar>::Shampoo(ParameterLayout layout, const ShampooOptions& options)
    : options_(options), dimension_(layout.size()) {
  require_fraction("momentum", options.momentum);
  require_positive("decay", options.decay);
  if (options.decay > 1.0) {
    throw InvalidArgument("decay", fmt::format("{}", options.decay), "a number > 0 and <= 1");
  }
  require_not_negative("epsilon", options.epsilon);
  require_count("refresh", options.refresh);
  require_count("largest_side", options.largest_side);
  for (const ParameterBlock& block : layout.blocks()) {
    const bool matrix = block.rows > 1 && block.cols > 1;
    blocks_.push_back({block.offset, block.rows, block.cols,
                       matrix && block.rows <= options.largest_side,
                       matrix && block.cols <= options.largest_side, statistics_size_});
    statistics_size_ += blocks_.back().statistics_size();
  }
}

template <Real Scalar>
double Shampoo<Scalar>::amplification() const {
  return options_.grafting == Grafting::sgd ? 1.0 / (1.0 - options_.momentum) : 0.0;
}

template <Real Scalar>
OptimizerState<Scalar> Shampoo<Scalar>::init(Index dimension) const {
  if (dimension != dimension_) {
    throw InvalidArgument("dimension", fmt::format("{}", dimension),
                          fmt::format("{}, that of the layout", dimension_));
  }
  OptimizerState<Scalar> state;
  state.add("velocity", StateKind::tangent, dimension);
  if (options_.grafting == Grafting::adagrad) {
    state.add("squares", StateKind::squared_cotangent, dimension);
  }
  state.add("statistics", StateKind::scalar, statistics_size_);
  state.add("roots", StateKind::scalar, statistics_size_);
  state.add("steps", StateKind::scalar, ShampooSteps::count);
  return state;
}

template <Real Scalar>
void Shampoo<Scalar>::gather(const Block& block, In<Scalar> gradient,
                             VectorOf<Scalar>& statistics) const {
  const auto decay = static_cast<Scalar>(options_.decay);
  if (!block.left && !block.right) {
    auto diagonal = statistics.segment(block.statistics, block.size()).array();
    diagonal = decay * diagonal + gradient.segment(block.offset, block.size()).array().square();
    return;
  }
  const Eigen::Map<const MatrixOf<Scalar>> G(gradient.data() + block.offset, block.rows,
                                             block.cols);
  Index first = block.statistics;
  MatrixOf<Scalar> product;
  if (block.left) {
    product.resize(block.rows, block.rows);
    row_gram<Scalar>(G, product);
    auto L = square_at<Scalar>(statistics, first, block.rows);
    L = decay * L + product;
    first += block.rows * block.rows;
  }
  if (block.right) {
    product.resize(block.cols, block.cols);
    gram<Scalar>(G, product);
    auto R = square_at<Scalar>(statistics, first, block.cols);
    R = decay * R + product;
  }
}

template <Real Scalar>
void Shampoo<Scalar>::find_roots(const Block& block, const VectorOf<Scalar>& statistics,
                                 VectorOf<Scalar>& roots) const {
  Index first = block.statistics;
  const auto find = [&](bool has, Index order) {
    if (!has) return;
    MatrixOf<Scalar> A = square_at<Scalar>(statistics, first, order);
    // Of statistics that have diverged there is no root: the last one stays.
    if (symmetric_root<Scalar>(block.exponent(), options_.epsilon, A)) {
      square_at<Scalar>(roots, first, order) = A;
    }
    first += order * order;
  };
  find(block.left, block.rows);
  find(block.right, block.cols);
}

template <Real Scalar>
void Shampoo<Scalar>::precondition(const Block& block, In<Scalar> gradient,
                                   const VectorOf<Scalar>& statistics,
                                   const VectorOf<Scalar>& roots, Out<Scalar> u) const {
  const auto g = gradient.segment(block.offset, block.size());
  auto out = u.segment(block.offset, block.size());
  Index first = block.statistics;
  if (!block.left && !block.right) {
    const auto diagonal = statistics.segment(first, block.size()).array();
    const Scalar largest = block.size() > 0 ? diagonal.maxCoeff() : Scalar(0);
    if (!(largest > Scalar(0))) {
      out = g;
      return;
    }
    const Scalar floor = largest * static_cast<Scalar>(options_.epsilon);
    // Where there has been no gradient yet there is none now.
    out = (diagonal > Scalar(0))
              .select(g.array() / (diagonal + floor).sqrt(), VectorOf<Scalar>::Zero(block.size()))
              .matrix();
    return;
  }
  const Eigen::Map<const MatrixOf<Scalar>> G(g.data(), block.rows, block.cols);
  Eigen::Map<MatrixOf<Scalar>> P(out.data(), block.rows, block.cols);
  if (block.left && block.right) {
    MatrixOf<Scalar> half(block.rows, block.cols);
    multiply<Scalar>(1, false, square_at<Scalar>(roots, first, block.rows), false, G, 0, half);
    first += block.rows * block.rows;
    multiply<Scalar>(1, false, half, false, square_at<Scalar>(roots, first, block.cols), 0, P);
  } else if (block.left) {
    multiply<Scalar>(1, false, square_at<Scalar>(roots, first, block.rows), false, G, 0, P);
  } else {
    multiply<Scalar>(1, false, G, false, square_at<Scalar>(roots, first, block.cols), 0, P);
  }
}

template <Real Scalar>
void Shampoo<Scalar>::advance(In<Scalar> gradient, double learning_rate,
                              OptimizerState<Scalar>& state, Out<Scalar> w) const {
  VectorOf<Scalar>&statistics = state["statistics"], &roots = state["roots"];
  VectorOf<Scalar>&steps = state["steps"], &velocity = state["velocity"];
  for (const Block& block : blocks_) gather(block, gradient, statistics);
  const auto refresh = static_cast<Scalar>(options_.refresh);
  steps[ShampooSteps::since_roots] += Scalar(1);
  // More than this is the same to all that follows.
  steps[ShampooSteps::made] = std::min(steps[ShampooSteps::made] + Scalar(1), Scalar(2) * refresh);
  // In the beginning there are new roots when there is twice as much to know as at the last ones.
  if (steps[ShampooSteps::since_roots] >=
      std::min(steps[ShampooSteps::made] - steps[ShampooSteps::since_roots], refresh)) {
    for (const Block& block : blocks_) find_roots(block, statistics, roots);
    steps[ShampooSteps::since_roots] = Scalar(0);
  }

  VectorOf<Scalar> u(w.size());
  for (const Block& block : blocks_) precondition(block, gradient, statistics, roots, u);
  if (options_.grafting != Grafting::none) {
    VectorOf<Scalar> graft = gradient;
    if (options_.grafting == Grafting::adagrad) {
      VectorOf<Scalar>& squares = state["squares"];
      squares.array() += gradient.array().square();
      graft.array() /= squares.array().sqrt() + static_cast<Scalar>(adagrad_epsilon);
    }
    for (const Block& block : blocks_) {
      auto part = u.segment(block.offset, block.size());
      const Scalar length = part.norm();
      if (length > Scalar(0)) part *= graft.segment(block.offset, block.size()).norm() / length;
    }
  }
  velocity = static_cast<Scalar>(options_.momentum) * velocity + u;
  w -= static_cast<Scalar>(learning_rate) * velocity;
}

template class Shampoo<float>;
template class Shampoo<double>;

}  // namespace symport
