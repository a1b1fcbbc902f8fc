// SPDX-License-Identifier: MIT
#include "symport/core/status.hpp"

#include <gtest/gtest.h>

namespace symport {
namespace {

TEST(InvalidArgument, NamesTheFieldWhatWasFoundAndWhatIsAllowed) {
  const InvalidArgument error("learning_rate", "-1", "a finite number > 0");
  EXPECT_STREQ(error.what(), "learning_rate: found -1, allowed is a finite number > 0");
  EXPECT_EQ(error.field(), "learning_rate");
  EXPECT_EQ(error.detail(), "found -1, allowed is a finite number > 0");
}

TEST(InvalidArgument, IsCaughtAsAStandardInvalidArgument) {
  EXPECT_THROW(throw InvalidArgument("a", "b", "c"), std::invalid_argument);
}

TEST(RunStatus, HasAWordForEachOutcome) {
  EXPECT_EQ(to_string(RunStatus::step_limit), "step_limit");
  EXPECT_EQ(to_string(RunStatus::converged), "converged");
  EXPECT_EQ(to_string(RunStatus::diverged), "diverged");
  EXPECT_EQ(to_string(RunStatus::interrupted), "interrupted");
}

}  // namespace
}  // namespace symport
