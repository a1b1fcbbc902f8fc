// SPDX-License-Identifier: MIT
#include "support/not_finite.hpp"
#include "symport/search/teleport.hpp"

#include <gmock/gmock.h>

#include "support/optimist.hpp"
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

using testing::distance, testing::Optimist, ::testing::HasSubstr;

/// A sound orbit whose point is spoilt when it is written down.
template <Real Scalar>
class Sabotaged final : public BasicOrbit<Scalar> {
 public:
  Sabotaged(const BasicObjective<Scalar>& objective, const VectorOf<Scalar>& start, Scalar drift)
      : BasicOrbit<Scalar>(objective), start_(start), drift_(drift) {}

  double grad_sq() override { return 1.0 + length_; }
  double curvature() override { return 1.0; }
  double aim(const Slope&) override { return 1.0; }
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

TEST(Teleport, InOneCallIsTheSameAsByHand) {
  for (const auto& row : testing::symmetry_table()) {
    SCOPED_TRACE(row.name);
    Random random(138);
    const Vector start = testing::random_vector(row.objective->dimension(), random);
    for (const std::optional<double> rate : {std::optional(1e-3), std::optional<double>()}) {
      Vector once = start, by_hand = start;
      const Certificate c = teleport<double>(
          *row.objective, once, {.symmetry = row.symmetry.get(), .learning_rate = rate, .seed = 9});
      Random same(9);
      const CriterionOptions criterion{
          .objective = rate ? ObjectiveKind::predicted_decrease : ObjectiveKind::decrement,
          .learning_rate = rate.value_or(1.0)};
      const Certificate expected =
          teleport<double>(*row.objective, *row.symmetry->orbit(*row.objective, by_hand),
                           AutoSearch(), criterion, same, by_hand);
      EXPECT_TRUE(testing::identical(once, by_hand));
      EXPECT_EQ(c.accepted, expected.accepted);
      EXPECT_EQ(c.reason, expected.reason);
      EXPECT_EQ(c.evaluations, expected.evaluations);
    }
  }
}

TEST(Teleport, InOneCallSaysWhatIsMissing) {
  const Booth booth;
  Vector w = booth.start();
  try {
    teleport<double>(booth, w, {});
    ADD_FAILURE();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.field(), "symmetry");
  }
  /// A symmetry that has no orbit anywhere.
  class Unable final : public Symmetry {
   public:
    std::string name() const override { return "unable"; }
    OrbitOrReason<double> orbit(const Objective&, In<double>) const override {
      return OrbitOrReason<double>::none("a batch of 9 does not fit into a width of 4");
    }
  };
  const Unable symmetry;
  const Certificate c = teleport<double>(booth, w, {.symmetry = &symmetry});
  EXPECT_FALSE(c.accepted);
  EXPECT_EQ(c.reason, "a batch of 9 does not fit into a width of 4");
  EXPECT_EQ(c.loss_before, booth.value(w));
  EXPECT_TRUE(testing::identical(w, booth.start()));
}

TEST(Teleport, DefaultTolerancesAreThoseOfThePrecision) {
  EXPECT_EQ(default_drift_tolerance<double>(), 1e-8);
  EXPECT_EQ(default_drift_tolerance<float>(), 1e-4);
}

}  // namespace
}  // namespace symport
