// SPDX-License-Identifier: MIT
// The white gauges of a network's layers (docs/mathematics/round_trips.md). h = h_(m-1), d x n, is
// the input of layer m with its row of ones, if any; delta = delta_m that of the *summed* loss.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/cholesky.hpp"
#include "core/pool.hpp"
#include "core/position.hpp"
#include "objectives/gauge_options.hpp"
#include "symport/core/gemm.hpp"
#include "symport/core/thread_scope.hpp"
#include "symport/objectives/mlp_objective.hpp"

namespace symport {

namespace {

/// What is remembered of a layer: these numbers and, for an average, A and (A + lambda I)^-1.
enum Remembered : Index {
  largest_trace,  ///< of h h' lately
  weight,         ///< 1 - decay^t after t steps: what the average has seen of its full weight
  age,            ///< steps since the inverse was made
  numbers
};

/// How fast a large trace is forgotten, a step.
constexpr double trace_decay = 0.99;

/// lambda of (T3). A batch whose trace is far below those of the steps before, a single sample with
/// next to no features, counts as half of them; and lambda is never below their rounding.
template <Real Scalar>
double damping_of(double relative, double trace, Index eigenvalues, Scalar& largest) {
  largest = std::max(static_cast<Scalar>(trace), static_cast<Scalar>(trace_decay) * largest);
  const auto before = static_cast<double>(largest);
  const double rounding =
      10.0 * static_cast<double>(std::numeric_limits<Scalar>::epsilon()) * before;
  const double mean = std::max(trace, 0.5 * before) / static_cast<double>(eigenvalues);
  return std::max(relative * mean, rounding);
}

/// Whether there is something to whiten: not all zero, not so small that squares are lost, and not
/// diverged.
template <Real Scalar>
bool usable(double trace) {
  using Limits = std::numeric_limits<Scalar>;
  return trace > static_cast<double>(Limits::min() / Limits::epsilon()) &&
         std::isfinite(static_cast<Scalar>(trace));
}

/// A <- L with L L' = A + lambda I; `A` is what `make` fills in. Should rounding have made the sum
/// indefinite, lambda grows until it is not. False: A is not finite.
template <Real Scalar, class Make>
bool damped_cholesky(double lambda, MatrixOf<Scalar>& A, const Make& make) {
  for (; std::isfinite(static_cast<Scalar>(lambda)); lambda *= 10.0) {
    make();
    A.diagonal().array() += static_cast<Scalar>(lambda);
    if (cholesky<Scalar>(A)) return true;
  }
  return false;
}

/// A lower bound, good to a few per cent, on the largest eigenvalue of h'R, R = (A + lambda I)^-1 h
/// / n: by how much a step of theta = 1 moves an output at most, in units of its delta.
template <Real Scalar>
double largest_move(const MatrixOf<Scalar>& h, const MatrixOf<Scalar>& R) {
  constexpr int iterations = 8;
  VectorOf<Scalar> v = VectorOf<Scalar>::Constant(h.cols(), Scalar(1)), y(h.rows()), next(h.cols());
  double size = 0.0;
  for (int i = 0; i < iterations; ++i) {
    v.normalize();
    multiply<Scalar>(1, false, R, false, v, 0, y);
    multiply<Scalar>(1, true, h, false, y, 0, next);
    size = static_cast<double>(next.norm());
    v = next;
  }
  return size;
}

}  // namespace

template <Real Scalar>
typename WhiteGauge<Scalar>::Usual MlpObjective<Scalar>::usual() const {
  // |z - y|^2 / outputs bends 2 / outputs times as much as |z - y|^2 / 2.
  const double unit = loss_.kind() == Loss::Kind::mean_squares
                          ? 0.5 * static_cast<double>(network_.width(network_.layers()))
                          : 1.0;
  return {.theta = 0.3 * unit, .damping = 0.1};
}

template <Real Scalar>
Index MlpObjective<Scalar>::layer_memory(Index m, const WhiteGaugeOptions& options) const {
  if (options.layers == GaugeLayers::last && m < network_.layers()) return 0;
  if (options.kernel == GaugeKernel::batch) return 1;
  const Index d = network_.augmented_width(m - 1);
  return numbers + 2 * d * d;
}

template <Real Scalar>
Index MlpObjective<Scalar>::memory_size(const WhiteGaugeOptions& options) const {
  require_good(options);
  Index size = 0;
  for (Index m = 1; m <= network_.layers(); ++m) size += layer_memory(m, options);
  return size;
}

template <Real Scalar>
Scalar MlpObjective<Scalar>::to_sum() const {
  return loss_.reduction() == Loss::Reduction::mean ? static_cast<Scalar>(samples()) : Scalar(1);
}

template <Real Scalar>
typename MlpObjective<Scalar>::GaugeFactors MlpObjective<Scalar>::batch_factors(
    Index m, double damping, Out<Scalar> memory, Workspace& own) const {
  const MatrixOf<Scalar>&delta = own.states.delta[at(m)], &h = this->h(m - 1, own.states);
  const Index d = h.rows(), n = h.cols();
  const bool by_samples = n <= d;
  const Index order = std::min(n, d);
  const double trace = static_cast<double>(h.squaredNorm());
  if (usable<Scalar>(trace)) {
    const double lambda = damping_of<Scalar>(damping, trace, order, memory[largest_trace]);
    const auto fill = [&](MatrixOf<Scalar>& kernel) {
      kernel.resize(order, order);
      by_samples ? gram<Scalar>(h, kernel) : row_gram<Scalar>(h, kernel);
    };
    if (m == 1 && (own.kernel_batch != batch_ || own.kernel_threads != threads())) {
      own.kernel_batch = 0;  // should there be no memory for it
      fill(own.input_kernel);
      own.kernel_batch = batch_;
      own.kernel_threads = threads();
    }
    const bool made = damped_cholesky<Scalar>(lambda, own.gauge_square, [&] {
      if (m == 1) {
        own.gauge_square = own.input_kernel;
      } else {
        fill(own.gauge_square);
      }
    });
    if (made && by_samples) {  // delta (h'h + lambda I)^-1, times h'
      own.gauge_left.resize(delta.rows(), n);
      if (n <= delta.rows()) {  // an inverse and a product are faster than two triangular solves
        invert_cholesky<Scalar>(own.gauge_square);
        multiply<Scalar>(to_sum(), false, delta, false, own.gauge_square, 0, own.gauge_left);
      } else {
        own.gauge_left = to_sum() * delta;
        divide_by_cholesky<Scalar>(own.gauge_square, own.gauge_left);
      }
      return {&own.gauge_left, &h};
    }
    if (made) {  // (delta h') (h h' + lambda I)^-1
      own.gauge_gradient.resize(delta.rows(), d);
      multiply<Scalar>(1, false, delta, true, h, 0, own.gauge_gradient);
      own.gauge_left = to_sum() * own.gauge_gradient;
      divide_by_cholesky<Scalar>(own.gauge_square, own.gauge_left);
      return {&own.gauge_left, nullptr, &own.gauge_gradient};
    }
  }
  // Nothing to learn from, or diverged already: no step.
  own.gauge_left.setZero(delta.rows(), d);
  return {&own.gauge_left, nullptr};
}

template <Real Scalar>
typename MlpObjective<Scalar>::GaugeFactors MlpObjective<Scalar>::average_factors(
    Index m, const WhiteGaugeOptions& options, Out<Scalar> memory, Workspace& own) const {
  const MatrixOf<Scalar>&delta = own.states.delta[at(m)], &h = this->h(m - 1, own.states);
  const Index d = h.rows(), n = h.cols();
  Eigen::Map<MatrixOf<Scalar>> average(memory.data() + numbers, d, d);
  Eigen::Map<MatrixOf<Scalar>> inverse(memory.data() + numbers + d * d, d, d);
  // A <- decay A + (1 - decay) h h'/n; divided by its weight, the first batches count in full.
  const bool first = memory[weight] == Scalar(0);
  const auto decay = static_cast<Scalar>(options.decay);
  own.gauge_square.resize(d, d);
  row_gram<Scalar>(h, own.gauge_square);
  memory[weight] = decay * memory[weight] + (Scalar(1) - decay);
  const Scalar share = (Scalar(1) - decay) / memory[weight] / static_cast<Scalar>(n);
  if (first) {
    average = own.gauge_square / static_cast<Scalar>(n);
  } else {
    average *= Scalar(1) - share * static_cast<Scalar>(n);
    average += share * own.gauge_square;
  }
  if (first || memory[age] + Scalar(1) >= static_cast<Scalar>(options.refresh)) {
    memory[age] = 0;
    const double trace = static_cast<double>(average.trace());
    bool made = usable<Scalar>(trace);
    if (made) {
      const double lambda = damping_of<Scalar>(*options.damping, trace, d, memory[largest_trace]);
      made = damped_cholesky<Scalar>(lambda, own.gauge_square, [&] { own.gauge_square = average; });
    }
    if (made) {
      invert_cholesky<Scalar>(own.gauge_square);
      inverse = own.gauge_square;
    } else {
      inverse.setZero();
    }
  } else {
    memory[age] += Scalar(1);
  }
  own.gauge_right.resize(d, n);
  multiply<Scalar>(Scalar(1) / static_cast<Scalar>(n), false, inverse, false, h, 0,
                   own.gauge_right);
  // The batch's own kernel never exceeds 1; that of an average may by far, in directions that it
  // has not seen: (T5).
  const double move = std::max(1.0, largest_move<Scalar>(h, own.gauge_right));
  own.gauge_left = (to_sum() / static_cast<Scalar>(move)) * delta;
  return {&own.gauge_left, &own.gauge_right};
}

template <Real Scalar>
typename MlpObjective<Scalar>::GaugeFactors MlpObjective<Scalar>::gauge_factors(
    Index m, const WhiteGaugeOptions& options, Out<Scalar> memory, Workspace& own) const {
  if (options.layers == GaugeLayers::last && m < network_.layers()) {
    return {&own.states.delta[at(m)], &h(m - 1, own.states)};
  }
  // The layers' memories stand one after the other.
  Index first = 0;
  for (Index k = 1; k < m; ++k) first += layer_memory(k, options);
  Out<Scalar> part = memory.segment(first, layer_memory(m, options));
  return options.kernel == GaugeKernel::batch ? batch_factors(m, *options.damping, part, own)
                                              : average_factors(m, options, part, own);
}

template <Real Scalar>
template <class Use>
double MlpObjective<Scalar>::for_gauge_layers(In<Scalar> w, WhiteGaugeOptions options,
                                              Out<Scalar> memory, const Use& use) const {
  if (!options.damping) options.damping = usual().damping;
  Loan own(workspaces_);
  MlpStates<Scalar>& states = own->states;
  forward(w, states);
  const double loss = loss_delta(states);
  for (Index m = network_.layers(); m >= 1; --m) {
    if (m > 1) backward(m, w, states);
    use(m, gauge_factors(m, options, memory, *own), states);
  }
  return loss;
}

template <Real Scalar>
double MlpObjective<Scalar>::white_ranges(In<Scalar> w, const WhiteGaugeOptions& options,
                                          Out<Scalar> memory,
                                          const std::function<void(Index, In<Scalar>)>& use) const {
  return for_gauge_layers(w, options, memory, [&](Index m, const GaugeFactors& u, const auto&) {
    if (u.right) {
      product_ranges(m, *u.left, *u.right, use);
    } else {
      use(network_.offset(m), Eigen::Map<const VectorOf<Scalar>>(u.left->data(), u.left->size()));
    }
  });
}

template <Real Scalar>
double MlpObjective<Scalar>::white_step(Out<Scalar> w, double theta,
                                        const WhiteGaugeOptions& options,
                                        Out<Scalar> memory) const {
  const auto step = static_cast<Scalar>(theta);
  return for_gauge_layers(w, options, memory, [&](Index m, const GaugeFactors& u, const auto&) {
    auto weights = network_.augmented(m, w.data());
    if (u.right) {
      multiply<Scalar>(-step, false, *u.left, true, *u.right, 1, weights);
    } else {
      weights -= step * *u.left;
    }
  });
}

template <Real Scalar>
double MlpObjective<Scalar>::white_direction(In<Scalar> w, const WhiteGaugeOptions& options,
                                             Out<Scalar> memory, Out<Scalar> direction,
                                             Out<Scalar>* gradient) const {
  return for_gauge_layers(
      w, options, memory, [&](Index m, const GaugeFactors& u, const auto& states) {
        auto part = network_.augmented(m, direction.data());
        if (u.right) {
          multiply<Scalar>(1, false, *u.left, true, *u.right, 0, part);
        } else {
          part = *u.left;
        }
        if (!gradient) return;
        auto slope = network_.augmented(m, gradient->data());
        if (u.gradient) {
          slope = *u.gradient;
        } else {
          multiply<Scalar>(1, false, states.delta[at(m)], true, h(m - 1, states), 0, slope);
        }
      });
}

template WhiteGauge<float>::Usual MlpObjective<float>::usual() const;
template WhiteGauge<double>::Usual MlpObjective<double>::usual() const;
template Index MlpObjective<float>::memory_size(const WhiteGaugeOptions&) const;
template Index MlpObjective<double>::memory_size(const WhiteGaugeOptions&) const;
template double MlpObjective<float>::white_ranges(
    In<float>, const WhiteGaugeOptions&, Out<float>,
    const std::function<void(Index, In<float>)>&) const;
template double MlpObjective<double>::white_ranges(
    In<double>, const WhiteGaugeOptions&, Out<double>,
    const std::function<void(Index, In<double>)>&) const;
template double MlpObjective<float>::white_direction(In<float>, const WhiteGaugeOptions&,
                                                     Out<float>, Out<float>, Out<float>*) const;
template double MlpObjective<double>::white_direction(In<double>, const WhiteGaugeOptions&,
                                                      Out<double>, Out<double>, Out<double>*) const;
template double MlpObjective<float>::white_step(Out<float>, double, const WhiteGaugeOptions&,
                                                Out<float>) const;
template double MlpObjective<double>::white_step(Out<double>, double, const WhiteGaugeOptions&,
                                                 Out<double>) const;

}  // namespace symport
