// SPDX-License-Identifier: MIT
#include "symport/objectives/matrix_completion.hpp"

#include <fmt/format.h>

#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"

namespace symport {

namespace {

/// Random numbers of the mask do not depend on those of the matrix.
constexpr std::uint64_t mask_stream = 2;

}  // namespace

MatrixCompletion::MatrixCompletion(MatrixFactorization full, Matrix mask)
    : full_(std::move(full)), mask_(std::move(mask)) {
  const Matrix& Y = full_.Y();
  if (mask_.rows() != Y.rows() || mask_.cols() != Y.cols()) {
    throw InvalidArgument("mask", fmt::format("{} x {}", mask_.rows(), mask_.cols()),
                          fmt::format("{} x {}, as the matrix", Y.rows(), Y.cols()));
  }
  if (!(mask_.array() == 0.0 || mask_.array() == 1.0).all() || mask_.sum() < 1.0) {
    throw InvalidArgument("mask", "other numbers, or none that is known",
                          "zeros and ones, at least one of them 1");
  }
}

MatrixCompletion MatrixCompletion::random(Index rows, Index cols, Index rank, double condition,
                                          double share, std::uint64_t seed) {
  if (!(share > 0.0 && share <= 1.0)) {
    throw InvalidArgument("share", fmt::format("{}", share), "a part > 0 and at most 1");
  }
  MatrixFactorization full = MatrixFactorization::conditioned(rows, cols, rank, condition, seed);
  Random random(seed, mask_stream);
  Matrix mask(rows, cols);
  for (double& entry : mask.reshaped()) entry = random.uniform() < share ? 1.0 : 0.0;
  return {std::move(full), std::move(mask)};
}

std::string MatrixCompletion::citation() const {
  return "Candes and Recht, Foundations of Computational Mathematics 9 (2009)";
}

double MatrixCompletion::value(In<double> w) const {
  return masked(full_.U(w) * full_.V(w) - full_.Y()).squaredNorm();
}

double MatrixCompletion::gradient(In<double> w, Out<double> gradient) const {
  const Matrix residual = masked(full_.U(w) * full_.V(w) - full_.Y());
  full_.U(gradient).noalias() = 2 * residual * full_.V(w).transpose();
  full_.V(gradient).noalias() = 2 * full_.U(w).transpose() * residual;
  return residual.squaredNorm();
}

void MatrixCompletion::hessian_vector(In<double> w, In<double> v, Out<double> result) const {
  const auto U = full_.U(w), V = full_.V(w), dU = full_.U(v), dV = full_.V(v);
  const Matrix residual = masked(U * V - full_.Y());
  const Matrix change = masked(dU * V + U * dV);
  full_.U(result) = 2 * (change * V.transpose() + residual * dV.transpose());
  full_.V(result) = 2 * (U.transpose() * change + dU.transpose() * residual);
}

void MatrixCompletion::third_derivative(In<double> w, In<double> v, Out<double> result) const {
  // As for MatrixFactorization, every product of two factors under the mask.
  const auto U = full_.U(w), V = full_.V(w), dU = full_.U(v), dV = full_.V(v);
  const Matrix first = masked(dU * V + U * dV);
  const Matrix second = 2 * masked(dU * dV);
  full_.U(result) = 2 * (second * V.transpose() + 2 * first * dV.transpose());
  full_.V(result) = 2 * (U.transpose() * second + 2 * dU.transpose() * first);
}

}  // namespace symport
