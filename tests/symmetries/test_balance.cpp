// SPDX-License-Identifier: MIT
#include "symport/symmetries/balance.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"
#include "symport/symmetries/slot_symmetry.hpp"

namespace symport {
namespace {

using ::testing::HasSubstr;

struct Model {
  ParameterLayout layout;
  std::vector<SlotGroup> groups;
  Vector w;

  SlotSymmetry<double> symmetry() const { return {layout, groups}; }
  Vector moved(const GaugeOptions& options = {}) const {
    Vector there = w;
    symmetry().act(gauge_move(layout, groups, w, options).element, there);
    return there;
  }
  Eigen::Map<const Matrix> view(const char* name, const Vector& at) const {
    return ParameterLayout::view(layout.block(name), at.data());
  }
};

Slot power(std::string tensor, Index axis, double charge) {
  return {.tensor = std::move(tensor),
          .axis = axis,
          .representation = Representation::power,
          .charge = charge};
}

/// A chain of three matrices, far from balanced. The hidden layers have one size: a product that
/// narrows on either side of a group GL has no smallest norm.
Model chain(GroupKind kind, std::uint64_t seed = 1) {
  Model model;
  model.layout.add("W1", 4, 6).add("b1", 4).add("W2", 4, 4).add("W3", 5, 4);
  const Representation dual = Representation::dual;
  model.groups = {{kind, 4, {{"W1", 0}, {"b1", 0}, {"W2", 1, dual}}},
                  {kind, 4, {{"W2", 0}, {"W3", 1, dual}}}};
  model.w = Random(seed).normal_matrix(model.layout.size(), 1);
  for (const char* name : {"W1", "b1"}) {
    const ParameterBlock& block = model.layout.block(name);
    model.w.segment(block.offset, block.size()) *= 20.0;
  }
  return model;
}

/// The derivative of |w|^2 / 2 along the group, relative to |w|^2. At a minimum it is zero.
double slope(const Model& model, const Vector& w) {
  double sum = 0.0;
  for (const Matrix& S : model.symmetry().pull_back(w, w)) sum += S.squaredNorm();
  return std::sqrt(sum) / w.squaredNorm();
}

TEST(Balance, IsWhereTheNormDoesNotChangeToFirstOrder) {
  for (const GroupKind kind : {GroupKind::scaling, GroupKind::general_linear}) {
    const Model model = chain(kind);
    EXPECT_GT(slope(model, model.w), 0.1) << to_string(kind);
    const Vector there = model.moved();
    EXPECT_LT(slope(model, there), 1e-8) << to_string(kind);
    EXPECT_LT(there.squaredNorm(), 0.5 * model.w.squaredNorm()) << to_string(kind);
  }
}

// |g.w|^2 is geodesically convex: a stationary point is the minimum of the whole orbit.
TEST(Balance, HasTheSmallestNormOfTheOrbit) {
  for (const GroupKind kind : {GroupKind::scaling, GroupKind::general_linear}) {
    const Model model = chain(kind);
    const Vector there = model.moved();
    Random random(7);
    for (const double spread : {1e-3, 0.1, 1.0, 3.0}) {
      for (int i = 0; i < 20; ++i) {
        Vector other = there;
        model.symmetry().act(model.symmetry().random_element(random, spread), other);
        EXPECT_GE(other.squaredNorm(), there.squaredNorm() * (1.0 - 1e-14));
      }
    }
  }
}

TEST(Balance, KeepsTheProductsOfAChain) {
  const Model model = chain(GroupKind::general_linear);
  const Vector there = model.moved();
  const auto product = [&](const Vector& w) -> Matrix {
    return model.view("W3", w) * model.view("W2", w) * model.view("W1", w);
  };
  EXPECT_LT((product(there) - product(model.w)).norm(), 1e-12 * product(model.w).norm());
}

TEST(Balance, OfAPairOfUnitsIsTheRootOfTheRatioOfNorms) {
  Model model;
  model.layout.add("U", 1, 2).add("V", 3, 1);
  model.groups = {{GroupKind::scaling, 1, {{"U", 0}, {"V", 1, Representation::dual}}}};
  model.w = Vector{{3.0, 4.0, 2.0, 4.0, 4.0}};  // |U| = 5, |V| = 6
  const GaugeMove move = gauge_move(model.layout, model.groups, model.w);
  EXPECT_DOUBLE_EQ(move.element.g[0](0, 0), std::sqrt(6.0 / 5.0));
  EXPECT_DOUBLE_EQ(move.element.inverse[0](0, 0), std::sqrt(5.0 / 6.0));
}

// ReLU^2 has charges 1 and -2, a third tensor one that is not whole.
TEST(Balance, HoldsForAnyCharges) {
  for (const std::vector<double>& charges :
       {std::vector{1.0, -2.0}, std::vector{1.0, -2.0, 0.5}, std::vector{-1.0, -3.0, 2.0, 0.0}}) {
    Model model;
    SlotGroup group{GroupKind::scaling, 3, {}};
    for (std::size_t i = 0; i < charges.size(); ++i) {
      const std::string name = "P" + std::to_string(i);
      model.layout.add(name, 3, 5);
      group.slots.push_back(power(name, 0, charges[i]));
    }
    model.groups = {group};
    model.w = 3.0 * Random(3).normal_matrix(model.layout.size(), 1);
    EXPECT_LT(slope(model, model.moved()), 1e-9) << charges.size();
  }
}

TEST(Balance, OfRepeatedEntriesCountsThemTogether) {
  Model model;
  model.layout.add("K", {3, 2, 4}).add("W", 5, 24);
  Slot flat{"W", 1, Representation::dual};
  flat.repeat = 6;
  model.groups = {{GroupKind::scaling, 4, {{"K", 2}, flat}}};
  model.w = Random(5).normal_matrix(model.layout.size(), 1);
  EXPECT_LT(slope(model, model.moved()), 1e-9);
}

TEST(Balance, ByPowersOfTwoIsWithinHalfAnOctaveOfIt) {
  const Model model = chain(GroupKind::scaling);
  const GaugeMove exact = gauge_move(model.layout, model.groups, model.w);
  const GaugeMove rounded =
      gauge_move(model.layout, model.groups, model.w, {.powers_of_two = true});
  for (std::size_t k = 0; k < 2; ++k) {
    for (Index i = 0; i < exact.element.g[k].rows(); ++i) {
      const double s = rounded.element.g[k](i, 0);
      int exponent = 0;
      EXPECT_EQ(std::frexp(s, &exponent), 0.5);
      EXPECT_EQ(s * rounded.element.inverse[k](i, 0), 1.0);
      EXPECT_LE(std::abs(std::log2(s / exact.element.g[k](i, 0))), 0.5 + 1e-12);
    }
  }
}

TEST(Balance, LeavesAloneWhatHasNoMinimum) {
  Model dead = chain(GroupKind::scaling);
  ParameterLayout::view(dead.layout.block("W2"), dead.w.data()).col(1).setZero();
  const GaugeMove move = gauge_move(dead.layout, dead.groups, dead.w);
  EXPECT_EQ(move.element.g[0](1, 0), 1.0);
  EXPECT_NE(move.element.g[0](0, 0), 1.0);
  EXPECT_TRUE(move.left_alone.empty());

  Model zero = chain(GroupKind::general_linear);
  ParameterLayout::view(zero.layout.block("W3"), zero.w.data()).setZero();
  const GaugeMove half = gauge_move(zero.layout, zero.groups, zero.w);
  ASSERT_EQ(half.left_alone.size(), 1u);
  EXPECT_EQ(half.left_alone[0].group, 1u);
  EXPECT_THAT(half.left_alone[0].reason, HasSubstr("g^-T have dependent rows"));
  EXPECT_TRUE(half.element.g[1].isIdentity(0.0));
  EXPECT_FALSE(half.element.g[0].isIdentity(0.1));
}

TEST(Balance, LeavesGroupsThatKeepNormsAlone) {
  for (const GroupKind kind : {GroupKind::orthogonal, GroupKind::signs, GroupKind::permutations}) {
    const Model model = chain(kind);
    const GaugeMove move = gauge_move(model.layout, model.groups, model.w);
    EXPECT_EQ(move.left_alone.size(), 2u);
    EXPECT_EQ(model.moved(), model.w);
    EXPECT_EQ(move.condition, 1.0);
  }
}

TEST(Balance, LeavesAGroupOnTwoAxesOfATensorAlone) {
  Model model;
  model.layout.add("A", 3, 3);
  model.groups = {{GroupKind::general_linear, 3, {{"A", 0}, {"A", 1, Representation::dual}}}};
  model.w = Random(2).normal_matrix(9, 1);
  const GaugeMove move = gauge_move(model.layout, model.groups, model.w);
  ASSERT_EQ(move.left_alone.size(), 1u);
  EXPECT_THAT(move.left_alone[0].reason, HasSubstr("two axes"));
}

TEST(OrthonormalGauge, MakesEveryProducerOfAChainOrthonormal) {
  const Model model = chain(GroupKind::general_linear);
  const Vector there = model.moved({.target = GaugeTarget::orthonormal});
  Matrix first(4, 7);
  first << model.view("W1", there), model.view("b1", there);
  EXPECT_LT((first * first.transpose() - Matrix::Identity(4, 4)).norm(), 1e-12);
  const Matrix second = model.view("W2", there);
  EXPECT_LT((second * second.transpose() - Matrix::Identity(4, 4)).norm(), 1e-12);

  const Model scaled = chain(GroupKind::scaling);
  const Vector units = scaled.moved({.target = GaugeTarget::orthonormal});
  EXPECT_LT((scaled.view("W2", units).rowwise().norm() - Vector::Ones(4)).norm(), 1e-12);
}

TEST(Balance, RefusesASlotThatIsNotThere) {
  Model model = chain(GroupKind::scaling);
  model.groups[0].slots[0].tensor = "W9";
  EXPECT_THROW(gauge_move(model.layout, model.groups, model.w), InvalidArgument);
  EXPECT_THROW(gauge_move(model.layout, {}, Vector::Zero(3)), std::logic_error);
}

}  // namespace
}  // namespace symport
