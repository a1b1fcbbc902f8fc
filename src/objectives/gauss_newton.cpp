// SPDX-License-Identifier: MIT
#include "symport/objectives/gauss_newton.hpp"

#include <algorithm>
#include <cmath>

#include "core/dense.hpp"
#include "objectives/mlp_gauss_newton.hpp"
#include "symport/objectives/booth.hpp"
#include "symport/objectives/ellipse.hpp"
#include "symport/objectives/matrix_completion.hpp"
#include "symport/objectives/matrix_factorization.hpp"
#include "symport/objectives/quadratic.hpp"
#include "symport/objectives/rosenbrock.hpp"

namespace symport {

namespace {

/// c <- r(w), A <- dr/dw with L = |r|^2 / 2.
using Residuals = void (*)(const Objective& objective, In<double> w, Vector& c, Matrix& A);

void rosenbrock_residuals(const Objective&, In<double> x, Vector& c, Matrix& A) {
  const double root = std::sqrt(2.0);
  c.resize(x.size());
  A.setZero(x.size(), x.size());
  for (Index i = 0; i < x.size(); i += 2) {
    c[i] = 10 * root * (x[i] * x[i] - x[i + 1]);
    c[i + 1] = root * (x[i] - 1);
    A(i, i) = 20 * root * x[i];
    A(i, i + 1) = -10 * root;
    A(i + 1, i) = root;
  }
}

void booth_residuals(const Objective&, In<double> x, Vector& c, Matrix& A) {
  A = std::sqrt(2.0) * Matrix{{1.0, 2.0}, {2.0, 1.0}};
  c = A * x - std::sqrt(2.0) * Vector{{7.0, 5.0}};
}

void ellipse_residuals(const Objective& objective, In<double> x, Vector& c, Matrix& A) {
  const double a = static_cast<const Ellipse&>(objective).a();
  A = Vector{{std::sqrt(2.0), std::sqrt(2.0 * a)}}.asDiagonal();
  c = A * x;
}

/// r = 2^1/2 A^1/2 w.
void quadratic_residuals(const Objective& objective, In<double> w, Vector& c, Matrix& A) {
  const SymmetricEigen eigen = symmetric_eigen(static_cast<const Quadratic&>(objective).A());
  const Vector roots = (2.0 * eigen.values).cwiseSqrt();
  A = eigen.vectors * roots.asDiagonal() * eigen.vectors.transpose();
  c = A * w;
}

/// r = 2^1/2 (U V - Y).
void factorization_residuals(const Objective& objective, In<double> w, Vector& c, Matrix& A) {
  const auto& pair = static_cast<const MatrixFactorization&>(objective);
  const auto U = pair.U(w), V = pair.V(w);
  const Index rows = pair.Y().rows(), rank = pair.rank();
  const double root = std::sqrt(2.0);
  const Matrix R = root * (U * V - pair.Y());
  c = Eigen::Map<const Vector>(R.data(), R.size());
  A.setZero(R.size(), w.size());
  // dR(i, j) = sum over k of dU(i, k) V(k, j) + U(i, k) dV(k, j), column-major throughout.
  for (Index j = 0; j < R.cols(); ++j) {
    for (Index k = 0; k < rank; ++k) {
      A.block(j * rows, k * rows, rows, rows).diagonal().setConstant(root * V(k, j));
    }
    A.block(j * rows, rank * rows + j * rank, rows, rank) = root * U;
  }
}

/// The same where the mask is 1; the other residuals are 0.
void completion_residuals(const Objective& objective, In<double> w, Vector& c, Matrix& A) {
  const auto& masked = static_cast<const MatrixCompletion&>(objective);
  factorization_residuals(masked.full(), w, c, A);
  const Eigen::Map<const Vector> mask(masked.mask().data(), c.size());
  c = mask.cwiseProduct(c);
  A = mask.asDiagonal() * A;
}

/// Everything from A and c, for a few parameters.
class DenseGaussNewton final : public GaussNewton<double> {
 public:
  DenseGaussNewton(const Objective& objective, Index rows, Residuals residuals)
      : objective_(objective), rows_(rows), residuals_(residuals) {}

  Index rows() const override { return rows_; }
  bool least_squares() const override { return true; }
  /// A has a row for every residual and a column for every parameter: one derivative for each, of
  /// whichever there are fewer, as where nothing is known of its form.
  double cost() const override {
    return static_cast<double>(std::min(rows_, objective_.dimension()));
  }
  void kernel(In<double> w, Vector& c, Matrix& K) const override {
    Matrix A;
    residuals_(objective_, w, c, A);
    K = A * A.transpose();
  }
  void matrix(In<double> w, Matrix& G) const override {
    Vector c;
    Matrix A;
    residuals_(objective_, w, c, A);
    G = A.transpose() * A;
  }
  void pull(In<double> w, const Vector& x, Vector& result) const override {
    Vector c;
    Matrix A;
    residuals_(objective_, w, c, A);
    result = A.transpose() * x;
  }

 private:
  const Objective& objective_;
  Index rows_;
  Residuals residuals_;
};

std::shared_ptr<const GaussNewton<double>> of_test_function(const Objective& objective) {
  const auto made = [&](Index rows, Residuals residuals) {
    return std::make_shared<DenseGaussNewton>(objective, rows, residuals);
  };
  const Index n = objective.dimension();
  if (dynamic_cast<const Rosenbrock*>(&objective)) return made(n, rosenbrock_residuals);
  if (dynamic_cast<const Booth*>(&objective)) return made(n, booth_residuals);
  if (dynamic_cast<const Ellipse*>(&objective)) return made(n, ellipse_residuals);
  if (dynamic_cast<const Quadratic*>(&objective)) return made(n, quadratic_residuals);
  if (const auto* pair = dynamic_cast<const MatrixFactorization*>(&objective)) {
    return made(pair->Y().size(), factorization_residuals);
  }
  if (const auto* masked = dynamic_cast<const MatrixCompletion*>(&objective)) {
    return made(masked->mask().size(), completion_residuals);
  }
  return nullptr;
}

}  // namespace

template <Real Scalar>
std::shared_ptr<const GaussNewton<Scalar>> gauss_newton(const BasicObjective<Scalar>& objective) {
  if (const auto* own = dynamic_cast<const GaussNewton<Scalar>*>(&objective)) {
    return {std::shared_ptr<void>(), own};
  }
  if (const MlpObjective<Scalar>* network = objective.mlp()) {
    return std::make_shared<MlpGaussNewton<Scalar>>(*network);
  }
  if constexpr (std::same_as<Scalar, double>) return of_test_function(objective);
  return nullptr;
}

template std::shared_ptr<const GaussNewton<float>> gauss_newton(const BasicObjective<float>&);
template std::shared_ptr<const GaussNewton<double>> gauss_newton(const BasicObjective<double>&);

}  // namespace symport
