// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/objectives.hpp"
#include "symport/testing/check_gradient.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;

class EveryObjective : public ::testing::TestWithParam<testing::ObjectiveRow> {
 protected:
  const Objective& objective() const { return *GetParam().objective; }
  std::vector<Vector> points() {
    auto all = testing::random_points(objective().dimension(), random_);
    if (GetParam().function) all.push_back(GetParam().function->start());
    return all;
  }
  Random random_{21};
};

TEST_P(EveryObjective, GradientIsThatOfTheValue) {
  for (const Vector& w : points()) {
    const auto result = testing::check_gradient(objective(), w, random_);
    EXPECT_TRUE(result) << result.detail << " at " << w.transpose();
  }
}

TEST_P(EveryObjective, HessianVectorIsTheDerivativeOfTheGradient) {
  for (const Vector& w : points()) {
    const auto result = testing::check_hessian_vector(objective(), w, random_);
    EXPECT_TRUE(result) << result.detail << " at " << w.transpose();
  }
}

TEST_P(EveryObjective, ThirdDerivativeIsThatOfTheHessian) {
  for (const Vector& w : points()) {
    const auto result = testing::check_third_derivative(objective(), w, random_);
    EXPECT_TRUE(result) << result.detail << " at " << w.transpose();
  }
}

TEST_P(EveryObjective, HessianIsSymmetric) {
  const Index n = objective().dimension();
  for (const Vector& w : points()) {
    const Vector a = testing::random_vector(n, random_), b = testing::random_vector(n, random_);
    Vector Ha(n), Hb(n);
    objective().hessian_vector(w, a, Ha);
    objective().hessian_vector(w, b, Hb);
    EXPECT_NEAR(b.dot(Ha), a.dot(Hb), tolerance::rounding * (Ha.norm() * b.norm()));
  }
}

TEST_P(EveryObjective, HessianVectorEqualsTheDenseHessian) {
  const Index n = objective().dimension();
  for (const Vector& w : points()) {
    const Vector v = testing::random_vector(n, random_);
    Vector Hv(n);
    objective().hessian_vector(w, v, Hv);
    EXPECT_LE(distance(Hv, hessian(objective(), w) * v), tolerance::rounding);
    EXPECT_NEAR(objective().curvature(w, v), v.dot(Hv), tolerance::rounding * v.norm() * Hv.norm());
  }
}

// A function that the dual numbers differentiate needs none of our closed formulas.
struct Pair {
  std::string name;
  std::shared_ptr<const Objective> written, generic;
};

std::vector<Pair> pairs() {
  const Matrix A = testing::dense_quadratic(5).A();
  const auto factorization = testing::full_rank_factorization(4, 3, 2);
  const auto model = testing::random_linear_model(2, 3, 5);
  return {{"ellipse", std::make_shared<Ellipse>(5.0), testing::generic(2, testing::ellipse_loss)},
          {"rosenbrock", std::make_shared<Rosenbrock>(1),
           testing::generic(2, testing::rosenbrock_loss)},
          {"rosenbrock 3 pairs", std::make_shared<Rosenbrock>(3),
           testing::generic(6, testing::rosenbrock_loss)},
          {"booth", std::make_shared<Booth>(), testing::generic(2, testing::booth_loss)},
          {"quadratic", std::make_shared<Quadratic>(A),
           testing::generic(5, [A](const auto& x) { return x.dot(A.lazyProduct(x)); })},
          {"factorization", std::make_shared<MatrixFactorization>(factorization),
           testing::generic(14,
                            [Y = factorization.Y()](const auto& x) {
                              const auto U = x.head(8).reshaped(4, 2);
                              const auto V = x.tail(6).reshaped(2, 3);
                              return (U.lazyProduct(V) - Y).squaredNorm();
                            })},
          {"linear model", std::make_shared<LinearModel>(model),
           testing::generic(6, [X = model.X(), Y = model.Y()](const auto& x) {
             using Number = typename std::decay_t<decltype(x)>::Scalar;
             return 0.5 *
                    (x.reshaped(2, 3).lazyProduct(X.template cast<Number>()) - Y).squaredNorm();
           })}};
}

TEST(GenericObjective, HasTheDerivativesOfTheHandWrittenFunctions) {
  Random random(22);
  for (const Pair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    const Index n = pair.written->dimension();
    ASSERT_EQ(pair.generic->dimension(), n);
    for (const Vector& w : testing::random_points(n, random)) {
      const Vector v = testing::random_vector(n, random);
      EXPECT_LE(distance(pair.generic->value(w), pair.written->value(w)), tolerance::rounding);
      Vector a(n), b(n);
      EXPECT_LE(distance(pair.generic->gradient(w, a), pair.written->gradient(w, b)),
                tolerance::rounding);
      EXPECT_LE(distance(a, b), tolerance::rounding);
      pair.generic->hessian_vector(w, v, a);
      pair.written->hessian_vector(w, v, b);
      EXPECT_LE(distance(a, b), tolerance::rounding);
      pair.generic->third_derivative(w, v, a);
      pair.written->third_derivative(w, v, b);
      EXPECT_LE((a - b).norm(), tolerance::rounding * (1.0 + b.norm()));
    }
  }
}

TEST(GenericObjective, RefusesNoVariables) {
  try {
    GenericObjective objective(0, testing::ellipse_loss);
    FAIL() << "made an objective without variables";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.field(), "dimension");
  }
}

/// Rosenbrock's function without its third derivative: the default must do.
class WithoutThird final : public Objective {
 public:
  Index dimension() const override { return inner_.dimension(); }
  double value(In<double> w) const override { return inner_.value(w); }
  double gradient(In<double> w, Out<double> g) const override { return inner_.gradient(w, g); }
  void hessian_vector(In<double> w, In<double> v, Out<double> result) const override {
    inner_.hessian_vector(w, v, result);
  }

 private:
  Rosenbrock inner_{2};
};

TEST(Objective, ThirdDerivativeByDefaultIsACentralDifference) {
  const WithoutThird plain;
  const Rosenbrock written(2);
  Random random(23);
  Vector a(4), b(4);
  for (const Vector& w : testing::random_points(4, random)) {
    for (const double size : {1e-3, 1.0, 1e3}) {
      const Vector v = testing::random_vector(4, random, size);
      plain.third_derivative(w, v, a);
      written.third_derivative(w, v, b);
      EXPECT_LE(distance(a, b), tolerance::difference)
          << w.transpose() << " along " << v.transpose();
    }
    plain.third_derivative(w, Vector::Zero(4), a);
    EXPECT_EQ(a, Vector(Vector::Zero(4)));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryObjective, ::testing::ValuesIn(testing::objective_table()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace symport
