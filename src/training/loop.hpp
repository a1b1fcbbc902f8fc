// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "symport/core/invalid_argument.hpp"
#include "symport/training/train.hpp"
#include "training/resumable.hpp"

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
  const Checkpointing<Scalar>& checkpoints = options.checkpoints;
  const bool keeps_points = options.trace && w.size() <= Trace::max_point_dimension;
  OptimizerState<Scalar> state = optimizer.init(w.size());
  if (const Checkpoint<Scalar>* from = checkpoints.resume) {
    require_resumable(*from, w.size(), state);
    const std::size_t points = from->trace.points.size();
    if (points != (keeps_points ? from->trace.rows.size() : 0)) {
      throw InvalidArgument("checkpoint", fmt::format("{} points of the trace", points),
                            keeps_points ? "as many as rows" : "none");
    }
    w = from->w;
  }
  const double seconds_before = checkpoints.resume ? checkpoints.resume->seconds : 0.0;
  const auto began = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    const auto since = std::chrono::steady_clock::now() - began;
    return seconds_before + std::chrono::duration<double>(since).count();
  };
  const bool observed = options.trace || options.watcher || options.stop.active();

  RunSummary run;
  Vector point;
  Random random(options.seed);
  VectorOf<Scalar> gradient_storage(w.size());
  // Made once: on small problems a step costs no more than making these.
  const Out<Scalar> gradient(gradient_storage), w_out(w);
  const Eigen::Ref<const VectorOf<Scalar>> gradient_in(gradient_storage), w_in(w);
  double loss = objective.gradient(w_in, gradient);
  double previous_loss = std::numeric_limits<double>::infinity();
  run.evaluations = 1.0;
  Index first = 0;
  if (const Checkpoint<Scalar>* from = checkpoints.resume) {
    first = from->step;
    random = Random(from->random);
    state = from->optimizer;
    previous_loss = from->previous_loss;
    run.evaluations = from->evaluations;
    run.trace = from->trace;
    run.teleports = from->teleports;
  }
  const auto save = [&](Index t) {
    if (!checkpoints.save || !std::isfinite(loss)) return;
    Checkpoint<Scalar> checkpoint;
    checkpoint.step = checkpoint.updates = t;
    checkpoint.w = w;
    checkpoint.optimizer = state;
    checkpoint.random = random.state();
    checkpoint.previous_loss = previous_loss;
    checkpoint.evaluations = run.evaluations;
    checkpoint.seconds = elapsed();
    checkpoint.trace = run.trace;
    checkpoint.teleports = run.teleports;
    checkpoints.save(checkpoint);
  };
  bool stopping = false;  // the watcher said so; the step that it saw is finished first

  // Records the state before the update of step t, and says whether the run ends there. Nothing
  // here is computed for a run that nobody observes.
  const auto observe = [&](Index t, double rate, bool teleported) -> std::optional<RunStatus> {
    const double grad_sq = static_cast<double>(gradient.squaredNorm());
    TraceRow row{t, loss, grad_sq, rate, run.evaluations, elapsed(), teleported};
    if (options.validate) {
      const Validation figures = options.validate(w_in);
      row.valid_loss = figures.loss;
      row.valid_accuracy = figures.accuracy;
    }
    if (keeps_points) point = w.template cast<double>();
    if (options.trace) run.trace.record(row, keeps_points ? &point : nullptr);
    if (!std::isfinite(grad_sq)) return RunStatus::diverged;
    if (options.stop(t, loss, previous_loss, grad_sq)) return RunStatus::converged;
    if (t < options.max_steps && !stopping && options.watcher) stopping = !options.watcher(row);
    return std::nullopt;
  };

  for (Index t = first;; ++t) {
    const double rate = options.learning_rate.at(t);
    const bool stopped = stopping;
    const bool due = checkpoints.every > 0 && t % checkpoints.every == 0;
    if (t > first && (stopped || due || t >= options.max_steps)) save(t);
    bool teleported = false;
    if (t < options.max_steps && !stopped && schedule.contains(t)) {
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
    if (!end && t >= options.max_steps) end = RunStatus::step_limit;
    if (!end && stopped) end = RunStatus::interrupted;
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
