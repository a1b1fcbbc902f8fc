// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "symport/core/parameter_layout.hpp"
#include "symport/optimizers/whole_gradient_optimizer.hpp"

namespace symport {

struct SoapOptions {
  double beta1 = 0.95;
  double beta2 = 0.95;  ///< of the squares, and of the statistics
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  Index refresh = 10;  ///< steps between two changes of the bases
  Index largest_side =
      2048;  ///< a longer side of a block is not rotated; 10000 in the authors' code
};

/// SOAP (Vyas et al., 2024): Adam in the eigenvectors of Shampoo's statistics. For every block of
/// the layout that is a matrix, with G its gradient, Q_L and Q_R orthogonal, in step t = 1, 2, ...:
///
///   M <- b1 M + (1 - b1) G,   V <- b2 V + (1 - b2) (Q_L' G Q_R)^2 (entry by entry)
///   D = (Q_L' M Q_R) / (sqrt(V) + epsilon),   s = sqrt(1 - b2^t) / (1 - b1^t)
///   W <- (1 - eta weight_decay) (W - eta s Q_L D Q_R')
///   L <- b2 L + (1 - b2) G G',   R <- b2 R + (1 - b2) G' G
///
/// Every `refresh` steps Q_L becomes the Q of L Q_L = Q R, with its columns (and the rows of V) in
/// descending order of the eigenvalues that they stand for; Q_R likewise. Blocks with one row or
/// column, and sides that are left out, have the identity: Adam.
///
/// The first gradient only makes L and R, whose eigenvectors are the first Q_L and Q_R, and the
/// weights stay: no gradient is projected on a basis that it helped to make. So the step before
/// which `state.count` is t is step t. In full batches its gradient is the first one again, which
/// the bases make diagonal: what rounding leaves of the other entries counts as much as they do
/// where it is above epsilon, as in float.
///
/// As in the authors' code, where M is kept rotated and turned back and forth at every step. Theirs
/// and the package pytorch_optimizer find Q in float; here it has the precision of the parameters.
///
/// V and the bases belong to the coordinates that they were gathered in, as with Shampoo.
template <Real Scalar = double>
class Soap final : public WholeGradientOptimizer<Scalar> {
 public:
  /// For parameters of that layout. Throws InvalidArgument for an option out of range.
  explicit Soap(const ParameterLayout& layout, const SoapOptions& options = {});

  std::string_view name() const override { return "soap"; }
  /// `mean` (M), `squares` (V), `statistics` (every L and R), `bases` (Q_L and Q_R, likewise).
  /// Throws InvalidArgument for another dimension than the layout's.
  OptimizerState<Scalar> init(Index dimension) const override;
  void advance(In<Scalar> gradient, double learning_rate, OptimizerState<Scalar>& state,
               Out<Scalar> w) const override;

 private:
  struct Block {
    Index offset, rows, cols;
    bool left, right;  ///< has L, has R
    Index statistics;  ///< where L begins, R after it
    Index size() const { return rows * cols; }
    Index right_statistics() const { return statistics + (left ? rows * rows : 0); }
    Index statistics_end() const { return right_statistics() + (right ? cols * cols : 0); }
  };
  /// A <- Q_L' A Q_R, or Q_L A Q_R'.
  void rotate(const Block& block, const VectorOf<Scalar>& bases, bool back,
              MatrixOf<Scalar>& A) const;
  void move(const Block& block, In<Scalar> gradient, double learning_rate,
            OptimizerState<Scalar>& state, Out<Scalar> w) const;
  void gather(const Block& block, In<Scalar> gradient, VectorOf<Scalar>& statistics) const;
  void find_bases(const Block& block, OptimizerState<Scalar>& state) const;

  SoapOptions options_;
  Index dimension_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace symport
