// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "symport/core/parameter_layout.hpp"
#include "symport/objectives/loss.hpp"
#include "symport/objectives/objective.hpp"

namespace symport {

/// How well a model does on a batch.
struct Score {
  double loss = 0.0;
  double accuracy = 0.0;  ///< fraction classified correctly; NaN without classes
};

/// The loss of a model on one batch, which can be replaced: what Algorithm 2 trains.
///
/// Columns are samples. Every evaluation needs a batch (std::logic_error without one). Threads may
/// share an object for as long as its batch stays: `bind` needs it alone. Those that want batches
/// of their own bind clones, as `train_minibatch` does, which leaves the object it is given
/// untouched.
template <Real Scalar>
class BatchObjective : public BasicObjective<Scalar> {
 public:
  /// Switches to another batch: X is features x samples. Throws InvalidArgument when it does not
  /// suit the model; the old batch is then still bound.
  virtual void bind(MatrixIn<Scalar> X, const Targets<Scalar>& targets) = 0;
  /// In the batch; 0 without one.
  virtual Index samples() const = 0;
  /// The same model and loss without a batch.
  virtual std::unique_ptr<BatchObjective> clone() const = 0;
  /// Whether the loss of a batch is the sum or the mean over its samples.
  virtual Loss::Reduction reduction() const = 0;
  /// The names of the parameters.
  virtual const ParameterLayout& layout() const = 0;

  /// The default knows only the loss.
  virtual Score score(In<Scalar> w) const;
  /// The same, and gradient <- dL/dw.
  virtual Score score(In<Scalar> w, Out<Scalar> gradient) const;

  /// w <- w - learning_rate dL/dw. Returns the loss before the step. The default forms the
  /// gradient; a model may do without it.
  virtual double gradient_step(Out<Scalar> w, double learning_rate) const;
  /// Calls use(first, range) for consecutive pieces of dL/dw, each entry once; range[0] is the
  /// derivative in w[first]. When a piece comes, w is no longer needed there: `use` may change it.
  /// Calls may come from several threads at once, for different ranges. Returns the loss at w. The
  /// default has one piece.
  virtual double gradient_ranges(
      In<Scalar> w, const std::function<void(Index first, In<Scalar> range)>& use) const;
};

}  // namespace symport
