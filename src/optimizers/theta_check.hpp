// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "symport/optimizers/optimizer_state.hpp"

namespace symport {

/// The checks that make it unnecessary to tune the rate theta of a metric round trip.
///
/// At each of the first `every` steps, at every `every`th after that, and when the loss is half as
/// large again as its running mean, theta is multiplied by the largest of 1, 1/2, 1/4, ... with
/// which the step lowers the loss at hand; it recovers by doubling. When the running mean is half
/// as large again as the first loss, and the batch at hand agrees, theta is halved for good and the
/// parameters go back to where the mean was lowest; if it does not, the mean may rise from there.
///
/// All of it is in buffers of the state, one for each number.
template <Real Scalar>
class ThetaCheck {
 public:
  /// Adds the buffers `theta_...` and `best_point`, after those that are there.
  static void add(OptimizerState<Scalar>& state, Index dimension);

  /// For a state whose buffer number `first` is the first of these. `every` 0: no checks.
  ThetaCheck(OptimizerState<Scalar>& state, std::size_t first, Index every)
      : state_(state), first_(first), every_(every) {}

  /// What theta is to be multiplied by.
  double part() const { return number(scale); }
  /// Whether a check is due before this step.
  bool is_due() const;
  /// Finds the part of theta with which `loss_after(part)` is no more than `loss`. Returns how
  /// often it was asked.
  Index shorten(double loss, const std::function<double(double part)>& loss_after);
  /// To be told, after every step, the loss before it and how to evaluate that of the same batch
  /// elsewhere; w may go back. Returns how often it was evaluated.
  Index finish(double loss, const std::function<double(In<Scalar> w)>& loss_at, Out<Scalar> w);

 private:
  enum Number : std::size_t {
    scale,
    limit,
    wait,
    steps,
    last,
    mean,
    lowest_mean,
    first_loss,
    reference
  };
  double number(Number i) const {
    return static_cast<double>(state_.buffers[first_ + i].values[0]);
  }
  void set(Number i, double value) {
    state_.buffers[first_ + i].values[0] = static_cast<Scalar>(value);
  }
  VectorOf<Scalar>& best_point() { return state_.buffers[first_ + reference + 1].values; }

  OptimizerState<Scalar>& state_;
  std::size_t first_;
  Index every_;
};

}  // namespace symport
