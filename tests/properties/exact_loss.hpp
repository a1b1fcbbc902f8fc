// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "symport/objectives/mlp_objective.hpp"

/// Losses by their formulas in long double, with nothing of the library but the shapes: what the
/// property tests measure a teleport with.
namespace symport::testing {

using Long = long double;
/// Flat parameters to loss.
using ExactLoss = std::function<Long(const std::vector<Long>&)>;

inline Long exact_activation(const Activation& activation, Long x) {
  const auto N = static_cast<Long>(activation.parameter());
  const auto sigmoid = [](Long z) {
    return z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z));
  };
  // e^(x-N) - e^(-x-N), which near x = 0 would have no digits left.
  const auto wing = [N](Long z) { return 2 * std::exp(-N) * std::sinh(z); };
  switch (activation.kind()) {
    case Activation::Kind::linear:
      return x;
    case Activation::Kind::leaky_relu:
      return x > 0 ? x : N * x;
    case Activation::Kind::relu:
      return x > 0 ? x : 0;
    case Activation::Kind::tanh:
      return std::tanh(x);
    case Activation::Kind::sigmoid:
      return sigmoid(x);
    case Activation::Kind::asinh:
      return std::asinh(x);
    case Activation::Kind::tanh_extended:
      return std::tanh(x) + wing(x);
    case Activation::Kind::sigmoid_extended:
      return sigmoid(x) + wing(x);
    case Activation::Kind::gelu:
      return 0.5L * x * std::erfc(-x / std::sqrt(2.0L));
  }
  return std::numeric_limits<Long>::quiet_NaN();
}

/// The loss of a network on a batch, sample by sample.
template <Real Scalar>
ExactLoss exact_network_loss(const Mlp& network, const Loss& loss, const MatrixOf<Scalar>& X,
                             const Targets<Scalar>& targets) {
  return [=](const std::vector<Long>& w) {
    Long total = 0;
    for (Index i = 0; i < X.cols(); ++i) {
      std::vector<Long> h(X.col(i).begin(), X.col(i).end());
      std::size_t at = 0;
      for (Index m = 1; m <= network.layers(); ++m) {
        const auto out = static_cast<std::size_t>(network.width(m));
        std::vector<Long> z(out, 0);
        for (const Long input : h) {
          for (std::size_t k = 0; k < out; ++k) z[k] += w[at + k] * input;
          at += out;
        }
        if (network.biases()) {
          for (std::size_t k = 0; k < out; ++k) z[k] += w[at + k];
          at += out;
        }
        if (m < network.layers()) {
          for (Long& value : z) value = exact_activation(network.activation(), value);
        }
        h = std::move(z);
      }
      if (loss.categorical()) {
        // log1p of the others: a loss of 1e-19 would have no digits left beside 1.
        const auto right = static_cast<std::size_t>(targets.classes[static_cast<std::size_t>(i)]);
        const auto top = std::max_element(h.begin(), h.end());
        Long others = 0;
        for (auto z = h.begin(); z != h.end(); ++z) {
          if (z != top) others += std::exp(*z - *top);
        }
        total += std::log1p(others) + (*top - h[right]);
      } else {
        Long squares = 0;
        for (std::size_t k = 0; k < h.size(); ++k) {
          const Long miss = h[k] - static_cast<Long>(targets.values(static_cast<Index>(k), i));
          squares += miss * miss;
        }
        const bool half = loss.kind() == Loss::Kind::half_sum_squares;
        total += half ? squares / 2 : squares / static_cast<Long>(h.size());
      }
    }
    return loss.reduction() == Loss::Reduction::mean ? total / static_cast<Long>(X.cols()) : total;
  };
}

template <Real Scalar>
std::vector<Long> exact(const VectorOf<Scalar>& w) {
  return {w.begin(), w.end()};
}

/// By how much the loss can change when every parameter is off by one rounding: each alone, added
/// up, or all together, each to its worse side. Nobody who keeps parameters in this precision can
/// keep the loss better.
template <Real Scalar>
Long rounding_of_loss(const ExactLoss& loss, const VectorOf<Scalar>& w) {
  constexpr Long unit = std::numeric_limits<Scalar>::epsilon() / 2;
  const std::vector<Long> here = exact(w);
  std::vector<Long> near = here, worst = here;
  const Long value = loss(here);
  Long sum = 0;
  for (std::size_t i = 0; i < here.size(); ++i) {
    near[i] = here[i] * (1 + unit);
    const Long change = loss(near) - value;
    near[i] = here[i];
    sum += std::abs(change);
    worst[i] = here[i] * (change < 0 ? 1 - unit : 1 + unit);
  }
  return std::max(sum, std::abs(loss(worst) - value));
}

/// How a teleport changed the loss, recomputed.
struct LossChange {
  Long before = 0, after = 0;
  Long rounding = 0;  ///< of the start; 0 when it was not needed
  double tolerance = 0.0;

  /// |L' - L| / max(|L|, 1000 r / tolerance).
  double drift() const {
    const Long change = std::abs(after - before);
    return change == 0 ? 0.0 : static_cast<double>(change / std::max(std::abs(before), floor()));
  }
  double relative() const {
    return after == before ? 0.0 : static_cast<double>(std::abs((after - before) / before));
  }
  /// The loss is what it was: to the stated tolerance, or to a thousand times what rounding the
  /// starting parameters does to it.
  bool kept() const { return drift() <= tolerance; }
  bool at_rounding_level() const { return floor() > std::abs(before); }

 private:
  Long floor() const { return 1000 * rounding / static_cast<Long>(tolerance); }
};

/// Nothing here is taken from the library, and nothing from the destination but its loss: weights
/// that are absurd do not excuse themselves.
template <Real Scalar>
LossChange loss_change(const ExactLoss& loss, const VectorOf<Scalar>& before,
                       const VectorOf<Scalar>& after, double tolerance) {
  LossChange change{loss(exact(before)), loss(exact(after)), 0, tolerance};
  if (!change.kept()) change.rounding = rounding_of_loss(loss, before);
  return change;
}

}  // namespace symport::testing
