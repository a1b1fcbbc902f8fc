// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

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
  const bool observed = options.trace || options.watcher || options.stop.active();

  RunSummary run;
  Vector point;
  Random random(options.seed);
  OptimizerState<Scalar> state = optimizer.init(w.size());
  VectorOf<Scalar> gradient_storage(w.size());
  // Made once: on small problems a step costs no more than making these.
  const Out<Scalar> gradient(gradient_storage), w_out(w);
  const Eigen::Ref<const VectorOf<Scalar>> gradient_in(gradient_storage), w_in(w);
  double loss = objective.gradient(w_in, gradient);
  double previous_loss = std::numeric_limits<double>::infinity();
  run.evaluations = 1.0;

  // Records the state before the update of step t, and says whether the run ends there. Nothing
  // here is computed for a run that nobody observes.
  const auto observe = [&](Index t, double rate, bool teleported) -> std::optional<RunStatus> {
    const double grad_sq = static_cast<double>(gradient.squaredNorm());
    const TraceRow row{t, loss, grad_sq, rate, run.evaluations, elapsed(), teleported};
    if (keeps_points) point = w.template cast<double>();
    if (options.trace) run.trace.record(row, keeps_points ? &point : nullptr);
    if (!std::isfinite(grad_sq)) return RunStatus::diverged;
    if (options.stop(t, loss, previous_loss, grad_sq)) return RunStatus::converged;
    if (t < options.max_steps && options.watcher && !options.watcher(row)) {
      return RunStatus::interrupted;
    }
    return std::nullopt;
  };

  for (Index t = 0;; ++t) {
    const double rate = options.learning_rate.at(t);
    bool teleported = false;
    if (t < options.max_steps && schedule.contains(t)) {
      Certificate certificate = teleport(rate, random, state);
      certificate.step = t;
      run.evaluations += certificate.evaluations;
      teleported = certificate.accepted;
      run.teleports.push_back(std::move(certificate));
      if (teleported) {
        loss = objective.gradient(w_in, gradient);
        run.evaluations += 1.0;
      }
    }
    run.steps = t;
    std::optional<RunStatus> end;
    if (observed) end = observe(t, rate, teleported);
    if (!std::isfinite(loss)) end = RunStatus::diverged;
    if (!end && t == options.max_steps) end = RunStatus::step_limit;
    if (end) {
      run.status = *end;
      break;
    }
    const StepOutcome outcome = optimizer.step(objective, loss, gradient_in, rate, state, w_out);
    if (options.trace && optimizer.automatic_rate()) {
      run.trace.rows.back().learning_rate = outcome.rate;
    }
    if (!outcome.moved) {  // nothing left to gain at this precision
      run.status = RunStatus::converged;
      break;
    }
    previous_loss = loss;
    loss = objective.gradient(w_in, gradient);
    run.evaluations += 1.0 + outcome.evaluations;
  }
  run.final_loss = loss;
  run.final_grad_sq = static_cast<double>(gradient.squaredNorm());
  run.seconds = elapsed();
  return run;
}

}  // namespace symport
