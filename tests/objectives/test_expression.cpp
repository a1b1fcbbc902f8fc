// SPDX-License-Identifier: MIT
#include "symport/objectives/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "support/refusal.hpp"
#include "symport/core/random.hpp"
#include "symport/objectives/generic_objective.hpp"
#include "symport/testing/check_gradient.hpp"

namespace symport {
namespace {

using test::refusal;
using ::testing::HasSubstr;

double at(const char* formula, const Vector& x) { return Expression::parse(formula)(x); }

TEST(Expression, HasTheUsualPrecedence) {
  const Vector x{{2.0, 3.0}};
  EXPECT_EQ(at("x1 + x2*x1", x), 8.0);
  EXPECT_EQ(at("(x1 + x2)*x1", x), 10.0);
  EXPECT_EQ(at("-x1^2", x), -4.0);
  EXPECT_EQ(at("x1^3^2", x), 512.0) << "to the right";
  EXPECT_EQ(at("x1^-1", x), 0.5);
  EXPECT_EQ(at("12/x1/x2", x), 2.0) << "to the left";
  EXPECT_EQ(at("x1 - x2 - 1", x), -2.0);
  EXPECT_EQ(at("+x1 - -x2", x), 5.0);
  EXPECT_EQ(at("1e1*x1", x), 20.0);
  EXPECT_EQ(at(" x1\t", x), 2.0);
  EXPECT_EQ(at("x1^2 + 0*x2", Vector{{-2.0, 0.0}}), 4.0) << "a negative base";
  EXPECT_NEAR(at("x1^x2", x), 8.0, 1e-14);
}

TEST(Expression, HasFunctionsAndConstants) {
  const Vector x{{0.7}};
  EXPECT_DOUBLE_EQ(at("sqrt(x1)", x), std::sqrt(0.7));
  EXPECT_DOUBLE_EQ(at("exp(x1)", x), std::exp(0.7));
  EXPECT_DOUBLE_EQ(at("log(x1)", x), std::log(0.7));
  EXPECT_DOUBLE_EQ(at("sin(x1) + cos(x1)", x), std::sin(0.7) + std::cos(0.7));
  EXPECT_DOUBLE_EQ(at("tanh(x1)*asinh(x1)", x), std::tanh(0.7) * std::asinh(0.7));
  EXPECT_DOUBLE_EQ(at("abs(-x1)", x), 0.7);
  EXPECT_DOUBLE_EQ(at("pi*x1", x), std::numbers::pi * 0.7);
  EXPECT_DOUBLE_EQ(at("e*x1", x), std::numbers::e * 0.7);
}

/// Against Taylor slopes, through three derivatives.
TEST(Expression, HasExactDerivatives) {
  const Expression formula = Expression::parse(
      "(x1 - 2)^2 + 5*(x2 - sin(x1))^2 + exp(-x3^2/2)*tanh(x2) + (1.5 + x1^2)^x2 + log(2 + "
      "cos(x3))");
  const GenericObjective objective(formula.dimension(),
                                   [formula](const auto& x) { return formula(x); });
  Random random(3);
  for (int i = 0; i < 5; ++i) {
    const Vector w = random.normal_matrix(3, 1);
    EXPECT_TRUE(testing::check_gradient(objective, w, random));
    EXPECT_TRUE(testing::check_hessian_vector(objective, w, random));
    EXPECT_TRUE(testing::check_third_derivative(objective, w, random));
  }
}

TEST(Expression, CountsItsVariablesByTheLargest) {
  EXPECT_EQ(Expression::parse("x3").dimension(), 3);
  EXPECT_EQ(Expression::parse("x1000").dimension(), 1000);
}

TEST(Expression, RefusesEverythingElseByColumn) {
  const struct {
    std::string text;
    const char* says;
  } cases[] = {
      {"", "column 1: found the end, expected a number"},
      {"x1 +", "column 5: found the end"},
      {"x1 x2", "column 4: found 'x2', expected an operator (products are written *)"},
      {"2 x1", "column 3: found 'x1'"},
      {"(x1", "column 4: found the end, expected ')'"},
      {"x1)", "column 3: found ')'"},
      {"x1x2", "column 1: found 'x1x2', expected a variable from x1 to x1000 (products"},
      {"x1**2", "powers are written ^"},
      {"sin x1", "'(' after sin"},
      {"sinh(x1)", "column 1: found 'sinh', expected x1, x2, ..., pi, e or a function: sqrt"},
      {"x0", "a variable from x1 to x1000"},
      {"x1001", "a variable from x1 to x1000"},
      {"x99999999999999999999", "a variable from x1 to x1000"},
      {"y + 1", "column 1"},
      {"1e999*x1", "a finite number"},
      {"3 + 4", "a variable somewhere"},
      {"x1; rm", "column 3: found ';'"},
      {std::string("x1\0+1", 5), "unprintable"},
      {"x1\x80", "unprintable"},
      {std::string(200, '(') + "x1" + std::string(200, ')'), "at most 100 levels"},
      {std::string(300, '-') + "x1", "at most 100 levels"},
      {"x1" + std::string(20000, ' '), "20002 characters"},
  };
  for (const auto& each : cases) {
    EXPECT_THAT(refusal([&] { Expression::parse(each.text); }), HasSubstr(each.says)) << each.text;
  }
  std::string long_one = "x1";
  while (long_one.size() + 3 < Expression::longest) long_one += "+x1";
  EXPECT_NO_THROW(Expression::parse(long_one));
}

}  // namespace
}  // namespace symport
