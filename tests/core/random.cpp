// SPDX-License-Identifier: MIT
#include "symport/core/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <stdexcept>
#include <vector>

#include "support/numbers.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using Words = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

/// Philox4x32-10 written out (Salmon et al., 2011, section 3.3).
Words philox(Words x, Key key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * x[0], b = 0xCD9E8D57ull * x[2];
    x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return x;
}

std::uint32_t low(std::uint64_t n) { return static_cast<std::uint32_t>(n); }
std::uint32_t high(std::uint64_t n) { return static_cast<std::uint32_t>(n >> 32); }

/// The word that a generator in this state must give next.
std::uint32_t expected_word(const Random::State& s) {
  const std::uint64_t block = s.position / 4;
  return philox({low(block), high(block), low(s.stream), high(s.stream)},
                {low(s.seed), high(s.seed)})[s.position % 4];
}

TEST(Random, BeginsWithThePublishedAnswerForZeroKeyAndCounter) {
  Random random(0);
  EXPECT_EQ(random.bits(), 0x6627e8d5u);
  EXPECT_EQ(random.bits(), 0xe169c58du);
  EXPECT_EQ(random.bits(), 0xbc57ac4cu);
  EXPECT_EQ(random.bits(), 0x9b00dbd8u);
}

TEST(Random, ReferenceOfTheseTestsGivesThePublishedAnswers) {
  constexpr std::uint32_t ones = 0xffffffffu;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, IsPhiloxOfSeedStreamAndPosition) {
  const std::vector<Random::State> states = {
      {0, 0, 4},
      {1, 0, 0},
      {0, 1, 0},
      {0x299f31d0a4093822ull, 0x0370734413198a2eull, 0},
      {~0ull, ~0ull, 4 * 0xffffffffull},  // the block number passes 32 bits within the loop
      {42, 7, 0x123456789abcdefull}};
  for (const Random::State& start : states) {
    Random random(start);
    for (int i = 0; i < 9; ++i) {
      const Random::State state = random.state();
      ASSERT_EQ(random.bits(), expected_word(state))
          << "seed " << start.seed << " stream " << start.stream << " position " << state.position;
    }
    EXPECT_EQ(random.state().position, start.position + 9);
  }
}

TEST(Random, ContinuesFromASavedStateInTheMiddleOfABlock) {
  Random random(3, 5);
  for (int drawn = 0; drawn < 12; ++drawn) {
    Random restored(random.state());
    EXPECT_EQ(restored.state(), random.state());
    for (int i = 0; i < 3; ++i) ASSERT_EQ(restored.normal(), Random(random).normal()) << drawn;
    ASSERT_EQ(Random(random.state()).uniform(), random.uniform()) << drawn;
    random.bits();
  }
}

TEST(Random, StreamsDoNotInterfere) {
  Random alone(9, 1), first(9, 1), second(9, 2);
  for (int i = 0; i < 100; ++i) {
    second.normal();
    ASSERT_EQ(first.bits(), alone.bits());
  }
}

TEST(Random, StreamsAndSeedsAreUncorrelated) {
  constexpr int n = 20000;
  Random a(9, 1), b(9, 2), c(10, 1);
  double ab = 0.0, ac = 0.0;
  for (int i = 0; i < n; ++i) {
    const double x = a.uniform() - 0.5;
    ab += x * (b.uniform() - 0.5);
    ac += x * (c.uniform() - 0.5);
  }
  const double deviation = std::sqrt(n) / 12.0;
  EXPECT_LE(std::abs(ab), tolerance::sigmas * deviation);
  EXPECT_LE(std::abs(ac), tolerance::sigmas * deviation);
}

TEST(Random, UniformIsInTheUnitIntervalWithFiftyThreeBits) {
  Random random(1);
  constexpr int n = 20000;
  double sum = 0.0;
  int finer_than_32_bits = 0;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ASSERT_EQ(std::ldexp(u, 53), std::floor(std::ldexp(u, 53)));
    finer_than_32_bits += std::ldexp(u, 32) != std::floor(std::ldexp(u, 32));
    sum += u;
  }
  EXPECT_GT(finer_than_32_bits, n - 10);
  EXPECT_NEAR(sum / n, 0.5, tolerance::sigmas / std::sqrt(12.0 * n));
}

TEST(Random, NormalHasTheMomentsOfTheNormalDistribution) {
  Random random(2);
  constexpr int n = 50000;
  double sum = 0.0, squares = 0.0, fourth = 0.0;
  int within_one = 0;
  for (int i = 0; i < n; ++i) {
    const double x = random.normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    within_one += std::abs(x) < 1.0;
  }
  const double root = std::sqrt(static_cast<double>(n));
  EXPECT_NEAR(sum / n, 0.0, tolerance::sigmas / root);
  EXPECT_NEAR(squares / n, 1.0, tolerance::sigmas * std::sqrt(2.0) / root);
  EXPECT_NEAR(fourth / n, 3.0, tolerance::sigmas * std::sqrt(96.0) / root);
  EXPECT_NEAR(within_one / static_cast<double>(n), std::erf(std::sqrt(0.5)),
              tolerance::sigmas * 0.47 / root);
}

TEST(Random, BelowReachesEveryNumberEquallyOften) {
  Random random(4);
  for (const Index n : {1, 2, 3, 7, 10}) {
    constexpr int draws = 20000;
    std::vector<int> count(static_cast<std::size_t>(n));
    for (int i = 0; i < draws; ++i) {
      const Index drawn = random.below(n);
      ASSERT_GE(drawn, 0);
      ASSERT_LT(drawn, n);
      ++count[static_cast<std::size_t>(drawn)];
    }
    const double p = 1.0 / static_cast<double>(n);
    for (const int c : count) {
      EXPECT_NEAR(c, draws * p, tolerance::sigmas * std::sqrt(draws * p * (1.0 - p)) + 1e-9) << n;
    }
  }
}

// A remainder of 64 random bits would fall below 2^62 three times out of four.
TEST(Random, BelowHasNoBiasWhereARemainderWould) {
  Random random(5);
  const Index n = Index{3} << 61;
  constexpr int draws = 20000;
  int in_first_two_thirds = 0;
  for (int i = 0; i < draws; ++i) in_first_two_thirds += random.below(n) < (Index{1} << 62);
  EXPECT_NEAR(in_first_two_thirds, draws * 2.0 / 3.0, tolerance::sigmas * std::sqrt(draws * 2 / 9.0));
}

TEST(Random, BelowOfNothingIsABrokenPrecondition) {
  EXPECT_THROW(Random(1).below(0), std::logic_error);
  EXPECT_THROW(Random(1).below(-3), std::logic_error);
}

TEST(Random, NormalMatrixIsFilledColumnByColumn) {
  Random matrices(6), numbers(6);
  const Matrix A = matrices.normal_matrix(3, 2);
  for (Index j = 0; j < 2; ++j) {
    for (Index i = 0; i < 3; ++i) EXPECT_EQ(A(i, j), numbers.normal());
  }
}

}  // namespace
}  // namespace symport
