// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "support/taylor.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/activation.hpp"

namespace symport {
namespace {

using testing::taylor_slope;

const char* const all_activations[] = {
    "linear",           "leaky_relu:0.1",     "relu", "tanh",         "sigmoid",         "asinh",
    "tanh_extended:10", "sigmoid_extended:6", "gelu", "leaky_relu:2", "tanh_extended:20"};

double evaluate(const Activation& sigma, int order, double x) {
  Matrix z = Matrix::Constant(1, 1, x), out(1, 1);
  if (order == 0) {
    sigma.value<double>(z, out);
  } else {
    sigma.derivative<double>(order, z, out);
  }
  return out(0, 0);
}

template <class Scalar>
Scalar invert(const Activation& sigma, Scalar y) {
  MatrixOf<Scalar> h = MatrixOf<Scalar>::Constant(1, 1, y), z(1, 1);
  sigma.inverse<Scalar>(h, z);
  return z(0, 0);
}

TEST(Activation, NamesAreReadAndWrittenAlike) {
  for (const char* name : all_activations) EXPECT_EQ(Activation::parse(name).name(), name);
  EXPECT_EQ(Activation::parse("leaky_relu").name(), "leaky_relu:0.1");
  EXPECT_EQ(Activation::parse("tanh_extended").name(), "tanh_extended:10");
}

TEST(Activation, BadTextIsRefusedWithTheNamesThereAre) {
  for (const char* text : {"", "swish", "leaky_relu:", "leaky_relu:-1", "leaky_relu:0",
                           "leaky_relu:nan", "leaky_relu:0.1x", "tanh:3", "tanh_extended:1e9"}) {
    EXPECT_THROW(Activation::parse(text), InvalidArgument) << text;
  }
  try {
    Activation::parse("swish");
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.field(), "activation");
    EXPECT_NE(std::string(error.what()).find("sigmoid_extended"), std::string::npos);
  }
}

TEST(Activation, EachDerivativeIsThatOfTheOneBefore) {
  for (const char* name : all_activations) {
    const Activation sigma = Activation::parse(name);
    for (const double x : {-7.3, -1.1, -0.2, 0.4, 1.7, 6.1}) {
      for (int order = 0; order < 3; ++order) {
        const double value = evaluate(sigma, order, x), slope = evaluate(sigma, order + 1, x);
        const auto remainder = [&](double e) {
          return evaluate(sigma, order, x + e) - value - e * slope;
        };
        EXPECT_GT(taylor_slope(remainder, 0.02, 1e-13 * (1 + std::abs(value))), 1.8)
            << name << " order " << order + 1 << " at " << x;
      }
    }
  }
}

TEST(Activation, PropertiesHoldForValues) {
  for (const char* name : all_activations) {
    const Activation sigma = Activation::parse(name);
    bool odd = true, homogeneous = true, increasing = true;
    for (const double x : {-3.0, -0.7, 0.3, 2.0}) {
      const double y = evaluate(sigma, 0, x);
      odd = odd && std::abs(evaluate(sigma, 0, -x) + y) < 1e-14;
      homogeneous = homogeneous && std::abs(evaluate(sigma, 0, 3 * x) - 3 * y) < 1e-14;
      increasing = increasing && evaluate(sigma, 1, x) > 0.0;
    }
    EXPECT_EQ(sigma.odd(), odd) << name;
    EXPECT_EQ(sigma.positively_homogeneous(), homogeneous) << name;
    const bool onto = evaluate(sigma, 0, 50.0) > 3.0 && evaluate(sigma, 0, -50.0) < -3.0;
    EXPECT_EQ(sigma.bijective(), increasing && onto) << name;
  }
}

TEST(Activation, TheInverseUndoesTheValueAtAllScales) {
  for (const char* name : all_activations) {
    const Activation sigma = Activation::parse(name);
    if (!sigma.bijective()) {
      EXPECT_THROW(invert(sigma, 0.5), std::logic_error) << name;
      continue;
    }
    for (const double size : {0.0, 1e-300, 1e-12, 1e-3, 0.5, 0.999, 1.0, 1.001, 7.0, 500.0}) {
      for (const double y : {size, -size}) {
        const double z = invert(sigma, y);
        // Where sigma crosses 0 away from 0 its terms cancel, and the error is absolute.
        const double floor = evaluate(sigma, 0, 0.0) == 0.0 ? 0.0 : 1e-16;
        EXPECT_NEAR(evaluate(sigma, 0, z), y, 1e-14 * std::abs(y) * (1 + std::abs(z)) + floor)
            << name << " at " << y;
      }
    }
  }
}

TEST(Activation, TheInversesOfTheExtensionsStayFiniteAtTheEndsOfTheRange) {
  for (const char* name : {"tanh_extended:10", "sigmoid_extended:6", "tanh_extended:30"}) {
    const Activation sigma = Activation::parse(name);
    for (const double y : {1e100, -1e300, 1.7e308}) {
      const double z = invert(sigma, y);
      ASSERT_TRUE(std::isfinite(z)) << name;
      EXPECT_NEAR(evaluate(sigma, 0, z) / y, 1.0, 1e-12) << name << " at " << y;
    }
    EXPECT_TRUE(std::isfinite(invert<float>(sigma, 3e38f))) << name;
    EXPECT_FALSE(std::isfinite(invert(sigma, std::nan("")))) << name;
  }
}

TEST(Activation, BlocksOfLargerMatricesAreLeftAloneOutsideTheBlock) {
  const Activation sigma = Activation::parse("tanh");
  Matrix h = Matrix::Ones(4, 3);
  const Matrix z = Matrix::Constant(3, 3, 0.5);
  sigma.value<double>(z, h.topRows(3));
  EXPECT_EQ(h.row(3), Matrix::Ones(1, 3));
  EXPECT_DOUBLE_EQ(h(2, 2), std::tanh(0.5));
}

}  // namespace
}  // namespace symport
