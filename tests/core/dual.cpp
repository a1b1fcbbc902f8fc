// SPDX-License-Identifier: MIT
#include "symport/core/dual.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/numbers.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using D = Dual<double>;
using DD = Dual<D>;
using DDD = Dual<DD>;

/// One function at a point, in four number types.
struct Row {
  std::string name;
  double x;
  double (*value)(double);
  D (*first)(D);
  DD (*second)(DD);
  DDD (*third)(DDD);
};

template <class Function>
Row row(std::string name, double x, Function) {
  return {std::move(name), x, [](double t) { return Function{}(t); }, [](D t) { return Function{}(t); },
          [](DD t) { return Function{}(t); }, [](DDD t) { return Function{}(t); }};
}

std::vector<Row> functions() {
  using std::abs, std::asinh, std::cos, std::exp, std::log, std::pow, std::sin, std::sqrt,
      std::tanh;
  return {
      row("sum", 0.7, [](auto x) { return x + 2.0 + (3.0 + x); }),
      row("difference", 0.7, [](auto x) { return (x - 2.0) - (3.0 - x * x); }),
      row("product", -1.3, [](auto x) { return 2.0 * x * x * x; }),
      row("quotient", 1.7, [](auto x) { return (x - 2.0) / (x * x + 1.0); }),
      row("reciprocal", -0.8, [](auto x) { return 1.0 / x; }),
      row("negation", 0.4, [](auto x) { return -(x * x); }),
      row("compound assignments", 0.6,
          [](auto x) {
            auto y = x;
            y += x * x;
            y -= 3.0;
            y *= x;
            y /= x + 2.0;
            return y;
          }),
      row("sqrt", 2.3, [](auto x) { return sqrt(x); }),
      row("exp", -0.9, [](auto x) { return exp(x); }),
      row("log", 0.6, [](auto x) { return log(x); }),
      row("sin", 0.8, [](auto x) { return sin(x); }),
      row("cos", 0.8, [](auto x) { return cos(x); }),
      row("tanh", -0.5, [](auto x) { return tanh(x); }),
      row("asinh", 1.4, [](auto x) { return asinh(x); }),
      row("abs, right", 1.2, [](auto x) { return abs(x) * x; }),
      row("abs, left", -1.2, [](auto x) { return abs(x) * x; }),
      row("cube", -1.1, [](auto x) { return pow(x, 3); }),
      row("inverse square", 1.1, [](auto x) { return pow(x, -2); }),
      row("square root as a power", 1.9, [](auto x) { return pow(x, 0.5); }),
      row("power 0", 1.9, [](auto x) { return pow(x, 0.0) * x; }),
      row("composition", 0.3, [](auto x) { return exp(sin(x) * tanh(x)) / sqrt(1.0 + x * x); }),
  };
}

D first_order(double x) { return {x, 1.0}; }
DD second_order(double x) { return {first_order(x), D(1.0)}; }
DDD third_order(double x) { return {second_order(x), DD(1.0)}; }

// Each order is compared with a difference quotient of the order below, down to plain numbers.
TEST(Dual, DerivativesOfEachFunctionEqualDifferenceQuotients) {
  constexpr double e = 1e-3;
  for (const Row& f : functions()) {
    SCOPED_TRACE(f.name);
    const DDD all = f.third(third_order(f.x));
    const double value = f.value(f.x);
    EXPECT_LE(testing::distance(all.value.value.value, value), tolerance::rounding);
    const auto close = [](double derivative, double quotient) {
      EXPECT_NEAR(derivative, quotient, tolerance::difference * (1.0 + std::abs(quotient)));
    };
    close(f.first(first_order(f.x)).derivative,
          testing::central_difference([&](double h) { return f.value(f.x + h); }, e));
    close(f.second(second_order(f.x)).derivative.derivative,
          testing::central_difference(
              [&](double h) { return f.first(first_order(f.x + h)).derivative; }, e));
    close(all.derivative.derivative.derivative,
          testing::central_difference(
              [&](double h) { return f.second(second_order(f.x + h)).derivative.derivative; }, e));
    // The lower orders that a nested number carries are those of the simpler ones.
    EXPECT_EQ(all.derivative.value.value, all.value.derivative.value);
    EXPECT_EQ(all.derivative.value.value, all.value.value.derivative);
    EXPECT_NEAR(all.derivative.derivative.value, all.value.derivative.derivative,
                tolerance::rounding * (1.0 + std::abs(all.derivative.derivative.value)));
  }
}

TEST(Dual, PowersAtZeroHaveFiniteDerivatives) {
  const DDD square = pow(third_order(0.0), 2);
  EXPECT_EQ(square.derivative.value.value, 0.0);
  EXPECT_EQ(square.derivative.derivative.value, 2.0);
  EXPECT_EQ(square.derivative.derivative.derivative, 0.0);
  const DD line = pow(second_order(0.0), 1);
  EXPECT_EQ(line.derivative.value, 1.0);
  EXPECT_EQ(line.derivative.derivative, 0.0);
  EXPECT_EQ(pow(first_order(0.0), 0.0).value, 1.0);
}

TEST(Dual, NestedNumbersCarryMixedPartialDerivatives) {
  // f = x^2 y + sin(x y):  d2f/dxdy = 2 x + cos(x y) - x y sin(x y)
  const double x = 0.7, y = -1.2;
  const DD dx(D(x, 0.0), D(1.0)), dy(D(y, 1.0), D(0.0));
  const DD f = dx * dx * dy + sin(dx * dy);
  EXPECT_NEAR(f.derivative.derivative, 2 * x + std::cos(x * y) - x * y * std::sin(x * y),
              tolerance::rounding);
}

TEST(Dual, ComparesByTheValueAlone) {
  const D small(1.0, 100.0), large(2.0, -100.0);
  EXPECT_TRUE(small < large);
  EXPECT_TRUE(large > small);
  EXPECT_TRUE(small <= large);
  EXPECT_FALSE(small >= large);
  EXPECT_TRUE(small == D(1.0, -3.0));
  EXPECT_TRUE(DD(small) < DD(large));
}

TEST(Dual, StandsInMatrixProductsWithPlainNumbers) {
  const Eigen::Matrix2d A{{1.0, 2.0}, {3.0, 4.0}};
  const VectorOf<D> x{{D(1.0, 1.0), D(-2.0, 0.0)}};
  const VectorOf<D> y = A * x;
  EXPECT_EQ(y[0].value, -3.0);
  EXPECT_EQ(y[1].value, -5.0);
  EXPECT_EQ(y[0].derivative, 1.0);
  EXPECT_EQ(y[1].derivative, 3.0);
  EXPECT_EQ(x.squaredNorm().value, 5.0);
  EXPECT_EQ(x.squaredNorm().derivative, 2.0);
}

}  // namespace
}  // namespace symport
