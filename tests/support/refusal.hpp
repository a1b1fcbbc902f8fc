// SPDX-License-Identifier: MIT
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <string>

#include "symport/core/invalid_argument.hpp"

namespace symport::test {

/// What the InvalidArgument that `action` must throw says; a test failure when it throws none.
template <class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.what(), error.field() + ": " + error.detail());
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

}  // namespace symport::test
