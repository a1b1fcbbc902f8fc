// SPDX-License-Identifier: MIT
#include "symmetries/gl_state.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "core/dense.hpp"
#include "support/networks.hpp"
#include "support/numbers.hpp"

namespace symport {
namespace {

using testing::random_problem;

TEST(GlState, GroupLawsHoldOnWeightsAndLeftInverses) {
  Random random(30);
  for (const char* activation :
       {"linear", "leaky_relu:0.1", "asinh", "tanh_extended:6", "sigmoid_extended:6"}) {
    for (const bool biases : {false, true}) {
      auto [objective, w] =
          random_problem<double>({6, 7, 5, 8, 3}, activation, "cross_entropy", biases, 4, random);
      for (const double size : {0.0, 1e-6, 0.3}) {
        std::vector<Matrix> a, b, ab, inverse;
        for (const Index d : {7, 5, 8}) {
          a.push_back(Matrix::Identity(d, d) + size * random.normal_matrix(d, d) / d);
          b.push_back(Matrix::Identity(d, d) + size * random.normal_matrix(d, d) / d);
          ab.push_back(a.back() * b.back());
          inverse.push_back(symport::inverse(a.back()));
        }
        const GlState<double> start(objective, w);
        GlState<double> twice = start, once = start, back = start;
        twice.act(b);
        twice.act(a);
        once.act(ab);
        back.act(a);
        if (size == 0.3) {
          EXPECT_GT((back.W(1) - start.W(1)).norm(), 1e-3) << activation;
        }
        back.act(inverse);
        for (Index m = 1; m <= 4; ++m) {
          EXPECT_LT((twice.W(m) - once.W(m)).norm(), 1e-10 * once.W(m).norm()) << activation;
          EXPECT_LT((back.W(m) - start.W(m)).norm(), 1e-10 * start.W(m).norm()) << activation;
          if (m == 4) continue;
          EXPECT_LT((twice.ell(m - 1) - once.ell(m - 1)).norm(), 1e-10 * once.ell(m - 1).norm());
          EXPECT_LT((back.ell(m - 1) - start.ell(m - 1)).norm(), 1e-10 * start.ell(m - 1).norm());
        }
      }
    }
  }
}

TEST(GlState, SaysWhichPreconditionIsBroken) {
  const auto complaint = [](auto action) -> std::string {
    try {
      action();
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  Random random(31);
  auto [kinked, v] = random_problem<double>({6, 5, 3}, "relu", "cross_entropy", false, 4, random);
  EXPECT_EQ(complaint([&] { GlState<double>(kinked, v); }), "GlState: relu is not bijective");
  auto [crowded, u] = random_problem<double>({6, 5, 3}, "asinh", "cross_entropy", false, 7, random);
  EXPECT_EQ(complaint([&] { GlState<double>(crowded, u); }),
            "GlState: the samples are linearly dependent");
  auto [objective, w] =
      random_problem<double>({6, 5, 7, 3}, "asinh", "cross_entropy", false, 4, random);
  GlState<double> state(objective, w);
  const auto acting = [&](std::vector<Matrix> g) { return complaint([&] { state.act(g); }); };
  const Matrix I5 = Matrix::Identity(5, 5), I7 = Matrix::Identity(7, 7);
  EXPECT_EQ(acting({I5}), "GlState::act: one matrix per hidden layer is needed");
  EXPECT_EQ(acting({I5, I7, I7}), "GlState::act: one matrix per hidden layer is needed");
  EXPECT_EQ(acting({I7, I5}), "GlState::act: a matrix does not fit its layer");
  EXPECT_EQ(acting({Matrix::Ones(5, 7), I7}), "GlState::act: a matrix does not fit its layer");
  EXPECT_TRUE(testing::identical(state.parameters(), w));
  EXPECT_EQ(acting({I5, I7}), "nothing was thrown");
}

}  // namespace
}  // namespace symport
