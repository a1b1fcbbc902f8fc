// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "symport/core/parameter_layout.hpp"
#include "symport/optimizers/whole_gradient_optimizer.hpp"

namespace symport {

/// Whose step length Shampoo takes, block by block.
enum class Grafting {
  none,     ///< its own
  sgd,      ///< that of gradient descent
  adagrad,  ///< that of AdaGrad
};
std::string_view to_string(Grafting grafting);

struct ShampooOptions {
  Grafting grafting = Grafting::sgd;
  double momentum = 0.9;
  double decay = 1.0;         ///< of the statistics, per step; 1: they are sums, as published
  double epsilon = 1e-5;      ///< added to the eigenvalues, in units of the largest
  Index refresh = 20;         ///< steps between two roots; the first ones after 1, 2, 4, ... steps
  Index largest_side = 2048;  ///< a longer side of a block is left as it is
};

/// Shampoo (Gupta, Koren and Singer, 2018) with grafting (Agarwal et al., 2020). For every block of
/// the layout that is a matrix, with G its gradient:
///
///   L <- decay L + G G',   R <- decay R + G' G,   P = L^-1/4 G R^-1/4
///   v <- momentum v + P |S| / |P|,   W <- W - eta v
///
/// S is the step of the grafted rule, so that eta is that rule's learning rate; P itself without
/// grafting. A side that is left out has the identity in place of its root, and the other side has
/// the exponent -1/2. Of a vector only the diagonal of L is kept: P = L^-1/2 g.
///
/// Deviations from the paper: epsilon is relative to the largest eigenvalue, as in Anil et al.
/// (2020), so that the loss may have any unit; and roots are as old as `refresh` says.
///
/// The statistics belong to the coordinates that they were gathered in, and no formula moves them:
/// a teleport keeps them, as it does squares of gradients that it cannot move (--state reset clears
/// them).
template <Real Scalar = double>
class Shampoo final : public WholeGradientOptimizer<Scalar> {
 public:
  /// For parameters of that layout. Throws InvalidArgument for an option out of range.
  explicit Shampoo(ParameterLayout layout, const ShampooOptions& options = {});

  std::string_view name() const override { return "shampoo"; }
  double amplification() const override;
  /// Directions that were steep once count less for ever; the length does so too only where it is
  /// not that of gradient descent.
  bool forgets() const override {
    return options_.grafting == Grafting::sgd ||
           (options_.grafting == Grafting::none && options_.decay < 1.0);
  }
  /// `velocity`, `squares` (AdaGrad's), `statistics` (every L and R), `roots`, and `steps`: made,
  /// and since the last roots. Throws InvalidArgument for another dimension than the layout's.
  OptimizerState<Scalar> init(Index dimension) const override;
  void advance(In<Scalar> gradient, double learning_rate, OptimizerState<Scalar>& state,
               Out<Scalar> w) const override;

 private:
  struct Block {
    Index offset, rows, cols;
    bool left, right;  ///< has L, has R
    Index statistics;  ///< where L begins, R after it; the diagonal without both
    Index size() const { return rows * cols; }
    Index statistics_size() const;
    double exponent() const { return left && right ? -0.25 : -0.5; }
  };
  void gather(const Block& block, In<Scalar> gradient, VectorOf<Scalar>& statistics) const;
  void find_roots(const Block& block, const VectorOf<Scalar>& statistics,
                  VectorOf<Scalar>& roots) const;
  /// u <- P.
  void precondition(const Block& block, In<Scalar> gradient, const VectorOf<Scalar>& statistics,
                    const VectorOf<Scalar>& roots, Out<Scalar> u) const;

  ShampooOptions options_;
  Index dimension_ = 0;
  std::vector<Block> blocks_;
  Index statistics_size_ = 0;
};

}  // namespace symport
