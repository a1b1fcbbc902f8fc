// SPDX-License-Identifier: MIT
#pragma once

#include "symport/objectives/mlp.hpp"
#include "symport/optimizers/whole_gradient_optimizer.hpp"

namespace symport {

/// Path-SGD (Neyshabur, Salakhutdinov and Srebro, 2015) with p = 2: the step of weight e is
///
///   w_e <- w_e - eta (dL/dw_e) / kappa_e,   kappa_e = 1/2 d^2(gamma^2)/dw_e^2
///
/// where gamma^2 is the sum of the squared products of weights over all paths from an input (or a
/// bias) to an output. For the weight from unit u of layer m-1 to unit v of layer m, kappa_e =
/// in_(m-1)(u) out_m(v), from one pass forward and one back through the squared weights:
///
///   in_0 = 1,  in_m = W_m^2 in_(m-1) + b_m^2,    out_p = 1,  out_(m-1) = (W_m^2)' out_m
///
/// and in = 1 for a bias. Steps before and after a positive rescaling of hidden units are the same
/// step: the function that is learned does not depend on the gauge. A weight with kappa_e = 0 is on
/// no path that matters, has no gradient and takes no step.
template <Real Scalar = double>
class PathSgd final : public WholeGradientOptimizer<Scalar> {
 public:
  /// Throws InvalidArgument unless the activation is positively homogeneous.
  explicit PathSgd(Mlp network);

  std::string_view name() const override { return "path_sgd"; }
  double amplification() const override { return 1.0; }
  OptimizerState<Scalar> init(Index dimension) const override;
  void advance(In<Scalar> gradient, double learning_rate, OptimizerState<Scalar>& state,
               Out<Scalar> w) const override;
  /// kappa_e of every parameter.
  VectorOf<Scalar> scales(In<Scalar> w) const;

 private:
  struct Passes;
  Passes passes(In<Scalar> w) const;

  Mlp network_;
};

}  // namespace symport
