// SPDX-License-Identifier: MIT
#include "optimizers/theta_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace symport {

namespace {

/// A loss this many times its running mean is checked at once, and a running mean this many times
/// the reference is a rise.
constexpr double alarm = 1.5;
/// Of the running mean, over about five steps.
constexpr double fading_loss = 0.8;
constexpr Index most_halvings = 30;

}  // namespace

template <Real Scalar>
void ThetaCheck<Scalar>::add(OptimizerState<Scalar>& state, Index dimension) {
  const std::size_t first = state.buffers.size();
  for (const char* name :
       {"theta_scale", "theta_limit", "theta_wait", "theta_steps", "theta_last_loss",
        "theta_mean_loss", "theta_lowest_mean", "theta_first_loss", "theta_reference"}) {
    state.add(name, StateKind::scalar, 1);
  }
  state.add("best_point", StateKind::point, dimension);
  ThetaCheck check(state, first, 0);
  check.set(scale, 1.0);
  check.set(limit, 1.0);
}

template <Real Scalar>
bool ThetaCheck<Scalar>::is_due() const {
  return every_ > 0 && (number(wait) == 0.0 || number(steps) < static_cast<double>(every_) ||
                        number(last) > alarm * number(mean));
}

template <Real Scalar>
Index ThetaCheck<Scalar>::shorten(double loss,
                                  const std::function<double(double part)>& loss_after) {
  // Near a minimum rounding decides whether the loss falls.
  const double allowed =
      loss + 100.0 * static_cast<double>(std::numeric_limits<Scalar>::epsilon()) * std::abs(loss);
  double part = std::min(number(limit), 2.0 * number(scale));
  Index asked = 0;
  while (asked < most_halvings) {
    ++asked;
    if (loss_after(part) <= allowed) break;
    part *= 0.5;
  }
  set(scale, part);
  set(wait, static_cast<double>(every_));
  return asked;
}

template <Real Scalar>
Index ThetaCheck<Scalar>::finish(double loss, const std::function<double(In<Scalar> w)>& loss_at,
                                 Out<Scalar> w) {
  if (every_ == 0) return 0;
  const bool first = number(steps) == 0.0;
  const double now = first ? loss : fading_loss * number(mean) + (1.0 - fading_loss) * loss;
  if (first) {
    set(first_loss, loss);
    set(reference, loss);
    set(lowest_mean, std::numeric_limits<Scalar>::max());
  }
  set(last, loss);
  set(mean, now);
  set(wait, std::max(number(wait) - 1.0, 0.0));
  set(steps, std::min(number(steps) + 1.0, static_cast<double>(every_)));
  // Steps that each lower the loss of their own batch may still raise that of all others.
  if (!(now <= alarm * number(reference))) {
    if (loss <= loss_at(best_point())) {  // this batch is harder than others, or they all are
      set(reference, now);
      return 1;
    }
    set(limit, 0.5 * number(limit));
    set(scale, std::min(number(scale), number(limit)));
    set(mean, std::min(number(lowest_mean), number(first_loss)));
    set(last, number(mean));
    set(wait, 0.0);
    w = best_point();
    for (StateBuffer<Scalar>& buffer : state_.buffers) {
      if (buffer.kind == StateKind::cotangent) buffer.values.setZero();
    }
    return 1;
  }
  set(reference, std::max(number(first_loss), std::min(number(reference), now)));
  const bool checked = number(wait) == static_cast<double>(every_) - 1.0;  // the step before w
  if (checked && now < number(lowest_mean)) {
    set(lowest_mean, now);
    best_point() = w;
  }
  return 0;
}

template class ThetaCheck<float>;
template class ThetaCheck<double>;

}  // namespace symport
