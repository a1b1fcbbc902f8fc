// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "symport/objectives/mlp.hpp"
#include "symport/optimizers/whole_gradient_optimizer.hpp"

namespace symport {

/// Which weights make up the skeleton of a network.
enum class Skeleton {
  largest,   ///< those of the largest paths, chosen anew at every step
  diagonal,  ///< unit i to unit i (modulo the width), as published for equal widths
};
std::string_view to_string(Skeleton skeleton);

struct GsgdOptions {
  Skeleton skeleton = Skeleton::largest;
  /// eta is multiplied by V^(2 - 2/p), V the largest value of a skeleton path: where all weights of
  /// that path are equal, a step is as long as one of SGD. False: as published, where the rate that
  /// is right depends on widths and initialization by orders of magnitude.
  bool relative_rate = true;
};

/// G-SGD (Meng et al., 2019): gradient descent on values of paths, v = the product of the weights
/// along a path from an input to an output, instead of weights. Values of paths are all that a
/// network without biases and with a positively homogeneous activation depends on, and positive
/// rescaling does not change them: neither does it change what is learned.
///
/// Of all paths m - H are independent, m the number of weights and H that of hidden units. Every
/// hidden unit has an out-edge and an in-edge in the skeleton. Out-edges are held fixed (that is
/// the gauge). Every other weight e, from unit u to unit v, stands for the basis path that reaches
/// u along in-edges, takes e, and goes on along out-edges: its value is w_e P, P = B(u) F(v). With
/// b = v dL/dv for values and a = w dL/dw for weights the published steps are:
///
///   inverse chain rule    b_e = a_e - S(v) where e is the in-edge of v, otherwise b_e = a_e
///                         S(u) = the sum of b over all basis paths that reach u or go through it
///   step                  R_e = 1 - eta b_e / (w_e P)^2
///   weight allocation     w_e <- w_e R_e / rho(u), rho(u) the factor that the in-edges to u got
///
/// The paper has this for hidden layers of equal width, with in-edge and out-edge on the diagonal;
/// the above is the same there, and needs nothing of it. Three choices are ours: the skeleton of
/// largest paths (a small skeleton weight makes 1/P^2 as large as it is small; the largest path is
/// the same path in every gauge), the unit of eta, and that R of an in-edge stays within [1/2, 2],
/// since all other weights of its unit are divided by it.
template <Real Scalar = double>
class Gsgd final : public WholeGradientOptimizer<Scalar> {
 public:
  /// Throws InvalidArgument for a network with biases, or whose activation is not positively
  /// homogeneous.
  explicit Gsgd(Mlp network, const GsgdOptions& options = {});

  std::string_view name() const override { return "g_sgd"; }
  double amplification() const override { return 1.0; }
  OptimizerState<Scalar> init(Index dimension) const override;
  void advance(In<Scalar> gradient, double learning_rate, OptimizerState<Scalar>& state,
               Out<Scalar> w) const override;

  /// The skeleton at w: of unit u in layer m, 0 < m < p, `in[m][u]` is the unit of layer m-1 at the
  /// other end of its in-edge, `out[m][u]` that of layer m+1.
  struct Edges {
    std::vector<std::vector<Index>> in, out;
    std::vector<VectorOf<Scalar>> B, F;  ///< of layers 0 ... p-1 and 1 ... p
  };
  Edges skeleton(In<Scalar> w) const;

 private:
  Mlp network_;
  GsgdOptions options_;
};

}  // namespace symport
