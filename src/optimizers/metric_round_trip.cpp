// SPDX-License-Identifier: MIT
#include "symport/optimizers/metric_round_trip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/cholesky.hpp"
#include "core/position.hpp"
#include "optimizers/backtrack.hpp"
#include "optimizers/option_checks.hpp"
#include "optimizers/theta_check.hpp"
#include "symport/core/gemm.hpp"
#include "symport/objectives/mlp_objective.hpp"

namespace symport {

namespace {

constexpr double network_theta = 0.3, pair_theta = 0.25;
constexpr double network_damping = 0.1, pair_damping = 1e-3;
/// How fast a large trace is forgotten, a step.
constexpr double fading_trace = 0.99;

/// lambda of (T3). A batch whose trace is far below those of the steps before, a single sample with
/// next to no features, counts as half of them; and lambda is never below their rounding.
template <Real Scalar>
double damping_of(double relative, double trace, Index eigenvalues, Scalar& largest) {
  largest = std::max(static_cast<Scalar>(trace), static_cast<Scalar>(fading_trace) * largest);
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

/// L <- with L L' = A + lambda I. Should rounding have made the sum indefinite, lambda grows until
/// it is not. False: A is not finite.
template <Real Scalar>
bool damped_cholesky(double lambda, const MatrixOf<Scalar>& A, MatrixOf<Scalar>& L) {
  for (; std::isfinite(static_cast<Scalar>(lambda)); lambda *= 10.0) {
    L = A;
    L.diagonal().array() += static_cast<Scalar>(lambda);
    if (cholesky<Scalar>(L)) return true;
  }
  return false;
}

template <Real Scalar>
Scalar to_sum(const MlpObjective<Scalar>& mlp) {
  const bool mean = mlp.loss().reduction() == Loss::Reduction::mean;
  return mean ? static_cast<Scalar>(mlp.samples()) : Scalar(1);
}

}  // namespace

template <Real Scalar>
MetricRoundTrip<Scalar>::MetricRoundTrip(std::shared_ptr<const FirstOrderOptimizer<Scalar>> rule,
                                         const MetricRoundTripOptions& options)
    : rule_(std::move(rule)), options_(options) {
  if (!rule_) throw std::logic_error("MetricRoundTrip: no rule");
  if (!(rule_->amplification() > 0.0)) {
    throw InvalidArgument("optimizer", fmt::format("'{}' with metric round trips", rule_->name()),
                          "gd, momentum or nesterov, whose steps grow with the gradient");
  }
  require_not_negative("damping", options.damping.value_or(0.0));
  require_not_negative("check_every", static_cast<double>(options.check_every));
  buffers_ = rule_->init(0).buffers.size();
}

template <Real Scalar>
MetricRoundTrip<Scalar>::MetricRoundTrip(std::shared_ptr<const CurvatureDescent<Scalar>> measured,
                                         const MetricRoundTripOptions& options)
    : measured_(std::move(measured)), options_(options) {
  if (!measured_) throw std::logic_error("MetricRoundTrip: no rule");
  require_not_negative("damping", options.damping.value_or(0.0));
  buffers_ = measured_->init(0).buffers.size();
}

template <Real Scalar>
const BasicOptimizer<Scalar>& MetricRoundTrip<Scalar>::rule() const {
  if (measured_) return *measured_;
  return *rule_;
}

template <Real Scalar>
double MetricRoundTrip<Scalar>::usual_rate(const BasicObjective<Scalar>& objective) const {
  double theta = pair_theta;
  if (const MlpObjective<Scalar>* mlp = objective.mlp()) {
    // |z - y|^2 / outputs bends 2 / outputs times as much as |z - y|^2 / 2.
    const Mlp& network = mlp->network();
    const bool mean_squares = mlp->loss().kind() == Loss::Kind::mean_squares;
    const auto outputs = static_cast<double>(network.width(network.layers()));
    theta = network_theta * (mean_squares ? 0.5 * outputs : 1.0);
  }
  const double amplification = measured_ ? 1.0 : rule_->amplification();
  return std::round(1e6 * theta / amplification) / 1e6;  // 1/(1 - 0.9) is not quite 10
}

template <Real Scalar>
double MetricRoundTrip<Scalar>::damping(const BasicObjective<Scalar>& objective) const {
  return options_.damping.value_or(objective.mlp() ? network_damping : pair_damping);
}

template <Real Scalar>
OptimizerState<Scalar> MetricRoundTrip<Scalar>::init(Index dimension) const {
  OptimizerState<Scalar> state = rule().init(dimension);
  state.add("traces", StateKind::scalar, 0);
  if (rule_) ThetaCheck<Scalar>::add(state, dimension);
  return state;
}

template <Real Scalar>
void MetricRoundTrip<Scalar>::require_fit(const BasicObjective<Scalar>& objective) const {
  if (objective.mlp()) return;
  const VectorOf<Scalar> zero = VectorOf<Scalar>::Zero(objective.dimension());
  objective.weight_inputs(zero, [](const WeightInputs<Scalar>& inputs) {
    if (inputs.kind == InputKind::factor) return;
    throw InvalidArgument("optimizer", "metric round trips of a model of your own",
                          "a network or a factorization; RoundTrip takes own models");
  });
}

template <Real Scalar>
bool MetricRoundTrip<Scalar>::factorize(const MlpObjective<Scalar>& mlp, Index m,
                                        const MatrixOf<Scalar>& h, OptimizerState<Scalar>& state,
                                        Workspace& own) const {
  VectorOf<Scalar>& traces = state.buffers[buffers_].values;
  const Index layers = mlp.network().layers();
  if (traces.size() == 0) traces.setZero(layers);
  if (traces.size() != layers) {
    throw InvalidArgument("state", fmt::format("traces of {} layers", traces.size()),
                          fmt::format("{}, as many as the network has", layers));
  }
  const Index order = std::min(h.rows(), h.cols());
  const double trace = static_cast<double>(h.squaredNorm());
  if (!usable<Scalar>(trace)) return false;
  if (m == 1) {
    mlp.input_kernel(own.kernel);
  } else {
    own.kernel.resize(order, order);
    if (h.cols() <= h.rows()) {
      gram<Scalar>(h, own.kernel);
    } else {
      row_gram<Scalar>(h, own.kernel);
    }
  }
  const double lambda = damping_of<Scalar>(damping(mlp), trace, order, traces[m - 1]);
  return damped_cholesky<Scalar>(lambda, own.kernel, own.square);
}

template <Real Scalar>
void MetricRoundTrip<Scalar>::map(const MlpObjective<Scalar>& mlp, Index m,
                                  const MatrixOf<Scalar>& h, OptimizerState<Scalar>& state,
                                  Workspace& own) const {
  own.mapped.resize(h.rows(), h.cols());
  if (!factorize(mlp, m, h, state, own)) {
    own.mapped.setZero();
    return;
  }
  invert_cholesky<Scalar>(own.square);
  const bool by_samples = h.cols() <= h.rows();  // h (h'h + lambda I)^-1
  multiply<Scalar>(to_sum(mlp), false, by_samples ? h : own.square, false,
                   by_samples ? own.square : h, 0, own.mapped);
}

template <Real Scalar>
void MetricRoundTrip<Scalar>::network_direction(const MlpObjective<Scalar>& mlp,
                                                const MeasuredPoint<Scalar>& here,
                                                OptimizerState<Scalar>& state, Workspace& own,
                                                Out<Scalar> u) const {
  const Mlp& network = mlp.network();
  for (Index m = network.layers(); m >= 1; --m) {
    const MatrixOf<Scalar>& h = mlp.h(m - 1, here.states);
    auto U = network.augmented(m, u.data());
    if (h.cols() <= h.rows()) {
      map(mlp, m, h, state, own);
      multiply<Scalar>(1, false, here.states.delta[at(m)], true, own.mapped, 0, U);
    } else if (factorize(mlp, m, h, state, own)) {
      U = to_sum(mlp) * network.augmented(m, here.gradient.data());
      divide_by_cholesky<Scalar>(own.square, U);
    } else {
      U.setZero();
    }
  }
}

template <Real Scalar>
void MetricRoundTrip<Scalar>::pair_direction(const BasicObjective<Scalar>& objective,
                                             const MeasuredPoint<Scalar>& here, In<Scalar> w,
                                             OptimizerState<Scalar>& state, Workspace& own,
                                             Out<Scalar> u) const {
  VectorOf<Scalar>& largest_loss = state.buffers[buffers_].values;
  if (largest_loss.size() == 0) largest_loss.setZero(1);
  largest_loss[0] = std::max(largest_loss[0], static_cast<Scalar>(here.loss));
  // It ends by not mattering: a fixed one would leave the small singular values behind.
  const double part =
      largest_loss[0] > Scalar(0) ? here.loss / static_cast<double>(largest_loss[0]) : 1.0;
  u = here.gradient;
  objective.weight_inputs(w, [&](const WeightInputs<Scalar>& x) {
    const Index d = x.h.rows();
    Scalar* first = u.data() + x.first;
    Eigen::Map<MatrixOf<Scalar>> U(first, x.transposed ? d : x.outputs,
                                   x.transposed ? x.outputs : d);
    own.kernel.resize(d, d);
    row_gram<Scalar>(x.h, own.kernel);
    const double trace = static_cast<double>(own.kernel.trace());
    Scalar none(0);
    const double lambda = damping_of<Scalar>(damping(objective) * part, trace, d, none);
    if (!(lambda > 0.0) || !damped_cholesky<Scalar>(lambda, own.kernel, own.square)) {
      U.setZero();
    } else if (x.transposed) {
      own.mapped = U.transpose();
      divide_by_cholesky<Scalar>(own.square, own.mapped);
      U = own.mapped.transpose();
    } else {
      divide_by_cholesky<Scalar>(own.square, U);
    }
  });
}

template <Real Scalar>
void MetricRoundTrip<Scalar>::direction(const BasicObjective<Scalar>& objective,
                                        const MeasuredPoint<Scalar>& here, In<Scalar> w,
                                        OptimizerState<Scalar>& state, Out<Scalar> u) const {
  typename Workspaces<Workspace>::Loan own(workspaces_);
  if (const MlpObjective<Scalar>* mlp = objective.mlp()) {
    network_direction(*mlp, here, state, *own, u);
  } else {
    pair_direction(objective, here, w, state, *own, u);
  }
}

template <Real Scalar>
StepOutcome MetricRoundTrip<Scalar>::measured_step(const BasicObjective<Scalar>& objective,
                                                   const MeasuredPoint<Scalar>& here,
                                                   double learning_rate,
                                                   OptimizerState<Scalar>& state, Workspace& own,
                                                   Out<Scalar> w) const {
  const double slope = static_cast<double>(here.gradient.dot(own.u));
  if (!(slope > 0.0)) return {false, 0.0, 0.0};
  Scalar& last_rate = state["rate"][0];
  const double curvature = objective.curvature(w, own.u);
  double theta = slope / curvature;
  if (!(curvature > 0.0 && std::isfinite(theta))) {
    theta = last_rate > Scalar(0) ? 2.0 * static_cast<double>(last_rate) : learning_rate;
  }
  own.candidate.resize(w.size());
  StepOutcome outcome = backtrack<Scalar>(objective, here.loss, own.u, slope, theta,
                                          measured_->options(), last_rate, own.candidate, w);
  outcome.evaluations += 2.0;
  if (outcome.moved) ++state.count;
  return outcome;
}

template <Real Scalar>
StepOutcome MetricRoundTrip<Scalar>::step(const BasicObjective<Scalar>& objective,
                                          MeasuredPoint<Scalar>& here, double learning_rate,
                                          OptimizerState<Scalar>& state, Out<Scalar> w) const {
  typename Workspaces<Workspace>::Loan own(workspaces_);
  own->u.resize(w.size());
  direction(objective, here, w, state, own->u);
  if (measured_) return measured_step(objective, here, learning_rate, state, *own, w);
  ThetaCheck<Scalar> check(state, buffers_ + 1, options_.check_every);
  Index values = 0;
  if (check.is_due()) {
    const double length = learning_rate * rule_->amplification();
    values += check.shorten(here.loss, [&](double part) {
      own->candidate = w - static_cast<Scalar>(part * length) * own->u;
      return objective.value(own->candidate);
    });
  }
  const double rate = check.part() * learning_rate;
  rule_->step_range(0, own->u, rate, state, w);
  ++state.count;
  values += check.finish(
      here.loss, [&](In<Scalar> v) { return objective.value(v); }, w);
  return {true, rate, 0.5 * static_cast<double>(values)};
}

template <Real Scalar>
double MetricRoundTrip<Scalar>::minibatch_step(const BatchObjective<Scalar>& objective,
                                               double learning_rate, OptimizerState<Scalar>& state,
                                               Out<Scalar> w, double* evaluations) const {
  ThetaCheck<Scalar> check(state, buffers_ + 1, options_.check_every);
  const MlpObjective<Scalar>* mlp = objective.mlp();
  if (!mlp || check.is_due()) {
    return BasicOptimizer<Scalar>::minibatch_step(objective, learning_rate, state, w, evaluations);
  }
  typename Workspaces<Workspace>::Loan own(workspaces_);
  const double rate = check.part() * learning_rate;
  const auto inputs = [&](Index m, const MatrixOf<Scalar>& h) -> const MatrixOf<Scalar>& {
    map(*mlp, m, h, state, *own);
    return own->mapped;
  };
  const double loss = mlp->gradient_ranges(w, inputs, [&](Index first, In<Scalar> range) {
    rule_->step_range(first, range, rate, state, w);
  });
  ++state.count;
  const Index values = check.finish(
      loss, [&](In<Scalar> v) { return objective.value(v); }, w);
  if (evaluations) *evaluations = 1.0 + 0.5 * static_cast<double>(values);
  return loss;
}

template class MetricRoundTrip<float>;
template class MetricRoundTrip<double>;

}  // namespace symport
