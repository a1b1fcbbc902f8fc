// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// The d inputs of a weight matrix in `count` blocks of `size`, the last of which may have fewer:
/// as few as have no more than 512 inputs or, where that is more, as many as there are outputs.
struct InputBlocks {
  InputBlocks(Index outputs, Index inputs);

  Index first(Index b) const { return b * size; }
  Index width(Index b) const { return std::min(size, inputs - first(b)); }
  /// What an `InputGauge` remembers.
  Index numbers() const;

  Index inputs = 0, count = 0, size = 0;
};

/// How A becomes t, block by block (docs/mathematics/round_trips.md):
///
///   g = c (A + lambda I)^-power,   lambda = (damping + s / rows) tr(A) / s,
///
/// with c = 1 or, if lengths are `kept`, such that tr(A g^2) = tr(A); t is g or, `squared`, g^2.
struct GaugeRule {
  double power = 0.25;
  double damping = 0.1;
  bool kept = true;
  bool squared = false;
};

/// The gauge of a weight matrix's inputs, in numbers that the caller owns: how many rows were seen,
/// their running sums S, and t. A = S / rows is their second moment.
template <Real Scalar>
class InputGauge {
 public:
  using Weights = Eigen::Map<MatrixOf<Scalar>>;

  InputGauge(const InputBlocks& blocks, Scalar* numbers) : blocks_(blocks), numbers_(numbers) {}

  /// No rows, and t = 1.
  void begin();
  /// Adds the columns of h (d x n) to sums that fade. Columns of zeros are padding and do not
  /// count, and none does where one is not finite.
  void see(const Eigen::Ref<const MatrixOf<Scalar>>& h);
  /// t <- what `rule` makes of the sums, and X <- X t_old^-1 t for every X in `moving`. Where
  /// nothing was seen t stays. Infinitely many rows are allowed.
  void renew(const GaugeRule& rule, const std::vector<Weights>& moving);

  /// Y <- alpha X t + beta Y for X (any number x d).
  void times(Scalar alpha, MatrixIn<Scalar> X, Scalar beta, MatrixOut<Scalar> Y) const;
  /// Y <- t h for h (d x any number).
  void of(MatrixIn<Scalar> h, MatrixOut<Scalar> Y) const;

 private:
  Scalar& rows() const { return numbers_[0]; }
  Weights sums(Index b) const;
  Weights t(Index b) const;

  InputBlocks blocks_;
  Scalar* numbers_;
};

}  // namespace symport
