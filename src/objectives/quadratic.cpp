// SPDX-License-Identifier: MIT
#include "symport/objectives/quadratic.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/dense.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"

namespace symport {

Quadratic::Quadratic(Matrix A) : A_(std::move(A)) {
  if (A_.rows() < 1 || A_.rows() != A_.cols()) {
    throw InvalidArgument("A", fmt::format("{} x {}", A_.rows(), A_.cols()), "a square matrix");
  }
  if (!A_.allFinite()) throw InvalidArgument("A", "a non-finite entry", "finite numbers");
  const double asymmetry = (A_ - A_.transpose()).norm();
  if (asymmetry > 1e-12 * A_.norm()) {
    throw InvalidArgument("A", fmt::format("|A - A'| = {:.3g}", asymmetry), "a symmetric matrix");
  }
  const Vector eigenvalues = symmetric_eigen(A_).values;
  largest_eigenvalue_ = eigenvalues[eigenvalues.size() - 1];
  if (!(eigenvalues[0] > 1e-14 * largest_eigenvalue_)) {
    throw InvalidArgument("A", fmt::format("an eigenvalue {:.3g}", eigenvalues[0]),
                          "a positive definite matrix");
  }
}

Quadratic Quadratic::diagonal(Index dimension, double condition) {
  if (dimension < 1) {
    throw InvalidArgument("dimension", fmt::format("{}", dimension), "a whole number >= 1");
  }
  if (!(std::isfinite(condition) && condition >= 1)) {
    throw InvalidArgument("condition", fmt::format("{}", condition), "a finite number >= 1");
  }
  Vector eigenvalues = Vector::Constant(dimension, condition);
  for (Index i = 0; i + 1 < dimension; ++i) {
    eigenvalues[i] =
        std::pow(condition, static_cast<double>(i) / static_cast<double>(dimension - 1));
  }
  return Quadratic(Matrix(eigenvalues.asDiagonal()));
}

Quadratic Quadratic::rotated(Index dimension, double condition, std::uint64_t seed) {
  const Matrix A = diagonal(dimension, condition).A();
  Random random(seed);
  // Uniform: the orthogonal factor of a normal matrix (Mezzadri, 2007).
  const Matrix Q = orthogonal_factor(random.normal_matrix(dimension, dimension));
  const Matrix B = Q * A.diagonal().asDiagonal() * Q.transpose();
  return Quadratic(0.5 * (B + B.transpose()));
}

std::string Quadratic::citation() const { return "Zhao et al., NeurIPS 2022, section 5.3"; }

UsualRun Quadratic::usual_run() const { return {0.25 / largest_eigenvalue_, 100}; }

double Quadratic::value(In<double> w) const { return w.dot(A_ * w); }

double Quadratic::gradient(In<double> w, Out<double> gradient) const {
  gradient.noalias() = 2 * (A_ * w);
  return 0.5 * w.dot(gradient);
}

void Quadratic::hessian_vector(In<double>, In<double> v, Out<double> result) const {
  result.noalias() = 2 * (A_ * v);
}

void Quadratic::third_derivative(In<double>, In<double>, Out<double> result) const {
  result.setZero();
}

}  // namespace symport
