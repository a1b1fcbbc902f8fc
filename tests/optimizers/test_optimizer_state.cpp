// SPDX-License-Identifier: MIT
#include "symport/optimizers/optimizer_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "symport/optimizers/adagrad.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/adamw.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/g_sgd.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/kfac.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/optimizers/muon.hpp"
#include "symport/optimizers/nesterov.hpp"
#include "symport/optimizers/newton.hpp"
#include "symport/optimizers/path_sgd.hpp"
#include "symport/optimizers/prodigy.hpp"
#include "symport/optimizers/rmsprop.hpp"
#include "symport/optimizers/shampoo.hpp"
#include "symport/optimizers/soap.hpp"

namespace symport {
namespace {

TEST(OptimizerState, FindsItsBuffersByName) {
  OptimizerState<double> state;
  state.add("velocity", StateKind::cotangent, 3);
  state.add("rate", StateKind::scalar, 1);
  EXPECT_TRUE(state["velocity"].isZero(0.0));
  state["velocity"] << 1.0, 2.0, 3.0;
  const OptimizerState<double>& same = state;
  EXPECT_EQ(same["velocity"], (Vector{{1.0, 2.0, 3.0}}));
  EXPECT_EQ(same["rate"].size(), 1);
  EXPECT_TRUE(same.has("rate"));
  EXPECT_FALSE(same.has("Rate"));
}

TEST(OptimizerState, ThrowsOnNamesThatAreWrong) {
  OptimizerState<float> state;
  state.add("velocity", StateKind::cotangent, 3);
  EXPECT_THROW(state["speed"], std::logic_error);
  EXPECT_THROW(std::as_const(state)[""], std::logic_error);
  for (const char* name : {"velocity", "", "a b", "a.b", "../a", "a\n"}) {
    EXPECT_THROW(state.add(name, StateKind::scalar, 1), std::logic_error) << name;
  }
  EXPECT_EQ(state.buffers.size(), 1u);
}

TEST(StateKind, HasANameThatIsReadBack) {
  for (const StateKind kind : {StateKind::cotangent, StateKind::squared_cotangent,
                               StateKind::tangent, StateKind::point, StateKind::scalar}) {
    EXPECT_EQ(state_kind(to_string(kind)), kind);
  }
  EXPECT_EQ(state_kind("covector"), std::nullopt);
}

// The names and kinds are those of checkpoints: changing one is changing their format.
TEST(OptimizerState, OfEveryOptimizerHasTheseBuffers) {
  const auto buffers = [](const Optimizer& optimizer) {
    std::string list;
    for (const auto& buffer : optimizer.init(5).buffers) {
      EXPECT_EQ(buffer.values.size(), buffer.kind == StateKind::scalar ? 1 : 5);
      EXPECT_TRUE(buffer.values.isZero(0.0));
      list += buffer.name + " " + std::string(to_string(buffer.kind)) + ";";
    }
    return list;
  };
  EXPECT_EQ(buffers(GradientDescent<double>()), "");
  EXPECT_EQ(buffers(Newton<double>()), "");
  EXPECT_EQ(buffers(CurvatureDescent<double>()), "rate scalar;");
  EXPECT_EQ(buffers(Momentum<double>()), "velocity cotangent;");
  EXPECT_EQ(buffers(Nesterov<double>()), "velocity cotangent;");
  EXPECT_EQ(buffers(AdaGrad<double>()), "squares squared_cotangent;");
  EXPECT_EQ(buffers(RmsProp<double>()), "squares squared_cotangent;");
  EXPECT_EQ(buffers(Adam<double>()), "mean cotangent;squares squared_cotangent;");
  EXPECT_EQ(buffers(AdamW<double>()), "mean cotangent;squares squared_cotangent;");
}

TEST(OptimizerState, OfOptimizersThatLookAtBlocksHasTheseBuffers) {
  const auto buffers = [](const Optimizer& optimizer) {
    std::string list;
    for (const auto& buffer : optimizer.init(20).buffers) {
      EXPECT_TRUE(buffer.values.isZero(0.0));
      list += buffer.name + " " + std::string(to_string(buffer.kind)) + ";";
    }
    return list;
  };
  const Mlp network({3, 4, 2}, Activation::parse("relu"), false);
  EXPECT_EQ(
      buffers(Prodigy<double>()),
      "mean cotangent;squares squared_cotangent;sum cotangent;moved tangent;estimate scalar;");
  EXPECT_EQ(buffers(Shampoo<double>(network.layout())),
            "velocity tangent;statistics scalar;roots scalar;steps scalar;");
  EXPECT_EQ(buffers(Shampoo<double>(network.layout(), {.grafting = Grafting::adagrad})),
            "velocity tangent;squares squared_cotangent;statistics scalar;roots scalar;"
            "steps scalar;");
  EXPECT_EQ(buffers(Muon<double>(network.layout())),
            "mean cotangent;squares squared_cotangent;average cotangent;");
  EXPECT_EQ(buffers(Muon<double>(network.layout(), {}, std::make_shared<Momentum<double>>())),
            "velocity cotangent;average cotangent;");
  EXPECT_EQ(buffers(Soap<double>(network.layout())),
            "mean cotangent;squares scalar;statistics scalar;bases scalar;");
  EXPECT_EQ(buffers(Kfac<double>(network)), "velocity tangent;factors scalar;");
  EXPECT_EQ(buffers(PathSgd<double>(network)), "");
  EXPECT_EQ(buffers(Gsgd<double>(network)), "");
}

}  // namespace
}  // namespace symport
