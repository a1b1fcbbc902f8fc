// SPDX-License-Identifier: MIT
// The white gauges of a factor pair (docs/mathematics/round_trips.md).
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/cholesky.hpp"
#include "objectives/gauge_options.hpp"
#include "symport/objectives/matrix_factorization.hpp"

namespace symport {

namespace {

/// X (G + lambda I)^-1 with lambda = damping tr(G) / order, no smaller than rounding allows; zero
/// for G = 0.
Matrix over_damped(Matrix X, const Matrix& G, double damping) {
  const double trace = G.trace();
  const double smallest = 10.0 * std::numeric_limits<double>::epsilon() * trace;
  double lambda = std::max(damping * trace / static_cast<double>(G.rows()), smallest);
  for (; lambda > 0.0 && std::isfinite(lambda); lambda *= 10.0) {
    Matrix L = G;
    L.diagonal().array() += lambda;
    if (!cholesky<double>(L)) continue;
    divide_by_cholesky<double>(L, X);
    return X;
  }
  return Matrix::Zero(X.rows(), X.cols());
}

}  // namespace

Index MatrixFactorization::memory_size(const WhiteGaugeOptions& options) const {
  require_good(options);
  return 1;
}

double MatrixFactorization::white_direction(In<double> w, const WhiteGaugeOptions& options,
                                            Out<double> memory, Out<double> direction,
                                            Out<double>* gradient) const {
  Vector slope(w.size());
  const double loss = this->gradient(w, slope);
  double& largest_loss = memory[0];
  largest_loss = std::max(largest_loss, loss);
  // It ends by not mattering: a fixed one would leave the small singular values behind.
  const double part = largest_loss > 0.0 ? loss / largest_loss : 1.0;
  const double damping = options.damping.value_or(usual().damping) * part;
  const Matrix U = this->U(w), V = this->V(w);
  const Matrix G_U = this->U(In<double>(slope)), G_V = this->V(In<double>(slope));
  this->U(direction) = over_damped(G_U, V * V.transpose(), damping);
  this->V(direction) = over_damped(G_V.transpose(), U.transpose() * U, damping).transpose();
  if (gradient) *gradient = slope;
  return loss;
}

double MatrixFactorization::white_ranges(In<double> w, const WhiteGaugeOptions& options,
                                         Out<double> memory,
                                         const std::function<void(Index, In<double>)>& use) const {
  Vector direction(w.size());
  const double loss = white_direction(w, options, memory, direction, nullptr);
  use(0, direction);
  return loss;
}

double MatrixFactorization::white_step(Out<double> w, double theta,
                                       const WhiteGaugeOptions& options, Out<double> memory) const {
  Vector direction(w.size());
  const double loss = white_direction(w, options, memory, direction, nullptr);
  w -= theta * direction;
  return loss;
}

}  // namespace symport
