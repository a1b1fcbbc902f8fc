// SPDX-License-Identifier: MIT
#include "symport/symmetries/slot_symmetry.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "core/dense.hpp"
#include "support/network_laws.hpp"
#include "support/slot_models.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/testing/check_symmetry.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance;
using ::testing::HasSubstr;

const auto dual = Representation::dual;

TEST(SlotSymmetry, KeepsItsLawsOnEveryModel) {
  for (const auto& model : testing::slot_models()) {
    Random random(201);
    for (const double size : {0.4, 1.0}) {
      const Vector w = testing::random_vector(model.layout.size(), random, size);
      const auto verdict = testing::check_symmetry(model.symmetry(), *model.objective, w, random);
      EXPECT_TRUE(verdict) << verdict.detail;
    }
  }
}

// W2 of the table by hand: two axes at once, entry by entry.
TEST(SlotSymmetry, ActsAlongAxesOfTensorsOfAnyRank) {
  ParameterLayout layout;
  layout.add("other", 2).add("K", {2, 6, 3}).add("last", 1);
  const SlotSymmetry<double> symmetry(
      layout,
      {{GroupKind::scaling, 2, {{.tensor = "K", .axis = 1, .start = 1, .stop = 5, .repeat = 2}}},
       {GroupKind::general_linear, 3, {{"K", 2, dual}}}});
  Random random(202);
  const Matrix g = random.normal_matrix(3, 3);
  const GroupElement element = symmetry.element({Vector{{2.0, 5.0}}, g});
  const Vector w = testing::random_vector(layout.size(), random);
  Vector moved = w;
  symmetry.act(element, moved);
  const Matrix rho = inverse(g).transpose();
  const auto at = [](const Vector& v, Index i, Index j, Index k) {
    return v[2 + i + 2 * (j + 6 * k)];
  };
  const Vector scale{{1.0, 2.0, 2.0, 5.0, 5.0, 1.0}};
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 6; ++j) {
      for (Index k = 0; k < 3; ++k) {
        double expected = 0.0;
        for (Index l = 0; l < 3; ++l) expected += rho(k, l) * scale[j] * at(w, i, j, l);
        EXPECT_NEAR(at(moved, i, j, k), expected, 1e-12) << i << j << k;
      }
    }
  }
  EXPECT_EQ(moved.head(2), w.head(2));
  EXPECT_EQ(moved.tail(1), w.tail(1));
}

TEST(SlotSymmetry, RefusesSlotsThatDoNotFit) {
  ParameterLayout layout;
  layout.add("W", 4, 6).add("b", 4);
  const auto refusal = [&](SlotGroup group) -> std::string {
    try {
      const SlotSymmetry<double> symmetry(layout, {std::move(group)});
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto scaling = [](Index size, std::vector<Slot> slots) {
    return SlotGroup{GroupKind::scaling, size, std::move(slots)};
  };
  EXPECT_THAT(refusal(scaling(4, {{"X"}})), HasSubstr("one of W, b"));
  EXPECT_THAT(refusal(scaling(4, {{"W", 2}})), HasSubstr("axis 2, allowed is 0 to 1"));
  EXPECT_THAT(refusal(scaling(4, {{"b", -1}})), HasSubstr("axis -1"));
  EXPECT_THAT(refusal(scaling(5, {{"W"}})), HasSubstr("4 entries of axis 0"));
  EXPECT_THAT(refusal(scaling(3, {{.tensor = "W", .axis = 1, .repeat = 3}})),
              HasSubstr("repeat = 3"));
  EXPECT_THAT(refusal(scaling(4, {{.tensor = "W", .axis = 1, .start = 3, .stop = 7}})),
              HasSubstr("entries 3 to 7"));
  EXPECT_THAT(refusal(scaling(4, {{.tensor = "W"}, {.tensor = "W"}})),
              HasSubstr("entry 0 of axis 0 twice"));
  EXPECT_THAT(refusal(scaling(4, {})), HasSubstr("one or more slots"));
  EXPECT_THAT(refusal({GroupKind::signs, 4, {{"W", 0, Representation::power, 2.0}}}),
              HasSubstr("power 2 of the group signs"));
  EXPECT_EQ(refusal(scaling(4, {{"W"}, {"b"}})), "accepted");
  EXPECT_EQ(refusal(scaling(2, {{.tensor = "W", .stop = 2}, {.tensor = "W", .start = 2}})),
            "accepted");
}

TEST(SlotSymmetry, RefusesElementsThatAreNotInTheGroup) {
  ParameterLayout layout;
  layout.add("w", 2);
  const auto element = [&](GroupKind kind, Matrix g) {
    return SlotSymmetry<double>(layout, {{kind, 2, {{"w"}}}}).element({std::move(g)});
  };
  EXPECT_THROW(element(GroupKind::scaling, Vector{{1.0, 0.0}}), InvalidArgument);
  EXPECT_THROW(element(GroupKind::scaling, Vector{{1.0, -2.0}}), InvalidArgument);
  EXPECT_THROW(element(GroupKind::signs, Vector{{1.0, 2.0}}), InvalidArgument);
  EXPECT_THROW(element(GroupKind::permutations, Vector{{1.0, 1.0}}), InvalidArgument);
  EXPECT_THROW(element(GroupKind::permutations, Vector{{0.5, 1.0}}), InvalidArgument);
  EXPECT_THROW(element(GroupKind::general_linear, Matrix{{1.0, 2.0}, {2.0, 4.0}}), InvalidArgument);
  EXPECT_THROW(element(GroupKind::orthogonal, Matrix{{1.0, 1.0}, {0.0, 1.0}}), InvalidArgument);
  EXPECT_THROW(element(GroupKind::general_linear, Vector{{1.0, 1.0}}), std::logic_error);
  EXPECT_THROW(element(GroupKind::scaling, Vector::Ones(3)), std::logic_error);
  const SlotSymmetry<double> two(layout, {{GroupKind::scaling, 2, {{"w"}}}});
  EXPECT_THROW(two.element({}), std::logic_error);
  Vector other(3);
  EXPECT_THROW(two.act(two.identity(), other), std::logic_error);
}

TEST(SlotSymmetry, SquaresMoveExactlyUnderScalingsSignsAndPermutationsOnly) {
  Random random(203);
  for (const auto& model : testing::slot_models()) {
    const SlotSymmetry<double> symmetry = model.symmetry();
    bool dense = false;
    for (const SlotGroup& group : model.groups) {
      dense |= group.kind == GroupKind::general_linear || group.kind == GroupKind::orthogonal;
    }
    EXPECT_EQ(symmetry.transports(StateKind::squared_cotangent), !dense) << model.name;
    const GroupElement g = symmetry.random_element(random, 0.5);
    Vector covector = testing::random_vector(model.layout.size(), random);
    Vector squares = covector.cwiseAbs2();
    if (dense) {
      try {
        symmetry.act_on_squared_cotangent(g, squares);
        ADD_FAILURE() << model.name;
      } catch (const InvalidArgument& error) {
        EXPECT_THAT(error.what(), HasSubstr("do not determine"));
      }
      EXPECT_EQ(squares, covector.cwiseAbs2());
      continue;
    }
    symmetry.act_on_squared_cotangent(g, squares);
    symmetry.act_on_cotangent(g, covector);
    EXPECT_LE(distance(squares, covector.cwiseAbs2()), tolerance::rounding) << model.name;
  }
}

TEST(Noether, ResidualIsRoundingForASymmetryAndLargeForAWrongList) {
  Random random(204);
  for (const auto& model : testing::slot_models()) {
    const Vector w = testing::random_vector(model.layout.size(), random);
    Vector gradient(w.size());
    model.objective->gradient(w, gradient);
    EXPECT_LE(model.symmetry().noether_residual(w, gradient), 1e-12) << model.name;
    // The last slot of every group with a Lie algebra left out.
    auto groups = model.groups;
    bool continuous = false;
    for (SlotGroup& group : groups) {
      if (group.kind == GroupKind::signs || group.kind == GroupKind::permutations) continue;
      group.slots.pop_back();
      continuous = true;
    }
    if (!continuous) continue;
    const SlotSymmetry<double> wrong(model.layout, groups, "wrong");
    EXPECT_GT(wrong.noether_residual(w, gradient), 0.1) << model.name;
    const auto orbit = wrong.orbit(*model.objective, w);
    EXPECT_FALSE(orbit) << model.name;
    EXPECT_THAT(orbit.reason(), HasSubstr("wrong: this is not a symmetry of your loss"));
    const auto verdict = testing::check_symmetry(wrong, *model.objective, w, random);
    EXPECT_FALSE(verdict);
    EXPECT_THAT(verdict.detail, HasSubstr("invariance"));
  }
}

// A factor 1.1 in one exponent, or a smooth activation, is seen as well as a missing slot.
TEST(Noether, FindsSmallMistakes) {
  Random random(205);
  auto model = testing::squared_relu_model();
  const Vector w = testing::random_vector(model.layout.size(), random);
  model.groups[0].slots[2].charge = -1.9;
  EXPECT_FALSE(model.symmetry().orbit(*model.objective, w));
  model.groups[0].slots[2].charge = -2.0;
  EXPECT_TRUE(bool(model.symmetry().orbit(*model.objective, w)));
  const auto refused_in = [&](auto number) {
    using Scalar = decltype(number);
    const auto problem =
        testing::random_problem<Scalar>({3, 4, 2}, "gelu", "cross_entropy", true, 5, random);
    const Mlp& network = problem.objective.network();
    const auto refused =
        SlotSymmetry<Scalar>(network.layout(), hidden_unit_groups(network, GroupKind::scaling),
                             "rescaling")
            .orbit(problem.objective, problem.w);
    EXPECT_FALSE(refused);
    EXPECT_THAT(refused.reason(), HasSubstr("rescaling: this is not a symmetry of your loss"));
  };
  refused_in(1.0);
  refused_in(1.0F);
}

// Where large residuals cancel in the gradient it is rounding, and so is what Noether's test makes
// of it.
TEST(Noether, DoesNotRefuseASymmetryAtAMinimum) {
  const auto objective = testing::full_rank_factorization(5, 4, 2);
  const SlotSymmetry<double> symmetry(objective.layout(),
                                      {{GroupKind::general_linear, 2, {{"V"}, {"U", 1, dual}}}});
  Random random(206);
  Vector gradient(objective.dimension());
  double largest = 0.0;
  for (const double off : {0.0, 1e-14, 1e-12, 1e-9, 1e-6}) {
    for (int i = 0; i < 20; ++i) {
      Vector w = objective.minimizer();
      symmetry.act(symmetry.random_element(random, 1.0), w);
      w += off * testing::random_vector(w.size(), random);
      objective.gradient(w, gradient);
      largest = std::max(largest, symmetry.noether_residual(w, gradient));
      EXPECT_TRUE(bool(symmetry.orbit(objective, w))) << off;
    }
  }
  EXPECT_GT(largest, 1e-3) << "the test has become easy";
}

TEST(SlotOrbit, KnowsJOnTheWholeOrbitFromOneGradient) {
  Random random(207);
  for (const auto& model : testing::slot_models()) {
    const Vector w = testing::random_vector(model.layout.size(), random);
    const CountingObjective<double> counting(*model.objective);
    const auto orbit = model.symmetry().orbit(counting, w);
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(orbit->randomize(random, 0.5));
      EXPECT_GT(orbit->grad_sq(), 0.0);
    }
    EXPECT_EQ(counting.count().gradients, 1) << model.name;
    EXPECT_EQ(orbit->evaluations(), 1.0) << model.name;
  }
}

TEST(SlotOrbit, ClosedFormBeatsRandomElementsWithinItsBound) {
  Random random(208);
  const double kappa = 2.0;
  for (const auto& model :
       {testing::gated_model(), testing::squared_relu_model(), testing::adapter_model()}) {
    const SlotSymmetry<double> symmetry = model.symmetry();
    const Vector w = testing::random_vector(model.layout.size(), random);
    const auto orbit = symmetry.orbit(*model.objective, w);
    ASSERT_TRUE(testing::go_to_candidate(*orbit, kappa));
    EXPECT_LE(orbit->condition(), kappa * kappa * (1.0 + tolerance::rounding));
    const double found = orbit->grad_sq();
    Vector gradient(w.size());
    for (int i = 0; i < 300; ++i) {
      GroupElement g = symmetry.random_element(random, 1.0);
      Matrix& a = g.g[0];
      if (a.cols() == 1) {
        for (double& scale : a.reshaped()) scale = scale > 1.0 ? kappa : 1.0 / kappa;
      } else {
        const SingularValues svd = singular_values(a);
        const Vector ends{{kappa, i % 3 == 0 ? kappa : 1.0 / kappa}};
        a = svd.U * ends.asDiagonal() * svd.V.transpose();
      }
      Vector there = w;
      symmetry.act(symmetry.element({a}), there);
      model.objective->gradient(there, gradient);
      EXPECT_GE(found, gradient.squaredNorm() * (1.0 - tolerance::rounding)) << model.name;
    }
  }
}

// The fast path of networks against the plain one.
template <class Scalar>
void expect_same_orbit(double J_tolerance, double tolerance) {
  Random random(209);
  for (const bool biases : {false, true}) {
    for (const char* activation : {"relu", "leaky_relu", "linear"}) {
      const auto problem = testing::random_problem<Scalar>({4, 6, 5, 3}, activation,
                                                           "cross_entropy", biases, 7, random);
      const Mlp& network = problem.objective.network();
      const auto fast = PositiveScalingSymmetry<Scalar>().orbit(problem.objective, problem.w);
      const auto plain =
          SlotSymmetry<Scalar>(network.layout(), hidden_unit_groups(network, GroupKind::scaling))
              .orbit(problem.objective, problem.w);
      const auto compare = [&](const std::string& where) {
        VectorOf<Scalar> a(problem.w.size()), b(problem.w.size());
        fast->commit(a);
        plain->commit(b);
        EXPECT_LE(testing::relative_distance<Scalar>(a, b), tolerance) << where;
        EXPECT_LE(distance(fast->grad_sq(), plain->grad_sq()), J_tolerance) << where;
        EXPECT_LE(distance(fast->curvature(), plain->curvature()), 100 * J_tolerance) << where;
        EXPECT_LE(distance(fast->condition(), plain->condition()), tolerance) << where;
        a = b = problem.w.cwiseAbs2();
        EXPECT_TRUE(fast->transport(a, StateKind::squared_cotangent));
        EXPECT_TRUE(plain->transport(b, StateKind::squared_cotangent));
        EXPECT_LE(testing::relative_distance<Scalar>(a, b), tolerance) << where;
      };
      compare("at the start");
      Random one(7), other(7);
      ASSERT_TRUE(fast->randomize(one, 0.5));
      ASSERT_TRUE(plain->randomize(other, 0.5));
      compare("at a random element");
      const Slope slope{1.0, 0.3, Vector::Ones(problem.w.size())};
      EXPECT_LE(distance(fast->aim(slope), plain->aim(slope)), 100 * J_tolerance);
      ASSERT_TRUE(fast->move(0.3));
      ASSERT_TRUE(plain->move(0.3));
      compare("along a direction");
      ASSERT_TRUE(testing::go_to_candidate(*fast, 3.0));
      ASSERT_TRUE(testing::go_to_candidate(*plain, 3.0));
      compare("at the closed form");
    }
  }
}

TEST(SlotOrbit, OfHiddenUnitsIsTheFastPathOfRescaling) {
  expect_same_orbit<double>(1e-12, 1e-12);
  expect_same_orbit<float>(1e-4, 1e-4);
}

TEST(SlotOrbit, RefusesAnObjectiveOfAnotherSize) {
  const auto model = testing::adapter_model();
  const Rosenbrock other;
  EXPECT_THROW(model.symmetry().orbit(other, other.start()), InvalidArgument);
}

TEST(SlotOrbit, LeavesTheDomainByAnAnswerAndStaysWhereItWas) {
  Random random(210);
  for (const auto& model : testing::slot_models()) {
    const Vector w = testing::random_vector(model.layout.size(), random);
    const auto orbit = model.symmetry().orbit(*model.objective, w);
    if (orbit->compact() || orbit->aim({1.0, 0.0}) == 0.0) continue;
    EXPECT_FALSE(orbit->move(1e6)) << model.name;
    Vector there(w.size());
    orbit->commit(there);
    EXPECT_EQ(there, w) << model.name;
  }
}

}  // namespace
}  // namespace symport
