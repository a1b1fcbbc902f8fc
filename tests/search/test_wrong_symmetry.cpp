// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "symport/symport.hpp"

namespace symport {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Whatever the search finds first, the reason is that the statement is wrong.
TEST(WrongSymmetry, IsTheReasonThatIsGiven) {
  const Rosenbrock objective;
  const auto wrong = booth_rotation();
  const OrbitAscent ascent;
  const AngleScan scan;
  for (const Search* search :
       {static_cast<const Search*>(&ascent), static_cast<const Search*>(&scan)}) {
    for (const double rate : {1e-4, 1e-3, 1e-2}) {
      Vector w{{-1.0, -1.0}};
      const Certificate c = teleport<double>(
          objective, w, {.symmetry = &wrong, .search = search, .learning_rate = rate});
      EXPECT_FALSE(c.accepted);
      EXPECT_EQ(w, (Vector{{-1.0, -1.0}}));
      if (c.reason.find("no better point") == std::string::npos) {
        EXPECT_THAT(c.reason, HasSubstr("this is not a symmetry of your loss")) << rate;
      }
    }
  }
}

TEST(WrongSymmetry, IsNotSaidOfARightOne) {
  const Rosenbrock objective;
  const auto right = rosenbrock_rotation();
  const OrbitAscent ascent;
  for (const double cap : {1e-12, 1e-3, 1.5}) {
    Vector w{{-1.0, -1.0}};
    const Certificate c = teleport<double>(
        objective, w, {.symmetry = &right, .search = &ascent, .learning_rate = 1e-3, .cap = cap});
    EXPECT_THAT(c.reason, Not(HasSubstr("not a symmetry")));
    if (!c.accepted) {
      EXPECT_THAT(c.reason, HasSubstr("better points exist, but "));
    }
  }
}

}  // namespace
}  // namespace symport
