// SPDX-License-Identifier: MIT
#include "symport/optimizers/round_trip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "optimizers/backtrack.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

/// Forward and backward pass without the products that make a gradient of them.
constexpr double states_cost = 2.0 / 3.0;
/// Of rules whose steps do not grow with the gradient.
constexpr double usual_adaptive_rate = 1e-3, usual_adaptive_full_batch_rate = 0.03;

/// The numbers of the buffer `theta`.
enum Theta : Index {
  scale,      ///< what theta is multiplied by
  limit,      ///< the largest that it may be
  steps,      ///< so far, up to `check_every`
  wait,       ///< steps until the next check
  mean_loss,  ///< running mean over about five steps
  last_loss,
  first_loss,
  reference,  ///< the first loss, or the running mean at the last alarm
  theta_numbers
};
constexpr double loss_decay = 0.8;
/// A loss this many times its running mean is checked at once, and a running mean this many times
/// the reference halves the limit.
constexpr double alarm = 1.5;
constexpr int most_halvings = 30;

template <Real Scalar>
double part_of(const OptimizerState<Scalar>& state) {
  return static_cast<double>(state["theta"][scale]);
}

}  // namespace

template <Real Scalar>
RoundTrip<Scalar>::RoundTrip(const BasicObjective<Scalar>& objective,
                             std::shared_ptr<const BasicOptimizer<Scalar>> rule,
                             const RoundTripOptions& options)
    : rule_(std::move(rule)), options_(options), dimension_(objective.dimension()) {
  if (!rule_) throw std::logic_error("RoundTrip: no rule");
  const bool first_order = dynamic_cast<const FirstOrderOptimizer<Scalar>*>(rule_.get()) ||
                           dynamic_cast<const CurvatureDescent<Scalar>*>(rule_.get()) ||
                           rule_->plain_gradient_step();
  if (!first_order) {
    throw InvalidArgument(
        "optimizer", fmt::format("'{}' with round trips", rule_->name()),
        "a rule that uses nothing but the gradient, such as gd, momentum or adam");
  }
  if (options.check_every < 0) {
    throw InvalidArgument("check_every", fmt::format("{}", options.check_every),
                          "a whole number >= 0");
  }
  const WhiteGauge<Scalar>& gauge = gauge_of(objective);
  memory_size_ = gauge.memory_size(options.gauge);
  const auto usual = gauge.usual();
  if (!options_.gauge.damping) options_.gauge.damping = usual.damping;
  usual_theta_ = usual.theta;
}

template <Real Scalar>
double RoundTrip<Scalar>::usual_rate() const {
  const double amplification = automatic_rate() ? 1.0 : rule_->amplification();
  if (!(amplification > 0.0)) return usual_adaptive_rate;
  return std::round(1e6 * usual_theta_ / amplification) / 1e6;  // 1/(1 - 0.9) is not quite 10
}

template <Real Scalar>
double RoundTrip<Scalar>::usual_full_batch_rate() const {
  const bool adaptive = !automatic_rate() && !(rule_->amplification() > 0.0);
  return adaptive ? usual_adaptive_full_batch_rate : usual_rate();
}

template <Real Scalar>
const WhiteGauge<Scalar>& RoundTrip<Scalar>::gauge_of(
    const BasicObjective<Scalar>& objective) const {
  const WhiteGauge<Scalar>* gauge = objective.white_gauge();
  if (!gauge) {
    throw InvalidArgument("round_trip", "an objective without a white gauge",
                          "a network (MlpObjective) or a factor pair (MatrixFactorization)");
  }
  return *gauge;
}

template <Real Scalar>
OptimizerState<Scalar> RoundTrip<Scalar>::init(Index dimension) const {
  if (dimension != dimension_) {
    throw InvalidArgument(
        "dimension", fmt::format("{}", dimension),
        fmt::format("{}, that of the objective of these round trips", dimension_));
  }
  OptimizerState<Scalar> state = rule_->init(dimension);
  state.add("gauge", StateKind::scalar, memory_size_);
  state.add("theta", StateKind::scalar, theta_numbers);
  state["theta"][scale] = state["theta"][limit] = Scalar(1);
  return state;
}

template <Real Scalar>
bool RoundTrip<Scalar>::check_is_due(const OptimizerState<Scalar>& state) const {
  if (options_.check_every == 0 || !(rule_->amplification() > 0.0)) return false;
  const VectorOf<Scalar>& theta = state["theta"];
  return theta[wait] <= Scalar(0) || theta[steps] < static_cast<Scalar>(options_.check_every) ||
         static_cast<double>(theta[last_loss]) > alarm * static_cast<double>(theta[mean_loss]);
}

template <Real Scalar>
void RoundTrip<Scalar>::check(const BasicObjective<Scalar>& objective, double loss, In<Scalar> u,
                              double theta, In<Scalar> w, OptimizerState<Scalar>& state,
                              double& evaluations) const {
  VectorOf<Scalar>& buffer = state["theta"];
  double part = std::min(static_cast<double>(buffer[limit]), 2.0 * part_of(state));
  const double length = theta * rule_->amplification();
  // Near a minimum rounding decides whether the loss falls.
  const double allowed =
      loss + 100.0 * static_cast<double>(std::numeric_limits<Scalar>::epsilon()) * std::abs(loss);
  VectorOf<Scalar> candidate(w.size());
  for (int halving = 0; halving < most_halvings; ++halving, part *= 0.5) {
    candidate = w - static_cast<Scalar>(part * length) * u;
    evaluations += 0.5;
    if (objective.value(candidate) <= allowed) break;
  }
  buffer[scale] = static_cast<Scalar>(part);
  buffer[wait] = static_cast<Scalar>(options_.check_every);
}

template <Real Scalar>
void RoundTrip<Scalar>::remember(double loss, OptimizerState<Scalar>& state) const {
  VectorOf<Scalar>& theta = state["theta"];
  const auto now = static_cast<Scalar>(loss);
  const bool first = theta[steps] == Scalar(0);
  const auto decay = static_cast<Scalar>(loss_decay);
  if (first) theta[first_loss] = theta[reference] = now;
  theta[mean_loss] = first ? now : decay * theta[mean_loss] + (Scalar(1) - decay) * now;
  theta[last_loss] = now;
  if (theta[wait] > Scalar(0)) theta[wait] -= Scalar(1);
  if (theta[steps] < static_cast<Scalar>(std::max<Index>(options_.check_every, 1))) {
    theta[steps] += Scalar(1);
  }
  // Steps that each lower the loss of their own batch may still raise that of all others.
  const bool checked = options_.check_every > 0 && rule_->amplification() > 0.0;
  if (checked && theta[mean_loss] > static_cast<Scalar>(alarm) * theta[reference]) {
    theta[limit] *= Scalar(0.5);
    theta[scale] = std::min(theta[scale], theta[limit]);
    theta[reference] = theta[mean_loss];
  } else {
    theta[reference] = std::max(theta[first_loss], std::min(theta[reference], theta[mean_loss]));
  }
}

template <Real Scalar>
bool RoundTrip<Scalar>::may_take_back() const {
  return options_.check_every > 0 && !automatic_rate() && !(rule_->amplification() > 0.0);
}

template <Real Scalar>
bool RoundTrip<Scalar>::takes_back(double loss, OptimizerState<Scalar>& state) const {
  if (!may_take_back()) return false;
  VectorOf<Scalar>& theta = state["theta"];
  const double allowed = std::max(alarm * static_cast<double>(theta[first_loss]),
                                  static_cast<double>(theta[last_loss]));
  const bool back = !(loss <= allowed);
  if (back) {
    theta[scale] *= Scalar(0.5);
    for (StateBuffer<Scalar>& buffer : state.buffers) {
      if (buffer.kind == StateKind::cotangent) buffer.values.setZero();
    }
  } else if (theta[wait] <= Scalar(0)) {
    theta[scale] = std::min(theta[limit], Scalar(2) * theta[scale]);
  } else {
    return false;
  }
  theta[wait] = static_cast<Scalar>(options_.check_every);
  return back;
}

template <Real Scalar>
StepOutcome RoundTrip<Scalar>::measured_step(const BasicObjective<Scalar>& objective, double loss,
                                             In<Scalar> gradient, In<Scalar> u,
                                             double learning_rate, OptimizerState<Scalar>& state,
                                             Out<Scalar> w) const {
  const double slope = static_cast<double>(gradient.dot(u));
  if (!(slope > 0.0)) return {false, 0.0, 0.0};
  Scalar& last_rate = state["rate"][0];
  const double curvature = objective.curvature(w, u);
  double theta = slope / curvature;
  if (!(curvature > 0.0 && std::isfinite(theta))) {
    theta = last_rate > Scalar(0) ? 2.0 * static_cast<double>(last_rate) : learning_rate;
  }
  VectorOf<Scalar> candidate(w.size());
  const auto& options = static_cast<const CurvatureDescent<Scalar>&>(*rule_).options();
  StepOutcome outcome =
      backtrack<Scalar>(objective, loss, u, slope, theta, options, last_rate, candidate, w);
  outcome.evaluations += 2.0;
  if (outcome.moved) ++state.count;
  return outcome;
}

template <Real Scalar>
double RoundTrip<Scalar>::measure(const BasicObjective<Scalar>& objective, In<Scalar> w,
                                  const OptimizerState<Scalar>& state, Out<Scalar> gradient,
                                  StepDirection<Scalar>& direction) const {
  direction.u.resize(w.size());
  direction.memory = state["gauge"];
  return gauge_of(objective).white_direction(w, options_.gauge, direction.memory, direction.u,
                                             &gradient);
}

template <Real Scalar>
StepOutcome RoundTrip<Scalar>::step_along(const StepDirection<Scalar>& direction,
                                          const BasicObjective<Scalar>& objective, double loss,
                                          In<Scalar> gradient, double learning_rate,
                                          OptimizerState<Scalar>& state, Out<Scalar> w) const {
  const VectorOf<Scalar>& u = direction.u;
  state["gauge"] = direction.memory;
  if (automatic_rate()) return measured_step(objective, loss, gradient, u, learning_rate, state, w);
  double evaluations = 0.0;
  if (check_is_due(state)) check(objective, loss, u, learning_rate, w, state, evaluations);
  remember(loss, state);
  StepOutcome outcome = rule_->step(objective, loss, u, part_of(state) * learning_rate, state, w);
  outcome.evaluations += evaluations;
  return outcome;
}

template <Real Scalar>
StepOutcome RoundTrip<Scalar>::step(const BasicObjective<Scalar>& objective, double loss,
                                    In<Scalar> gradient, double learning_rate,
                                    OptimizerState<Scalar>& state, Out<Scalar> w) const {
  StepDirection<Scalar> direction{VectorOf<Scalar>(w.size()), state["gauge"]};
  gauge_of(objective).white_direction(w, options_.gauge, direction.memory, direction.u, nullptr);
  objective.note_work(states_cost);
  StepOutcome outcome = step_along(direction, objective, loss, gradient, learning_rate, state, w);
  outcome.evaluations += states_cost;
  return outcome;
}

template <Real Scalar>
double RoundTrip<Scalar>::minibatch_step(const BatchObjective<Scalar>& objective,
                                         double learning_rate, OptimizerState<Scalar>& state,
                                         Out<Scalar> w, double* evaluations) const {
  const WhiteGauge<Scalar>& gauge = gauge_of(objective);
  Out<Scalar> memory(state["gauge"]);
  const auto* separable = dynamic_cast<const FirstOrderOptimizer<Scalar>*>(rule_.get());
  double cost = 1.0, loss = 0.0;
  const bool checked = check_is_due(state);
  if (checked || (separable && !separable->entry_by_entry())) {
    VectorOf<Scalar> u(w.size());
    loss = gauge.white_direction(w, options_.gauge, memory, u, nullptr);
    if (checked) check(objective, loss, u, learning_rate, w, state, cost);
    rule_->step(objective, loss, u, part_of(state) * learning_rate, state, w);
  } else if (separable) {
    const double theta = part_of(state) * learning_rate;
    loss = gauge.white_ranges(w, options_.gauge, memory, [&](Index first, In<Scalar> range) {
      separable->step_range(first, range, theta, state, w);
    });
    ++state.count;
  } else {
    loss = gauge.white_step(w, part_of(state) * learning_rate, options_.gauge, memory);
  }
  remember(loss, state);
  if (evaluations) *evaluations = cost;
  return loss;
}

template class RoundTrip<float>;
template class RoundTrip<double>;

}  // namespace symport
