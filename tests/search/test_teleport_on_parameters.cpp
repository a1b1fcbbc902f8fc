// SPDX-License-Identifier: MIT
// What a teleport promises is measured on the parameters; the word of the orbit does not count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/optimist.hpp"
#include "support/symmetries.hpp"
#include "support/worth.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "symport/search/teleport.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance, testing::Optimist, ::testing::HasSubstr;

/// (x y - 2)^2 with x y = 1: the loss of a factor pair.
class Product final : public Objective {
 public:
  Index dimension() const override { return 2; }
  double value(In<double> w) const override { return std::pow(w[0] * w[1] - 2.0, 2); }
  double gradient(In<double> w, Out<double> g) const override {
    const double residual = w[0] * w[1] - 2.0;
    g = 2.0 * residual * Vector{{w[1], w[0]}};
    return residual * residual;
  }
  void hessian_vector(In<double> w, In<double> v, Out<double> result) const override {
    const double residual = w[0] * w[1] - 2.0, along = w[1] * v[0] + w[0] * v[1];
    result[0] = 2.0 * (w[1] * along + residual * v[1]);
    result[1] = 2.0 * (w[0] * along + residual * v[0]);
  }
};

/// An orbit of one destination, which it praises beyond its worth.
class Boastful final : public BasicOrbit<double> {
 public:
  Boastful(const Objective& objective, Vector start, Vector destination)
      : BasicOrbit<double>(objective), points_{std::move(start), std::move(destination)} {}

  double grad_sq() override {
    return there_ ? 1e30 : testing::numbers_at(objective(), at()).grad_sq;
  }
  double curvature() override {
    return there_ ? 1e30 : testing::numbers_at(objective(), at()).curvature;
  }
  double aim(const Slope&) override { return 1.0; }
  bool move(double length) override {
    there_ = length != 0.0;
    point_changed();
    return true;
  }
  double condition() const override { return 1.0; }
  void commit(Out<double> w) override { w = at(); }

 protected:
  void current_gradient(In<double> w, Out<double> gradient) override {
    BasicOrbit<double>::current_gradient(w, gradient);
    if (there_) gradient *= 1e3;
  }

 private:
  const Vector& at() const { return points_[there_ ? 1 : 0]; }
  Vector points_[2];
  bool there_ = false;
};

/// Goes there and says that the criterion wants it.
class Believer final : public Search {
 public:
  std::string_view name() const override { return "believer"; }
  SearchOutcome run(Orbit& orbit, Criterion& criterion, Random&) const override {
    criterion.begin();
    orbit.move(1.0);
    return {true, "believed", true};
  }
};

// Rounding x = 1e20 moves x - y by more than the whole loss: whatever the destination's rounding
// explains, the start's does not.
TEST(Teleport, TheDestinationsRoundingExcusesNothing) {
  const auto difference = testing::generic(2, [](const auto& x) { return pow(x[0] - x[1], 2); });
  const Vector start{{3.0, 1.0}}, destination{{1e20, 1e20 - 3e4}};
  Random random(140);
  Vector w = start;
  Boastful orbit(*difference, start, destination);
  const Certificate c = teleport<double>(*difference, orbit, Optimist(), {}, random, w);
  EXPECT_EQ(c.loss_before, 4.0);
  EXPECT_GT(c.loss_after, 1e8);
  EXPECT_FALSE(c.accepted);
  EXPECT_THAT(c.reason, HasSubstr("drift"));
  EXPECT_GT(c.drift, 1e6);
  EXPECT_EQ(c.drift, c.relative_change());
  EXPECT_TRUE(testing::identical(w, start));
}

// The loss is the same to the last bit, by luck: a rounding of x or y would change it by half.
TEST(Teleport, RefusesADestinationWhoseLossItsOwnLastDigitsDecide) {
  const auto difference = testing::generic(2, [](const auto& x) { return pow(x[0] - x[1], 2); });
  const Vector start{{3.0, 1.0}}, destination{{0x1p53 + 2.0, 0x1p53 + 4.0}};
  Random random(141);
  Vector w = start;
  Boastful orbit(*difference, start, destination);
  const Certificate c = teleport<double>(*difference, orbit, Optimist(), {}, random, w);
  EXPECT_EQ(c.loss_after, 4.0);
  EXPECT_EQ(c.drift, 0.0);
  EXPECT_FALSE(c.accepted);
  EXPECT_THAT(c.reason, HasSubstr("rounding the candidate's parameters"));
  EXPECT_TRUE(testing::identical(w, start));
  EXPECT_TRUE(teleport<double>(*difference, orbit, Optimist(), {}, random, w,
                               std::numeric_limits<double>::infinity())
                  .accepted);
}

TEST(Teleport, SaysWhenTheLossIsAtTheLevelOfRounding) {
  const auto difference = testing::generic(2, [](const auto& x) { return pow(x[0] - x[1], 2); });
  const Vector start{{1.0 + 0x1p-50, 1.0}}, destination{{2.0 + 0x1p-49, 2.0}};
  Random random(142);
  Vector w = start;
  Boastful orbit(*difference, start, destination);
  const Certificate c = teleport<double>(*difference, orbit, Optimist(), {}, random, w);
  ASSERT_TRUE(c.accepted) << c.reason;
  EXPECT_GT(c.relative_change(), 0.5);
  EXPECT_LE(c.drift, 1e-8);
  EXPECT_TRUE(c.at_rounding_level());
  EXPECT_THAT(c.reason, HasSubstr("at rounding level"));
}

TEST(Teleport, CertifiesTheParametersAndNotTheOrbitsWord) {
  const Product product;
  const Vector start{{1.0, 1.0}}, better{{4.0, 0.25}}, worse{{1.0, 1.0}};
  for (const Vector& destination : {better, worse}) {
    for (const bool adagrad : {false, true}) {
      Random random(143);
      Vector w = start;
      Boastful orbit(product, start, destination);
      NextStep<double> next_step;
      if (adagrad) next_step = [](In<double>, In<double> g, Out<double> u) { u = 1e-3 * g; };
      const Certificate c = teleport<double>(product, orbit, Believer(), {.cap = HUGE_VAL}, random,
                                             w, 0.0, next_step);
      const auto there = testing::numbers_at(product, destination);
      EXPECT_EQ(c.grad_sq_after, there.grad_sq);
      EXPECT_EQ(c.curvature_after, there.curvature);
      EXPECT_EQ(c.accepted, testing::identical(destination, better)) << c.reason;
      EXPECT_THAT(c.reason, HasSubstr(c.accepted ? "believed" : "no improvement"));
      EXPECT_TRUE(testing::identical(w, c.accepted ? better : start));
    }
  }
}

TEST(Teleport, DoesNotAskForAnImprovementThatTheSearchDidNotPromise) {
  const Product product;
  const Vector start{{4.0, 0.25}}, destination{{1.0, 1.0}};
  Random random(144);
  Vector w = start;
  Boastful orbit(product, start, destination);
  EXPECT_TRUE(teleport<double>(product, orbit, Optimist(), {.cap = HUGE_VAL}, random, w).accepted);
  EXPECT_TRUE(testing::identical(w, destination));
}

}  // namespace
}  // namespace symport
