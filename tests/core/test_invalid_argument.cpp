// SPDX-License-Identifier: MIT
#include "symport/core/invalid_argument.hpp"

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

}  // namespace
}  // namespace symport
