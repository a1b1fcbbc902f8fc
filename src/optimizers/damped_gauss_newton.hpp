// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string_view>

#include "symport/objectives/gauss_newton.hpp"
#include "symport/optimizers/optimizer.hpp"

namespace symport {

/// (A'A + mu I) u = dL/dw = A'c at one point, for any mu. In the parameters or, where A has fewer
/// rows than that, as u = A'(AA' + mu I)^-1 c.
template <Real Scalar>
class DampedGaussNewton {
 public:
  /// Throws InvalidArgument about "optimizer" `name` when the objective has no Gauss-Newton form,
  /// when it is none of squares although `squares` asks for that, and when the smaller side of A
  /// exceeds `max_size`. A network without a batch passes.
  static std::shared_ptr<const GaussNewton<Scalar>> form_of(const BasicObjective<Scalar>& objective,
                                                            std::string_view name, bool squares,
                                                            Index max_size);

  /// All of it must outlive this object.
  DampedGaussNewton(const GaussNewton<Scalar>& form, In<Scalar> w, In<Scalar> gradient);

  /// Of the eigenvalues of A'A that can be non-zero.
  double mean_eigenvalue() const { return mean_; }
  /// False when the system is not positive definite to rounding, or not finite.
  bool solve(double mu, Vector& u);
  /// Work done so far, in gradients.
  double evaluations() const { return evaluations_; }

 private:
  const GaussNewton<Scalar>& form_;
  const Eigen::Ref<const VectorOf<Scalar>> w_;
  bool by_rows_;
  Matrix square_;  ///< AA' or A'A
  Vector right_;   ///< c or the gradient
  double mean_ = 0.0;
  double evaluations_ = 0.0;
};

/// The numbers of the buffer `damping`.
enum Damping : Index {
  damping_part,    ///< alpha; 0 before the first step
  damping_growth,  ///< what the next refusal multiplies it by
  damping_first,   ///< the loss at the first step
  damping_numbers
};

struct DampingRule {
  double first = 1e-3;        ///< alpha of the first step
  bool by_root_loss = false;  ///< mu = alpha mean (L / L_0)^1/2, else alpha mean
  Index max_trials = 40;
};

/// A step by Nielsen's rule (1999, "Damping parameter in Marquardt's method"): with rho the ratio
/// of the decrease of the loss to that of the model, (mu |u|^2 + <dL/dw, u>) / 2, a step with rho >
/// 0 is taken and alpha multiplied by max(1/3, 1 - (2 rho - 1)^3); else alpha is multiplied by 2,
/// 4, 8, ... until one is.
template <Real Scalar>
StepOutcome damped_step(DampedGaussNewton<Scalar>& system, const BasicObjective<Scalar>& objective,
                        double loss, In<Scalar> gradient, const DampingRule& rule,
                        OptimizerState<Scalar>& state, Out<Scalar> w);

}  // namespace symport
