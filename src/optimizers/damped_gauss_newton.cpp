// SPDX-License-Identifier: MIT
#include "optimizers/damped_gauss_newton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/cholesky.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

constexpr double smallest_part = 1e-14;
constexpr double largest_part = 1e14;
constexpr double least_ratio = 1e-4;

}  // namespace

template <Real Scalar>
std::shared_ptr<const GaussNewton<Scalar>> DampedGaussNewton<Scalar>::form_of(
    const BasicObjective<Scalar>& objective, std::string_view name, bool squares, Index max_size) {
  auto form = gauss_newton(objective);
  const std::string found = fmt::format("'{}'", name);
  if (!form) {
    throw InvalidArgument("optimizer", found + " on a loss of which only derivatives are known",
                          squares ? "a sum of squares: a network with a loss of squares, or a "
                                    "named test function"
                                  : "a network, or a named test function");
  }
  if (squares && !form->least_squares()) {
    throw InvalidArgument("optimizer", found + " on a loss that is no sum of squares",
                          "natural_gradient, which is the same idea for cross-entropy, or a loss "
                          "of squares");
  }
  const Index size = std::min(form->rows(), objective.dimension());
  if (size > max_size) {
    throw InvalidArgument(
        "optimizer",
        fmt::format("{} on {} parameters and {} rows (outputs times samples)", found,
                    objective.dimension(), form->rows()),
        fmt::format("at most {} of one of the two: it solves a dense system of that size at every "
                    "step; lbfgs has no such limit",
                    max_size));
  }
  return form;
}

template <Real Scalar>
DampedGaussNewton<Scalar>::DampedGaussNewton(const GaussNewton<Scalar>& form, In<Scalar> w,
                                             In<Scalar> gradient)
    : form_(form), w_(w), by_rows_(form.rows() < w.size()), evaluations_(form.cost()) {
  if (by_rows_) {
    form.kernel(w, right_, square_);
  } else {
    form.matrix(w, square_);
    right_ = gradient.template cast<double>();
  }
  mean_ = square_.trace() / static_cast<double>(square_.rows());
}

template <Real Scalar>
bool DampedGaussNewton<Scalar>::solve(double mu, Vector& u) {
  Matrix L = square_;
  L.diagonal().array() += mu;
  if (!L.allFinite() || !cholesky<double>(L)) return false;
  Matrix x = right_.transpose();
  divide_by_cholesky<double>(L, x);
  if (by_rows_) {
    form_.pull(w_, x.row(0).transpose(), u);
    evaluations_ += 1.0;
  } else {
    u = x.row(0).transpose();
  }
  return u.allFinite();
}

template <Real Scalar>
StepOutcome damped_step(DampedGaussNewton<Scalar>& system, const BasicObjective<Scalar>& objective,
                        double loss, In<Scalar> gradient, const DampingRule& rule,
                        OptimizerState<Scalar>& state, Out<Scalar> w) {
  VectorOf<Scalar>& memory = state["damping"];
  if (memory[damping_part] == Scalar(0)) {
    memory[damping_part] = static_cast<Scalar>(rule.first);
    memory[damping_growth] = Scalar(2);
    memory[damping_first] = static_cast<Scalar>(loss);
  }
  double alpha = static_cast<double>(memory[damping_part]);
  double growth = static_cast<double>(memory[damping_growth]);
  const double first = static_cast<double>(memory[damping_first]);
  const double shrink = rule.by_root_loss ? std::sqrt(std::abs(loss / first)) : 1.0;
  const Vector g = gradient.template cast<double>();
  const double norm = g.norm();
  double values = 0.0;
  const auto outcome = [&](bool moved, double rate) {
    memory[damping_part] = static_cast<Scalar>(std::clamp(alpha, smallest_part, largest_part));
    memory[damping_growth] = static_cast<Scalar>(growth);
    return StepOutcome{moved, rate, system.evaluations() + 0.5 * values};
  };
  if (!(norm > 0.0) || !std::isfinite(norm)) return outcome(false, 0.0);
  Vector u;
  VectorOf<Scalar> candidate(w.size());
  for (Index trial = 0; trial < rule.max_trials; ++trial) {
    const double mu = alpha * shrink * system.mean_eigenvalue();
    if (system.solve(mu, u)) {
      candidate = w - u.template cast<Scalar>();
      const double next = objective.value(candidate);
      values += 1.0;
      const double model = 0.5 * (mu * u.squaredNorm() + g.dot(u));
      const double ratio = (loss - next) / model;
      if (next < loss && ratio > least_ratio) {
        alpha *= std::max(1.0 / 3.0, 1.0 - std::pow(2.0 * ratio - 1.0, 3));
        growth = 2.0;
        w = candidate;
        ++state.count;
        return outcome(true, u.norm() / norm);
      }
    }
    alpha *= growth;
    growth *= 2.0;
    if (alpha > largest_part) break;
  }
  growth = 2.0;
  return outcome(false, 0.0);
}

template class DampedGaussNewton<float>;
template class DampedGaussNewton<double>;
template StepOutcome damped_step(DampedGaussNewton<float>&, const BasicObjective<float>&, double,
                                 In<float>, const DampingRule&, OptimizerState<float>&, Out<float>);
template StepOutcome damped_step(DampedGaussNewton<double>&, const BasicObjective<double>&, double,
                                 In<double>, const DampingRule&, OptimizerState<double>&,
                                 Out<double>);

}  // namespace symport
