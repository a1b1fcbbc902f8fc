// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "symport/core/status.hpp"
#include "symport/training/train.hpp"

namespace symport {

/// The loop of Algorithms 1 and 3, which differ in what `teleport(learning_rate, random, state)`
/// does: it returns a certificate, and has moved w when that is accepted.
template <Real Scalar, class Teleport>
RunSummary run_loop(const BasicObjective<Scalar>& objective,
                    const BasicOptimizer<Scalar>& optimizer, VectorOf<Scalar>& w,
                    const TrainOptions<Scalar>& options, const Schedule& schedule,
                    const Teleport& teleport) {
  if (w.size() != objective.dimension()) {
    throw InvalidArgument("start", fmt::format("{} numbers", w.size()),
                          fmt::format("{} numbers", objective.dimension()));
  }
  if (options.max_steps < 0) {
    throw InvalidArgument("max_steps", fmt::format("{}", options.max_steps), "a whole number >= 0");
  }
  const auto began = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  const bool keeps_points = options.trace && w.size() <= Trace::max_point_dimension;
  const bool watched = options.trace || options.watcher;

  RunSummary run;
  Random random(options.seed);
  OptimizerState<Scalar> state = optimizer.init(w.size());
  VectorOf<Scalar> gradient(w.size());
  double loss = objective.gradient(w, gradient);
  double previous_loss = std::numeric_limits<double>::infinity();
  run.evaluations = 1.0;

  for (Index t = 0;; ++t) {
    const double rate = options.learning_rate.at(t);
    bool teleported = false;
    // At rate 0 (the end of a cosine) no step follows that a teleport could improve.
    if (t < options.max_steps && rate > 0.0 && schedule.contains(t)) {
      Certificate certificate = teleport(rate, random, state);
      certificate.step = t;
      run.evaluations += certificate.evaluations;
      teleported = certificate.accepted;
      run.teleports.push_back(std::move(certificate));
      if (teleported) {
        loss = objective.gradient(w, gradient);
        run.evaluations += 1.0;
      }
    }
    const double grad_sq = static_cast<double>(gradient.squaredNorm());
    run.steps = t;
    run.final_loss = loss;
    run.final_grad_sq = grad_sq;
    TraceRow row{t, loss, grad_sq, rate, run.evaluations, watched ? elapsed() : 0.0, teleported};
    if (options.trace) {
      run.trace.rows.push_back(row);
      if (keeps_points) run.trace.points.push_back(w.template cast<double>());
    }
    if (!std::isfinite(loss) || !std::isfinite(grad_sq)) {
      run.status = RunStatus::diverged;
      break;
    }
    if (options.stop(t, loss, previous_loss, grad_sq)) {
      run.status = RunStatus::converged;
      break;
    }
    if (t == options.max_steps) {
      run.status = RunStatus::step_limit;
      break;
    }
    if (options.watcher && !options.watcher(row)) {
      run.status = RunStatus::interrupted;
      break;
    }
    const StepOutcome outcome = optimizer.step(objective, loss, gradient, rate, state, w);
    if (options.trace && optimizer.automatic_rate()) {
      run.trace.rows.back().learning_rate = outcome.rate;
    }
    if (!outcome.moved) {  // nothing left to gain at this precision
      run.status = RunStatus::converged;
      break;
    }
    previous_loss = loss;
    loss = objective.gradient(w, gradient);
    run.evaluations += 1.0 + outcome.evaluations;
  }
  run.seconds = elapsed();
  return run;
}

}  // namespace symport
