// SPDX-License-Identifier: MIT
#include "symport/search/teleport.hpp"

#include <gmock/gmock.h>

#include "support/symmetries.hpp"
#include "support/worth.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/search/angle_scan.hpp"
#include "symport/search/auto_search.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance, ::testing::HasSubstr;

const double nan = std::nan("");

/// A sound orbit whose point is spoilt when it is written down.
template <Real Scalar>
class Sabotaged final : public BasicOrbit<Scalar> {
 public:
  Sabotaged(const BasicObjective<Scalar>& objective, const VectorOf<Scalar>& start, Scalar drift)
      : BasicOrbit<Scalar>(objective), start_(start), drift_(drift) {}

  double grad_sq() override { return 1.0 + length_; }
  double curvature() override { return 1.0; }
  double aim(double, double) override { return 1.0; }
  bool move(double length) override {
    length_ = length;
    return true;
  }
  double condition() const override { return 1.0; }
  void commit(Out<Scalar> w) override {
    w = start_;
    w[0] *= Scalar(1) + drift_;
  }

 private:
  VectorOf<Scalar> start_;
  Scalar drift_;
  double length_ = 0.0;
};

/// Claims success wherever it is.
class Optimist final : public Search {
 public:
  std::string_view name() const override { return "optimist"; }
  SearchOutcome run(Orbit& orbit, Criterion&, Random&) const override {
    orbit.move(0.5);
    return {true, "claimed"};
  }
};

TEST(Teleport, RefusesAnOrbitThatDriftsAndLeavesTheParameters) {
  const Booth booth;
  const Vector start{{0.1, 0.7}};
  Random random(131);
  for (const double drift : {1e-6, -0.3}) {
    Vector w = start;
    Sabotaged<double> orbit(booth, start, drift);
    const Certificate c = teleport<double>(booth, orbit, Optimist(), {}, random, w);
    EXPECT_FALSE(c.accepted);
    EXPECT_THAT(c.reason, HasSubstr("drift"));
    EXPECT_TRUE(testing::identical(w, start));
    // The numbers of the candidate are there to be read.
    Vector candidate = start;
    candidate[0] *= 1.0 + drift;
    EXPECT_EQ(c.loss_after, booth.value(candidate));
    EXPECT_LE(distance(c.drift, std::abs(c.loss_after / c.loss_before - 1.0)),
              tolerance::difference);
  }
}

TEST(Teleport, AcceptsADriftWithinAGivenTolerance) {
  const Booth booth;
  const Vector start{{0.1, 0.7}};
  Random random(132);
  Sabotaged<double> orbit(booth, start, 1e-6);
  Vector w = start;
  EXPECT_FALSE(teleport<double>(booth, orbit, Optimist(), {}, random, w, 1e-9).accepted);
  EXPECT_TRUE(teleport<double>(booth, orbit, Optimist(), {}, random, w, 1e-3).accepted);
  EXPECT_FALSE(testing::identical(w, start));
  Vector any = start;
  Sabotaged<double> wild(booth, start, 10.0);
  EXPECT_TRUE(teleport<double>(booth, wild, Optimist(), {}, random, any,
                               std::numeric_limits<double>::infinity())
                  .accepted);
}

/// |w|^2 in float.
class FloatBowl final : public BasicObjective<float> {
 public:
  Index dimension() const override { return 2; }
  double value(In<float> w) const override { return w.cast<double>().squaredNorm(); }
  double gradient(In<float> w, Out<float> g) const override {
    g = 2.0f * w;
    return value(w);
  }
  void hessian_vector(In<float>, In<float> v, Out<float> result) const override {
    result = 2.0f * v;
  }
};

TEST(Teleport, ToleratesInFloatWhatFloatCanKeep) {
  const FloatBowl bowl;
  const VectorOf<float> start{{3.0f, 4.0f}};
  Random random(133);
  VectorOf<float> w = start;
  Sabotaged<float> within(bowl, start, 1e-5f), beyond(bowl, start, 1e-2f);
  EXPECT_TRUE(teleport<float>(bowl, within, Optimist(), {}, random, w).accepted);
  w = start;
  EXPECT_FALSE(teleport<float>(bowl, beyond, Optimist(), {}, random, w).accepted);
  EXPECT_EQ(w, start);
}

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
  double aim(double, double) override { return 1.0; }
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
    criterion.begin(orbit);
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
      if (adagrad) {
        orbit.set_next_step([](In<double>, In<double> g, Out<double> u) { u = 1e-3 * g; });
      }
      const Certificate c =
          teleport<double>(product, orbit, Believer(), {.cap = HUGE_VAL}, random, w);
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

/// Booth's function that breaks down away from its start.
class Fragile final : public Objective {
 public:
  enum class Breaks { value, gradient, hessian };
  explicit Fragile(Breaks what, bool at_start = false) : what_(what), at_start_(at_start) {}

  Index dimension() const override { return 2; }
  double value(In<double> w) const override {
    return broken(w, Breaks::value) ? nan : booth_.value(w);
  }
  double gradient(In<double> w, Out<double> g) const override {
    const double loss = booth_.gradient(w, g);
    if (broken(w, Breaks::gradient)) g[1] = nan;
    return broken(w, Breaks::value) ? nan : loss;
  }
  void hessian_vector(In<double> w, In<double> v, Out<double> result) const override {
    booth_.hessian_vector(w, v, result);
    if (broken(w, Breaks::hessian)) result[0] = nan;
  }

 private:
  bool broken(In<double> w, Breaks what) const {
    const bool here = (w - booth_.start()).norm() == 0.0;
    return what == what_ && here == at_start_;
  }
  Booth booth_;
  Breaks what_;
  bool at_start_;
};

TEST(Teleport, RefusesWhatIsNotFiniteAndLeavesTheParameters) {
  const auto symmetry = booth_rotation();
  const OrbitAscent ascent;
  const AngleScan scan;
  const Optimist optimist;
  for (const auto breaks :
       {Fragile::Breaks::value, Fragile::Breaks::gradient, Fragile::Breaks::hessian}) {
    for (const bool at_start : {false, true}) {
      const Fragile objective(breaks, at_start);
      const Vector start = Booth().start();
      for (const Search* search :
           {static_cast<const Search*>(&ascent), static_cast<const Search*>(&scan),
            static_cast<const Search*>(&optimist)}) {
        Random random(134);
        Vector w = start;
        const auto orbit = symmetry.orbit(objective, w);
        const Certificate c =
            teleport<double>(objective, *orbit, *search, {.learning_rate = 0.05}, random, w);
        // A broken start that leads to sound points may be left; nothing else may be accepted.
        if (c.accepted) {
          EXPECT_TRUE(at_start);
          EXPECT_TRUE(std::isfinite(c.loss_after + c.grad_sq_after + c.curvature_after));
        } else {
          EXPECT_TRUE(testing::identical(w, start)) << search->name();
          EXPECT_FALSE(c.reason.empty());
        }
      }
    }
  }
}

TEST(Teleport, GoesNowhereFromAMinimum) {
  const Rosenbrock rosenbrock;
  const auto symmetry = rosenbrock_rotation();
  Vector w = rosenbrock.minimizer();
  Random random(135);
  const Certificate c =
      teleport<double>(rosenbrock, *symmetry.orbit(rosenbrock, w), AutoSearch(), {}, random, w);
  EXPECT_FALSE(c.accepted);
  EXPECT_THAT(c.reason, HasSubstr("gradient is zero"));
  EXPECT_TRUE(testing::identical(w, rosenbrock.minimizer()));
}

TEST(Teleport, CertifiesWhatTheObjectiveSays) {
  Random random(136);
  int accepted = 0;
  for (const auto& row : testing::symmetry_table()) {
    for (const Vector& start : testing::symmetry_points(*row.objective, random)) {
      SCOPED_TRACE(row.name);
      const CountingObjective<double> counting(*row.objective);
      Vector w = start;
      const auto orbit = row.symmetry->orbit(counting, w);
      const Certificate c = teleport<double>(
          counting, *orbit, AutoSearch(), {.objective = ObjectiveKind::gradient_norm}, random, w);
      EXPECT_NEAR(c.evaluations, counting.count().gradient_equivalents(), 1e-9);
      const auto before = testing::numbers_at(*row.objective, start);
      const auto after = testing::numbers_at(*row.objective, w);
      EXPECT_LE(distance(c.loss_before, before.loss), tolerance::rounding);
      EXPECT_LE(distance(c.grad_sq_before, before.grad_sq), tolerance::rounding);
      EXPECT_LE(distance(c.curvature_before, before.curvature), tolerance::rounding);
      EXPECT_GE(c.seconds, 0.0);
      if (!c.accepted) continue;
      ++accepted;
      EXPECT_LE(distance(c.loss_after, after.loss), tolerance::rounding);
      EXPECT_LE(distance(c.grad_sq_after, after.grad_sq), tolerance::rounding);
      EXPECT_LE(distance(c.curvature_after, after.curvature), tolerance::rounding);
      EXPECT_GE(c.condition, 1.0);
      EXPECT_LE(c.drift, tolerance::drift);
      EXPECT_GT(c.grad_sq_after, c.grad_sq_before);
    }
  }
  EXPECT_GT(accepted, 30);
}

TEST(Teleport, RefusesBadArgumentsByField) {
  const Booth booth;
  const auto symmetry = booth_rotation();
  const auto orbit = symmetry.orbit(booth, booth.start());
  Random random(137);
  const auto field = [&](Vector w, double tolerance,
                         const CriterionOptions& options) -> std::string {
    try {
      teleport<double>(booth, *orbit, AngleScan(), options, random, w, tolerance);
    } catch (const InvalidArgument& error) {
      return error.field();
    }
    return "accepted";
  };
  EXPECT_EQ(field(Vector::Zero(3), 0.0, {}), "w");
  EXPECT_EQ(field(booth.start(), -1.0, {}), "drift_tolerance");
  EXPECT_EQ(field(booth.start(), nan, {}), "drift_tolerance");
  EXPECT_EQ(field(booth.start(), 0.0, {.learning_rate = -1.0}), "learning_rate");
}

TEST(Teleport, DefaultTolerancesAreThoseOfThePrecision) {
  EXPECT_EQ(default_drift_tolerance<double>(), 1e-8);
  EXPECT_EQ(default_drift_tolerance<float>(), 1e-4);
}

}  // namespace
}  // namespace symport
