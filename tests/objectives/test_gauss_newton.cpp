// SPDX-License-Identifier: MIT
#include "symport/objectives/gauss_newton.hpp"

#include <gtest/gtest.h>

#include "support/networks.hpp"
#include "support/objectives.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

/// dz/dw by a fourth-order central difference: row i of column-major outputs.
Matrix output_jacobian(const MlpObjective<double>& objective, const Vector& w) {
  const double h = 1e-3;
  Matrix J(objective.outputs(w).size(), w.size());
  for (Index i = 0; i < w.size(); ++i) {
    const auto at = [&](double step) {
      Vector there = w;
      there[i] += step;
      return Matrix(objective.outputs(there));
    };
    const Matrix slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
    J.col(i) = slope.reshaped();
  }
  return J;
}

/// The Hessian of the loss in the outputs, from its definition.
Matrix output_hessian(const MlpObjective<double>& objective, const Vector& w) {
  const Matrix Z = objective.outputs(w);
  const double outputs = static_cast<double>(Z.rows()), samples = static_cast<double>(Z.cols());
  double factor = objective.reduction() == Loss::Reduction::mean ? 1.0 / samples : 1.0;
  Matrix H = Matrix::Identity(Z.size(), Z.size());
  if (objective.loss().kind() == Loss::Kind::mean_squares) factor *= 2.0 / outputs;
  if (objective.loss().categorical()) {
    for (Index j = 0; j < Z.cols(); ++j) {
      const Vector p = Z.col(j).array().exp() / Z.col(j).array().exp().sum();
      H.block(j * Z.rows(), j * Z.rows(), Z.rows(), Z.rows()) =
          Matrix(p.asDiagonal()) - p * p.transpose();
    }
  }
  return factor * H;
}

/// A from the one function that gives rows of it.
Matrix rows_of(const GaussNewton<double>& form, const Vector& w) {
  Matrix A(form.rows(), w.size());
  Vector unit = Vector::Zero(form.rows()), row;
  for (Index i = 0; i < form.rows(); ++i) {
    unit[i] = 1.0;
    form.pull(w, unit, row);
    A.row(i) = row.transpose();
    unit[i] = 0.0;
  }
  return A;
}

void expect_consistent(const Objective& objective, const GaussNewton<double>& form,
                       const Vector& w) {
  const Matrix A = rows_of(form, w);
  Vector c, gradient(w.size()), pulled;
  Matrix K, G;
  form.kernel(w, c, K);
  form.matrix(w, G);
  const double loss = objective.gradient(w, gradient);
  EXPECT_LE(distance(K, Matrix(A * A.transpose())), tolerance::rounding);
  EXPECT_LE(distance(G, Matrix(A.transpose() * A)), tolerance::rounding);
  form.pull(w, c, pulled);
  EXPECT_LE(distance(pulled, gradient), tolerance::rounding);
  if (form.least_squares()) {
    EXPECT_LE(distance(0.5 * c.squaredNorm(), loss), tolerance::rounding);
  }
}

TEST(GaussNewton, OfNetworksIsTheHessianInTheOutputsBetweenTheirJacobians) {
  Random random(174);
  for (const char* loss : {"half_sum_squares", "half_sum_squares:mean", "mean_squares",
                           "cross_entropy", "cross_entropy:sum"}) {
    for (const bool biases : {false, true}) {
      SCOPED_TRACE(loss);
      const auto problem =
          testing::random_problem<double>({4, 5, 6, 3}, "tanh", loss, biases, 5, random);
      const auto form = gauss_newton<double>(problem.objective);
      ASSERT_TRUE(form);
      EXPECT_EQ(form->least_squares(), !problem.objective.loss().categorical());
      EXPECT_EQ(form->rows(), 15);
      expect_consistent(problem.objective, *form, problem.w);
      const Matrix J = output_jacobian(problem.objective, problem.w);
      Matrix G;
      form->matrix(problem.w, G);
      EXPECT_LE(
          distance(G, Matrix(J.transpose() * output_hessian(problem.objective, problem.w) * J)),
          tolerance::difference);
    }
  }
}

TEST(GaussNewton, OfNetworksAgreesInFloat) {
  Random random(175);
  const auto problem =
      testing::random_problem<double>({4, 5, 3}, "leaky_relu", "cross_entropy", true, 6, random);
  const MlpObjective<float> single(problem.objective.network(), problem.objective.loss(),
                                   problem.objective.inputs().topRows(4).cast<float>().eval(),
                                   Targets<float>(problem.objective.targets().classes));
  const auto exact = gauss_newton<double>(problem.objective);
  const auto rounded = gauss_newton<float>(single);
  Vector c, c_single, u, u_single;
  Matrix K, K_single, G, G_single;
  const VectorOf<float> w = problem.w.cast<float>();
  exact->kernel(problem.w, c, K);
  rounded->kernel(w, c_single, K_single);
  exact->matrix(problem.w, G);
  rounded->matrix(w, G_single);
  exact->pull(problem.w, c, u);
  rounded->pull(w, c_single, u_single);
  EXPECT_LE(distance(K, K_single), tolerance::single_precision);
  EXPECT_LE(distance(G, G_single), tolerance::single_precision);
  EXPECT_LE(distance(u, u_single), tolerance::single_precision);
}

TEST(GaussNewton, OfEveryTestFunctionIsThatOfItsSquares) {
  Random random(176);
  for (const auto& row : testing::objective_table()) {
    if (!row.function) continue;
    SCOPED_TRACE(row.name);
    const auto form = gauss_newton<double>(*row.objective);
    ASSERT_TRUE(form);
    EXPECT_EQ(form->cost(), std::min(form->rows(), row.objective->dimension()));
    for (const Vector& w : testing::random_points(row.objective->dimension(), random)) {
      expect_consistent(*row.objective, *form, w);
    }
    // The second derivatives of the residuals that are left out vanish where the residuals do.
    if (row.function->minimum() > 0.0) continue;
    const Vector best = row.function->minimizer();
    Matrix G;
    form->matrix(best, G);
    EXPECT_LE(distance(G, hessian(*row.objective, best)), tolerance::accumulated);
  }
}

TEST(GaussNewton, IsUnknownForOtherObjectives) {
  EXPECT_FALSE(gauss_newton<double>(*testing::generic(2, testing::booth_loss)));
}

}  // namespace
}  // namespace symport
