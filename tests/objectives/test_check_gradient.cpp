// SPDX-License-Identifier: MIT
#include "symport/testing/check_gradient.hpp"

#include <gmock/gmock.h>

#include "support/objectives.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {
namespace {

using ::testing::HasSubstr;

enum class Fault { none, value, gradient, hessian, third };

/// Another objective with one of its answers 1 % too large.
class Faulty final : public Objective {
 public:
  Faulty(const Objective& inner, Fault fault) : inner_(inner), fault_(fault) {}

  Index dimension() const override { return inner_.dimension(); }
  double value(In<double> w) const override { return inner_.value(w); }
  double gradient(In<double> w, Out<double> g) const override {
    const double loss = inner_.gradient(w, g);
    if (fault_ == Fault::gradient) g *= 1.01;
    return fault_ == Fault::value ? 1.01 * loss : loss;
  }
  void hessian_vector(In<double> w, In<double> v, Out<double> result) const override {
    inner_.hessian_vector(w, v, result);
    if (fault_ == Fault::hessian) result *= 1.01;
  }
  void third_derivative(In<double> w, In<double> v, Out<double> result) const override {
    inner_.third_derivative(w, v, result);
    if (fault_ == Fault::third) result *= 1.01;
  }

 private:
  const Objective& inner_;
  Fault fault_;
};

/// On how many of the table's objectives and points does the check complain?
struct Tally {
  int complaints = 0, checks = 0;
  std::string silent;  ///< where it did not
};

template <class Check>
Tally tally(Fault fault, const Check& check) {
  Tally result;
  Random random(31);
  for (const auto& row : testing::objective_table()) {
    const Faulty objective(*row.objective, fault);
    for (const Vector& w : testing::random_points(objective.dimension(), random)) {
      const auto verdict = check(objective, w, random);
      ++result.checks;
      if (verdict) {
        result.silent += row.name + ": " + verdict.detail + "\n";
      } else {
        ++result.complaints;
        EXPECT_FALSE(verdict.detail.empty());
      }
    }
  }
  return result;
}

TEST(CheckGradient, FindsAGradientThatIsOnePercentWrong) {
  const Tally found = tally(Fault::gradient, testing::check_gradient);
  EXPECT_EQ(found.complaints, found.checks) << found.silent;
}

TEST(CheckGradient, FindsALossThatDiffersFromTheValue) {
  const Tally found = tally(Fault::value, testing::check_gradient);
  EXPECT_EQ(found.complaints, found.checks) << found.silent;
}

TEST(CheckHessianVector, FindsAProductThatIsOnePercentWrong) {
  const Tally found = tally(Fault::hessian, testing::check_hessian_vector);
  EXPECT_EQ(found.complaints, found.checks) << found.silent;
}

TEST(CheckThirdDerivative, FindsADerivativeThatIsOnePercentWrong) {
  // Only where there is one: the third derivative of the quadratics is zero.
  Random random(32);
  const Rosenbrock rosenbrock(2);
  const auto factorization = testing::full_rank_factorization(4, 3, 2);
  const auto wavy = testing::generic(3, testing::wavy_loss);
  for (const Objective* inner : {static_cast<const Objective*>(&rosenbrock),
                                 static_cast<const Objective*>(&factorization), wavy.get()}) {
    const Faulty objective(*inner, Fault::third);
    for (const Vector& w : testing::random_points(objective.dimension(), random)) {
      const auto verdict = testing::check_third_derivative(objective, w, random);
      EXPECT_FALSE(verdict) << verdict.detail;
    }
  }
}

TEST(CheckGradient, SaysWhatItMeasured) {
  Random random(33);
  const Rosenbrock rosenbrock;
  const Faulty faulty(rosenbrock, Fault::gradient);
  const auto verdict = testing::check_gradient(faulty, rosenbrock.start(), random);
  EXPECT_FALSE(verdict);
  EXPECT_THAT(verdict.detail, HasSubstr("gradient"));
  EXPECT_THAT(verdict.detail, HasSubstr("slope"));
}

TEST(CheckGradient, AcceptsAFunctionAtItsMinimum) {
  Random random(34);
  const Rosenbrock rosenbrock;
  const auto verdict = testing::check_gradient(rosenbrock, rosenbrock.minimizer(), random);
  EXPECT_TRUE(verdict) << verdict.detail;
}

TEST(CheckGradient, AcceptsAnAffineFunction) {
  Random random(35);
  const GenericObjective plane(2, [](const auto& x) { return 3.0 * x[0] - x[1] + 2.0; });
  const auto verdict = testing::check_gradient(plane, Vector{{0.4, -0.3}}, random);
  EXPECT_TRUE(verdict) << verdict.detail;
}

TEST(CheckGradient, RefusesNonFiniteValues) {
  Random random(36);
  const GenericObjective broken(2, [](const auto& x) { return 0.0 * x[0] / 0.0; });
  EXPECT_FALSE(testing::check_gradient(broken, Vector{{0.4, -0.3}}, random));
}

/// Its Hessian-vector products are differences of the gradient.
class Bowl final : public Objective {
 public:
  explicit Bowl(double error = 0.0) : error_(error) {}
  Index dimension() const override { return 2; }
  double value(In<double> w) const override { return w.squaredNorm(); }
  double gradient(In<double> w, Out<double> g) const override {
    g = 2.0 * w;
    return value(w);
  }
  void hessian_vector(In<double> w, In<double> v, Out<double> result) const override {
    Objective::hessian_vector(w, v, result);
    result *= 1.0 + error_;
  }

 private:
  double error_;
};

TEST(CheckHessianVector, AcceptsDifferencesOfTheGradientOfAQuadratic) {
  Random random(3);
  for (int i = 0; i < 20; ++i) {
    const Vector w = random.normal_matrix(2, 1);
    const auto right = testing::check_hessian_vector(Bowl(), w, random);
    EXPECT_TRUE(right) << right.detail;
    EXPECT_FALSE(testing::check_hessian_vector(Bowl(1e-5), w, random));
  }
}

TEST(CheckGradient, RefusesAPointOfAnotherDimension) {
  Random random(3);
  const Vector w = Vector::Ones(3);
  EXPECT_THROW(testing::check_gradient(Bowl(), w, random), InvalidArgument);
  EXPECT_THROW(testing::check_hessian_vector(Bowl(), w, random), InvalidArgument);
  EXPECT_THROW(testing::check_third_derivative(Bowl(), w, random), InvalidArgument);
}

}  // namespace
}  // namespace symport
