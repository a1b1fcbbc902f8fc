// SPDX-License-Identifier: MIT
#pragma once

#include "symport/symmetries/linear_data.hpp"
#include "symport/training/train.hpp"

namespace symport {

/// The composed action on data, f = g_X(k) o ... o g_X(1), to be applied to inputs at inference.
struct DataTransform {
  Matrix matrix;
  Matrix operator()(const Matrix& X) const { return matrix * X; }
};

struct TrainWithDataOptions {
  Index max_steps = 1000;
  LearningRate learning_rate = 1e-3;
  const LinearDataSymmetry* symmetry = nullptr;
  const Search* search = nullptr;  ///< null: OrbitAscent
  Schedule schedule{};
  std::optional<ObjectiveKind> objective = std::nullopt;  ///< as in Teleportation
  Stopping stop{};
  std::uint64_t seed = 0;  ///< of the searches
  bool trace = true;
  StepWatcher watcher{};
};

struct TrainWithDataResult {
  RunSummary run;
  DataTransform transform;
};

/// Algorithm 3: teleportation that moves parameters and data.
///
///   f <- identity
///   for t = 0 .. max_steps - 1
///     if t in K:  g <- argmax over the orbit;  (w, X) <- g.(w, X);  f <- g_X o f
///     w <- w - u(dL/dw)
///
/// `w` and the model's data are moved in place. A prediction for a new input x is that of w on
/// f(x). The optimizer's state is reset at a teleport: its old gradients belong to other data.
TrainWithDataResult train_with_data(LinearModel& model, const Optimizer& optimizer, Vector& w,
                                    const TrainWithDataOptions& options);

}  // namespace symport
