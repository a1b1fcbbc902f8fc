// SPDX-License-Identifier: MIT
#include "symport/training/run_status.hpp"

#include <gtest/gtest.h>

namespace symport {
namespace {

TEST(RunStatus, HasAWordForEachOutcome) {
  EXPECT_EQ(to_string(RunStatus::step_limit), "step_limit");
  EXPECT_EQ(to_string(RunStatus::converged), "converged");
  EXPECT_EQ(to_string(RunStatus::diverged), "diverged");
  EXPECT_EQ(to_string(RunStatus::interrupted), "interrupted");
}

}  // namespace
}  // namespace symport
