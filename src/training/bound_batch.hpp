// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>

#include "symport/objectives/batch_objective.hpp"
#include "symport/training/batch_source.hpp"

namespace symport {

/// An objective with the buffers through which batches reach it.
template <Real Scalar>
struct BoundBatch {
  explicit BoundBatch(const BatchObjective<Scalar>& of) : objective(of.clone()) {}

  std::unique_ptr<BatchObjective<Scalar>> objective;
  MatrixOf<Scalar> X;
  Targets<Scalar> targets;

  void bind(const BatchSource<Scalar>& source, std::span<const Index> samples) {
    source.load(samples, X, targets);
    objective->bind(X, targets);
  }
};

}  // namespace symport
