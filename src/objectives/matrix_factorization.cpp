// SPDX-License-Identifier: MIT
#include "symport/objectives/matrix_factorization.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/dense.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"

namespace symport {

MatrixFactorization::MatrixFactorization(Matrix Y, Index rank) : Y_(std::move(Y)), rank_(rank) {
  if (Y_.size() == 0) throw InvalidArgument("Y", "an empty matrix", "at least one entry");
  if (!Y_.allFinite()) throw InvalidArgument("Y", "a non-finite entry", "finite numbers");
  if (rank < 1) throw InvalidArgument("rank", fmt::format("{}", rank), "a whole number >= 1");
  layout_.add("U", Y_.rows(), rank_).add("V", rank_, Y_.cols());
}

MatrixFactorization MatrixFactorization::random(Index rows, Index cols, Index rank,
                                                std::uint64_t seed) {
  if (rows < 1 || cols < 1 || rank < 1) {
    throw InvalidArgument("size", fmt::format("{} x {} of rank {}", rows, cols, rank),
                          "whole numbers >= 1");
  }
  Random random(seed);
  const Matrix left = random.normal_matrix(rows, rank);
  return {left * random.normal_matrix(rank, cols), rank};
}

MatrixFactorization MatrixFactorization::conditioned(Index rows, Index cols, Index rank,
                                                     double condition, std::uint64_t seed,
                                                     double imbalance) {
  if (!(condition >= 1.0 && std::isfinite(condition))) {
    throw InvalidArgument("condition", fmt::format("{}", condition), "a finite number >= 1");
  }
  if (!(imbalance > 0.0 && std::isfinite(imbalance))) {
    throw InvalidArgument("imbalance", fmt::format("{}", imbalance), "a finite number > 0");
  }
  if (rank < 1 || rank > std::min(rows, cols)) {
    throw InvalidArgument("rank", fmt::format("rank {}", rank),
                          fmt::format("a rank from 1 to {}, the smaller side of a {} x {} "
                                      "matrix with that many singular values",
                                      std::min(rows, cols), rows, cols));
  }
  Random random(seed);
  const Matrix A = orthogonal_factor(random.normal_matrix(rows, rank));
  const Matrix B = orthogonal_factor(random.normal_matrix(cols, rank));
  Vector s(rank);
  for (Index i = 0; i < rank; ++i) {
    const double part = rank == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(rank - 1);
    s[i] = std::pow(condition, -part);
  }
  MatrixFactorization made(A * s.asDiagonal() * B.transpose(), rank);
  made.start_size_ = 0.1;
  made.imbalance_ = imbalance;
  return made;
}

std::string MatrixFactorization::citation() const {
  return "Zhao et al., NeurIPS 2022, section 4.2 with the identity for the activation";
}

Vector MatrixFactorization::start() const {
  Random random(1);
  Vector w = start_size_ * random.normal_matrix(dimension(), 1);
  Out<double> flat(w);
  U(flat) *= std::sqrt(imbalance_);
  V(flat) /= std::sqrt(imbalance_);
  return w;
}

Vector MatrixFactorization::minimizer() const {
  const SingularValues svd = singular_values(Y_);
  const Index kept = std::min(rank_, svd.values.size());
  const Vector roots = svd.values.head(kept).cwiseSqrt();
  Vector w = Vector::Zero(dimension());
  Out<double> flat(w);
  U(flat).leftCols(kept) = svd.U.leftCols(kept) * roots.asDiagonal();
  V(flat).topRows(kept) = roots.asDiagonal() * svd.V.leftCols(kept).transpose();
  return w;
}

double MatrixFactorization::minimum() const {
  const SingularValues svd = singular_values(Y_);
  const Index dropped = std::max<Index>(svd.values.size() - rank_, 0);
  return svd.values.tail(dropped).squaredNorm();
}

double MatrixFactorization::value(In<double> w) const { return (U(w) * V(w) - Y_).squaredNorm(); }

double MatrixFactorization::gradient(In<double> w, Out<double> gradient) const {
  const Matrix residual = U(w) * V(w) - Y_;
  U(gradient).noalias() = 2 * residual * V(w).transpose();
  V(gradient).noalias() = 2 * U(w).transpose() * residual;
  return residual.squaredNorm();
}

void MatrixFactorization::weight_inputs(In<double> w, const UseInputs<double>& use) const {
  const ParameterBlock &u = layout_.blocks()[0], &v = layout_.blocks()[1];
  use({.first = u.offset, .outputs = u.rows, .h = V(w), .kind = InputKind::factor});
  use({.first = v.offset,
       .outputs = v.cols,
       .h = U(w).transpose(),
       .kind = InputKind::factor,
       .transposed = true});
}

void MatrixFactorization::hessian_vector(In<double> w, In<double> v, Out<double> result) const {
  const Matrix residual = U(w) * V(w) - Y_;
  const Matrix change = U(v) * V(w) + U(w) * V(v);
  U(result) = 2 * (change * V(w).transpose() + residual * V(v).transpose());
  V(result) = 2 * (U(w).transpose() * change + U(v).transpose() * residual);
}

void MatrixFactorization::third_derivative(In<double> w, In<double> v, Out<double> result) const {
  // d/de of the Hessian-vector product along (dU, dV) = v:
  // R' = dU V + U dV (twice, once from each place where it stands), R'' = 2 dU dV.
  const Matrix first = U(v) * V(w) + U(w) * V(v);
  const Matrix second = 2 * U(v) * V(v);
  U(result) = 2 * (second * V(w).transpose() + 2 * first * V(v).transpose());
  V(result) = 2 * (U(w).transpose() * second + 2 * U(v).transpose() * first);
}

}  // namespace symport
