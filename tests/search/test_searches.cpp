// SPDX-License-Identifier: MIT
#include "support/not_finite.hpp"
#include "symport/search/search.hpp"

#include <gmock/gmock.h>

#include "support/stub_measures.hpp"
#include "support/symmetries.hpp"
#include "support/worth.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/search/angle_scan.hpp"
#include "symport/search/auto_search.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/search/fixed_ascent.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "symport/search/random_search.hpp"
#include "symport/search/teleport.hpp"
#include "symport/symmetries/linear_data.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::distance, testing::numbers_at, testing::StubMeasures, testing::worth;

struct SearchRow {
  std::string name;
  std::shared_ptr<const Search> search;
  bool suits(Orbit& orbit) const {
    if (name == "scan") return orbit.period() > 0.0;
    if (name == "closed") return orbit.has_candidates();
    return true;
  }
};

/// The searches that promise to improve.
std::vector<SearchRow> careful_searches() {
  return {{"ascent", std::make_shared<OrbitAscent>()},
          {"scan", std::make_shared<AngleScan>()},
          {"closed", std::make_shared<ClosedFormSearch>()},
          {"random", std::make_shared<RandomSearch>()},
          {"auto", std::make_shared<AutoSearch>()}};
}

/// Calls `check(search, orbit, objective, start, kind, rate)` for each search on each orbit that it
/// suits, for each kind of objective at rates from tame to unstable.
template <class Check>
void for_each_case(const std::vector<SearchRow>& searches, const Check& check) {
  Random random(101);
  for (const auto& row : testing::symmetry_table()) {
    for (const Vector& w : testing::symmetry_points(*row.objective, random)) {
      const double lambda =
          largest_curvature<double>(*row.objective, w, Vector::Ones(w.size()), w.size());
      for (const auto& search : searches) {
        for (const ObjectiveKind kind : testing::all_objective_kinds) {
          for (const double stability : {0.01, 0.5, 1.8}) {
            const double rate = stability / std::max(std::abs(lambda), 1.0);
            const auto orbit = row.symmetry->orbit(*row.objective, w);
            if (!search.suits(*orbit)) continue;
            SCOPED_TRACE(search.name + " on " + row.name + ", " + std::string(to_string(kind)) +
                         ", rate " + std::to_string(rate) + ", from " +
                         ::testing::PrintToString(w.transpose()));
            check(*search.search, *orbit, *row.objective, w, kind, rate);
          }
        }
      }
    }
  }
}

TEST(CarefulSearches, NeverReturnAWorsePointThanTheStart) {
  int accepted = 0, refused = 0;
  for_each_case(careful_searches(), [&](const Search& search, BasicOrbit<double>& orbit,
                                        const Objective& objective, const Vector& start,
                                        ObjectiveKind kind, double rate) {
    Random random(102);
    Vector w = start;
    const Certificate c = teleport<double>(objective, orbit, search,
                                           {.objective = kind, .learning_rate = rate}, random, w);
    EXPECT_FALSE(c.reason.empty());
    if (!c.accepted) {
      ++refused;
      EXPECT_TRUE(testing::identical(w, start)) << c.reason;
      return;
    }
    ++accepted;
    const double before = worth(kind, rate, numbers_at(objective, start));
    const double after = worth(kind, rate, numbers_at(objective, w));
    const bool undefined =
        kind == ObjectiveKind::decrement && numbers_at(objective, start).curvature <= 0;
    if (!undefined) {
      EXPECT_GE(after, before - tolerance::accumulated * std::abs(before));
    }
    EXPECT_LE(c.drift, tolerance::drift);
  });
  EXPECT_GT(accepted, 500);
  EXPECT_GT(refused, 20);
}

/// Whether eta lambda_max and the next loss keep to the default cap, from dense eigenvalues.
bool keeps_the_cap(const Objective& objective, const Vector& start, const Vector& w, double rate) {
  const auto largest = [&](const Vector& at) {
    return largest_curvature<double>(objective, at, Vector::Ones(at.size()), at.size());
  };
  const auto next_loss = [&](const Vector& at) {
    Vector g(at.size());
    objective.gradient(at, g);
    return objective.value(at - rate * g);
  };
  // Twelve Lanczos steps are exact up to twelve variables, and good to a few per cent beyond.
  const double slack = 1.0 + (w.size() <= 12 ? tolerance::difference : 0.05);
  const bool spectral = rate * largest(w) <= 1.5 * slack ||
                        (largest(w) <= largest(start) * slack && rate * largest(w) < 2.0 * slack);
  return spectral && next_loss(w) <= next_loss(start) * slack;
}

TEST(CarefulSearches, RespectTheCap) {
  int unchecked_violations = 0;
  for_each_case(careful_searches(), [&](const Search& search, BasicOrbit<double>& orbit,
                                        const Objective& objective, const Vector& start,
                                        ObjectiveKind kind, double rate) {
    if (kind == ObjectiveKind::decrement) return;
    Random random(103);
    Vector w = start;
    const Certificate c =
        teleport<double>(objective, orbit, search,
                         {.objective = kind, .learning_rate = rate, .cap = 1.5}, random, w);
    if (c.accepted) {
      EXPECT_TRUE(keeps_the_cap(objective, start, w, rate)) << c.reason;
    }
  });
  // The check can fail: without a cap it does.
  for_each_case({careful_searches()[0]}, [&](const Search& search, BasicOrbit<double>& orbit,
                                             const Objective& objective, const Vector& start,
                                             ObjectiveKind kind, double rate) {
    Random random(103);
    Vector w = start;
    const Certificate c =
        teleport<double>(objective, orbit, search,
                         {.objective = kind, .learning_rate = rate, .cap = infinity}, random, w);
    unchecked_violations += c.accepted && !keeps_the_cap(objective, start, w, rate);
  });
  EXPECT_GT(unchecked_violations, 0);
}

TEST(CarefulSearches, RespectTheBound) {
  int unchecked_violations = 0;
  const auto ratio = [](const Certificate& c, double rate) {
    return rate * c.curvature_after / c.grad_sq_after;
  };
  for_each_case(careful_searches(), [&](const Search& search, BasicOrbit<double>& orbit,
                                        const Objective& objective, const Vector& start,
                                        ObjectiveKind kind, double rate) {
    for (const double bound : {0.5, infinity}) {
      Random random(104);
      Vector w = start;
      const Certificate c = teleport<double>(
          objective, orbit, search,
          {.objective = kind, .learning_rate = rate, .bound = bound, .cap = infinity}, random, w);
      if (!c.accepted) continue;
      if (std::isfinite(bound)) {
        EXPECT_LE(ratio(c, rate), bound * (1.0 + tolerance::accumulated)) << c.reason;
      } else {
        unchecked_violations += ratio(c, rate) > 0.5;
      }
    }
  });
  EXPECT_GT(unchecked_violations, 0);
}

TEST(CarefulSearches, GoNowhereFromACriticalPointOfTheCriterion) {
  // Every direction of a sphere is alike.
  const Ellipse circle(1.0);
  const auto symmetry = ellipse_rotation(1.0);
  for (const auto& row : careful_searches()) {
    if (row.name == "closed") continue;
    Vector w{{0.6, 0.8}};
    const auto orbit = symmetry.orbit(circle, w);
    Random random(105);
    const Certificate c =
        teleport<double>(circle, *orbit, *row.search, {.learning_rate = 0.1}, random, w);
    // Rounding may call one of two equal points better; nothing else may happen.
    EXPECT_NEAR(w.norm(), 1.0, tolerance::rounding) << row.name;
    EXPECT_LE(distance(c.grad_sq_after, c.grad_sq_before), tolerance::rounding) << row.name;
  }
}

TEST(AutoSearch, TakesTheScanTheClosedFormOrTheAscent) {
  const auto reason = [](const MatrixSymmetry& symmetry, const TestFunction& f) {
    Random random(106);
    Vector w = f.start();
    w[0] += 0.1;
    return teleport<double>(f, *symmetry.orbit(f, w), AutoSearch(),
                            {.objective = ObjectiveKind::gradient_norm}, random, w)
        .reason;
  };
  EXPECT_THAT(reason(booth_rotation(), Booth()), ::testing::HasSubstr("scan"));
  const auto quadratic = testing::dense_quadratic(4);
  EXPECT_THAT(reason(OrthogonalSymmetry(quadratic), quadratic),
              ::testing::HasSubstr("closed form"));
  const auto pair = MatrixFactorization::random(3, 4, 2, 5);
  EXPECT_THAT(reason(FactorPairSymmetry(pair), pair), ::testing::HasSubstr("closed form"));
  EXPECT_THAT(reason(rosenbrock_rotation(2), Rosenbrock(2)), ::testing::HasSubstr("ascent"));
}

TEST(OrbitAscent, ImprovesALinearModelWithItsData) {
  const auto model = testing::random_linear_model(2, 3, 5);
  Random random(107);
  for (const ObjectiveKind kind : testing::all_objective_kinds) {
    Vector w = testing::random_vector(6, random);
    const auto orbit = LinearDataSymmetry().orbit(model, w);
    const double before = worth(kind, 0.02, numbers_at(model, w));
    const Certificate c = teleport<double>(model, *orbit, OrbitAscent(),
                                           {.objective = kind, .learning_rate = 0.02}, random, w);
    ASSERT_TRUE(c.accepted) << c.reason;
    EXPECT_GT(worth(kind, 0.02, numbers_at(orbit->objective(), w)), before);
    EXPECT_LE(c.drift, tolerance::drift);
  }
}

TEST(OrbitAscent, ApproachesTheClosedFormOfAQuadratic) {
  const auto quadratic = testing::dense_quadratic(4);
  const OrthogonalSymmetry symmetry(quadratic);
  Random random(108);
  Vector w = testing::random_vector(4, random);
  const double loss = quadratic.value(w);
  teleport<double>(quadratic, *symmetry.orbit(quadratic, w), OrbitAscent({.max_steps = 200}),
                   {.objective = ObjectiveKind::gradient_norm}, random, w);
  const double best = 4.0 * loss * symmetry.eigenvalues().maxCoeff();
  EXPECT_LE(distance(numbers_at(quadratic, w).grad_sq, best), 1e-3);
}

TEST(RandomSearch, GoesToTheBestSampleOrTheFirst) {
  const Booth booth;
  const auto symmetry = booth_rotation();
  Random replay(109);
  std::vector<Vector> samples;
  for (int i = 0; i < 10; ++i) {
    const auto orbit = symmetry.orbit(booth, booth.start());
    orbit->randomize(replay, 0.5);
    samples.emplace_back(2);
    orbit->commit(samples.back());
  }
  const auto grad_sq = [&](const Vector& w) { return numbers_at(booth, w).grad_sq; };
  const auto search = [&](const RandomSearchOptions& options) {
    Random random(109);
    Vector w = booth.start();
    const Certificate c = teleport<double>(booth, *symmetry.orbit(booth, w), RandomSearch(options),
                                           {.objective = ObjectiveKind::gradient_norm}, random, w);
    EXPECT_TRUE(c.accepted) << c.reason;
    return w;
  };
  const auto best =
      std::max_element(samples.begin(), samples.end(),
                       [&](const auto& a, const auto& b) { return grad_sq(a) < grad_sq(b); });
  EXPECT_TRUE(testing::identical(search({.samples = 10}), *best));
  EXPECT_TRUE(testing::identical(search({.samples = 1, .keep_the_best = false}), samples.front()));
}

// Three of four rotations leave the positive quadrant; nearly every other is better than the start.
TEST(RandomSearch, PassesOverElementsThatLeaveTheDomain) {
  const auto symmetry = testing::positive_rotation(2);
  const auto objective = testing::positive_objective(2);
  const Vector start{{0.01, 0.0}};
  int found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const Index samples : {1, 10}) {
      Random random(seed);
      Vector w = start;
      const Certificate c = teleport<double>(
          *objective, *symmetry.orbit(*objective, w), RandomSearch({.samples = samples}),
          {.objective = ObjectiveKind::gradient_norm}, random, w);
      EXPECT_EQ(c.accepted, numbers_at(*objective, w).grad_sq > c.grad_sq_before) << c.reason;
      EXPECT_EQ(c.accepted, !testing::identical(w, start));
      if (samples == 10) found += c.accepted;
    }
  }
  EXPECT_GE(found, 15);
}

/// Going anywhere asks nothing about where that is: only the certificate is paid for.
TEST(RandomSearch, CostsLessWhenItLooksAtNoObjective) {
  const auto problem = MatrixFactorization::random(3, 4, 2, 5);
  const FactorPairSymmetry symmetry(problem);
  const auto cost = [&](bool keep_the_best) {
    Random random(109);
    Vector w = problem.start();
    const RandomSearch search({.samples = 2, .keep_the_best = keep_the_best});
    return teleport<double>(problem, *symmetry.orbit(problem, w), search, {.learning_rate = 1e-3},
                            random, w)
        .evaluations;
  };
  EXPECT_LT(cost(false), cost(true));
  EXPECT_LE(cost(false), 8.0);  // J and Phi at both ends, the loss twice
}

TEST(ClosedFormSearch, UsesAGivenBound) {
  const auto problem = MatrixFactorization::random(3, 4, 2, 5);
  const FactorPairSymmetry symmetry(problem);
  Random random(110);
  Vector w = problem.start();
  const Certificate c =
      teleport<double>(problem, *symmetry.orbit(problem, w), ClosedFormSearch({.kappa = 3.0}),
                       {.objective = ObjectiveKind::gradient_norm}, random, w);
  ASSERT_TRUE(c.accepted) << c.reason;
  EXPECT_LE(c.condition, 9.0 * (1.0 + tolerance::rounding));
  EXPECT_THAT(c.reason, ::testing::HasSubstr("kappa 3"));
}

TEST(Searches, RefuseOrbitsThatTheyAreNotMadeFor) {
  Random random(111);
  const Rosenbrock four(2);
  const auto rotations = rosenbrock_rotation(2);
  StubMeasures measures;
  Criterion criterion(CriterionOptions{}, measures);
  EXPECT_THROW(AngleScan().run(*rotations.orbit(four, four.start()), criterion, random),
               std::logic_error);
  EXPECT_THROW(ClosedFormSearch().run(*rotations.orbit(four, four.start()), criterion, random),
               std::logic_error);
}

struct BadOption {
  std::string field;
  std::function<void()> make;
};

TEST(Searches, RefuseBadOptionsByField) {
  const double nan = std::nan("");
  const auto refuse = [](const CriterionOptions& options) {
    StubMeasures measures;
    Criterion(options, measures);
  };
  const std::vector<BadOption> table = {
      {"max_steps", [] { OrbitAscent({.max_steps = 0}); }},
      {"step_size", [] { OrbitAscent({.step_size = 0.0}); }},
      {"step_size", [=] { OrbitAscent({.step_size = nan}); }},
      {"growth", [] { OrbitAscent({.growth = 0.5}); }},
      {"shrink", [] { OrbitAscent({.shrink = 1.0}); }},
      {"shrink", [] { OrbitAscent({.shrink = 0.0}); }},
      {"max_backtracks", [] { OrbitAscent({.max_backtracks = -1}); }},
      {"max_length", [] { OrbitAscent({.step_size = 0.5, .max_length = 0.1}); }},
      {"steps", [] { FixedAscent({.steps = 0}); }},
      {"rate", [] { FixedAscent({.rate = -0.1}); }},
      {"rate", [] { FixedAscent({.rate = infinity}); }},
      {"points", [] { AngleScan({.points = 3}); }},
      {"refinements", [] { AngleScan({.refinements = -1}); }},
      {"kappa", [] { ClosedFormSearch({.kappa = 0.5}); }},
      {"max_kappa", [] { ClosedFormSearch({.max_kappa = 1.0}); }},
      {"trials", [] { ClosedFormSearch({.trials = 0}); }},
      {"samples", [] { RandomSearch({.samples = 0}); }},
      {"spread", [] { RandomSearch({.spread = 0.0}); }},
      {"learning_rate", [=] { refuse({.learning_rate = -1.0}); }},
      {"learning_rate", [=] { refuse({.learning_rate = nan}); }},
      {"learning_rate", [=] { refuse({.learning_rate = infinity}); }},
      {"bound", [=] { refuse({.bound = 0.0}); }},
      {"cap", [=] { refuse({.cap = -1.0}); }},
      {"cap", [=] { refuse({.cap = nan}); }},
  };
  for (std::size_t i = 0; i < table.size(); ++i) {
    try {
      table[i].make();
      ADD_FAILURE() << "row " << i << " (" << table[i].field << ") was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.field(), table[i].field) << "row " << i << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace symport
