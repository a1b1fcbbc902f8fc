// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <utility>

#include "symport/objectives/targets.hpp"

namespace symport {

/// Where mini-batches come from: any subset of the samples, in any order.
template <Real Scalar>
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual Index samples() const = 0;
  virtual Index features() const = 0;
  /// Whether the targets are classes.
  virtual bool categorical() const = 0;
  /// X (features x samples) and targets <- the given samples, in that order.
  virtual void load(std::span<const Index> samples, MatrixOf<Scalar>& X,
                    Targets<Scalar>& targets) const = 0;
};

/// A set that is in memory in the form in which it is used.
template <Real Scalar>
class DenseSource final : public BatchSource<Scalar> {
 public:
  /// Throws InvalidArgument unless X and the targets have equally many samples, at least one.
  DenseSource(MatrixOf<Scalar> X, Targets<Scalar> targets);

  Index samples() const override { return X_.cols(); }
  Index features() const override { return X_.rows(); }
  bool categorical() const override { return targets_.categorical(); }
  void load(std::span<const Index> samples, MatrixOf<Scalar>& X,
            Targets<Scalar>& targets) const override;

 private:
  MatrixOf<Scalar> X_;
  Targets<Scalar> targets_;
};

}  // namespace symport
