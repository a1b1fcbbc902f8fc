// SPDX-License-Identifier: MIT
#include "symport/optimizers/prodigy.hpp"

#include <algorithm>
#include <cmath>

#include "optimizers/option_checks.hpp"

namespace symport {

namespace {

/// The buffers in their order, and the numbers in the last one.
struct ProdigyBuffer {
  enum : std::size_t { mean, squares, sum, moved, estimate };
};
struct ProdigyEstimate {
  enum : Index { distance, numerator, count };
};

}  // namespace

template <Real Scalar>
Prodigy<Scalar>::Prodigy(const ProdigyOptions& options) : options_(options) {
  require_fraction("beta1", options.beta1);
  require_fraction("beta2", options.beta2);
  require_positive("epsilon", options.epsilon);
  require_positive("first_distance", options.first_distance);
  require_positive("distance_factor", options.distance_factor);
  require_not_negative("weight_decay", options.weight_decay);
}

template <Real Scalar>
OptimizerState<Scalar> Prodigy<Scalar>::init(Index dimension) const {
  OptimizerState<Scalar> state;
  state.add("mean", StateKind::cotangent, dimension);
  state.add("squares", StateKind::squared_cotangent, dimension);
  state.add("sum", StateKind::cotangent, dimension);
  state.add("moved", StateKind::tangent, dimension);
  state.add("estimate", StateKind::scalar, ProdigyEstimate::count);
  return state;
}

template <Real Scalar>
void Prodigy<Scalar>::advance(In<Scalar> gradient, double learning_rate,
                              OptimizerState<Scalar>& state, Out<Scalar> w) const {
  VectorOf<Scalar>&m = state.buffers[ProdigyBuffer::mean].values,
  &v = state.buffers[ProdigyBuffer::squares].values;
  VectorOf<Scalar>&s = state.buffers[ProdigyBuffer::sum].values,
  &way = state.buffers[ProdigyBuffer::moved].values;
  VectorOf<Scalar>& numbers = state.buffers[ProdigyBuffer::estimate].values;
  const double d_0 = options_.first_distance;
  if (state.count == 0) numbers[ProdigyEstimate::distance] = static_cast<Scalar>(d_0);
  const auto d = static_cast<double>(numbers[ProdigyEstimate::distance]);
  const double b1 = options_.beta1, b2 = options_.beta2, b3 = std::sqrt(b2);
  double rate = learning_rate * d;
  if (options_.unbiased) {
    const auto t = static_cast<double>(state.count + 1);
    rate *= std::sqrt(1.0 - std::pow(b2, t)) / (1.0 - std::pow(b1, t));
  }
  const double slope = static_cast<double>(gradient.dot(way));
  const double r =
      b3 * static_cast<double>(numbers[ProdigyEstimate::numerator]) + d / d_0 * rate * slope;
  numbers[ProdigyEstimate::numerator] = static_cast<Scalar>(r);

  m = static_cast<Scalar>(b1) * m + static_cast<Scalar>((1.0 - b1) * d) * gradient;
  v = static_cast<Scalar>(b2) * v.array() +
      static_cast<Scalar>((1.0 - b2) * d * d) * gradient.array().square();
  s = static_cast<Scalar>(b3) * s +
      static_cast<Scalar>(d / d_0 * (options_.safeguard_warm_up ? d : rate)) * gradient;
  const double size = static_cast<double>(s.template lpNorm<1>());
  // No gradient so far, or a learning rate of 0: there is nothing to estimate from.
  if (!(size > 0.0)) return;
  const double next = std::max(d, options_.distance_factor * r / size);
  numbers[ProdigyEstimate::distance] = static_cast<Scalar>(next);

  const auto floor = static_cast<Scalar>(next * options_.epsilon);
  VectorOf<Scalar> u = static_cast<Scalar>(rate) * m.array() / (v.array().sqrt() + floor);
  if (options_.weight_decay > 0.0) u += static_cast<Scalar>(options_.weight_decay * rate) * w;
  w -= u;
  way += u;
}

template class Prodigy<float>;
template class Prodigy<double>;

}  // namespace symport
