// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <iostream>

#include "properties/check_function.hpp"
#include "properties/check_network.hpp"

namespace symport::testing {

/// Runs `count` random teleports of every symmetry, prints the tally and returns how many there
/// were. A failing case is shrunk and printed by rapidcheck.
inline long teleport_at_random(int count) {
  Tally tally;
  std::uint64_t seed = 20220524;  // another one for each property
  const auto check = [&](const std::string& name, const auto& property) {
    rc::detail::TestParams parameters;
    parameters.seed = seed++;
    parameters.maxSuccess = count;
    const auto result =
        rc::detail::checkTestable(property, rc::detail::TestMetadata{name, name}, parameters);
    std::ostringstream said;
    rc::detail::printResultMessage(result, said);
    EXPECT_TRUE(result.template is<rc::detail::SuccessResult>()) << name << ": " << said.str();
  };
  const auto check_network = [&](const std::string& name, const auto& draw) {
    check(name, [&] {
      const NetworkCase c = draw();
      const std::string wrong =
          c.single ? check_network_case<float>(c, tally) : check_network_case<double>(c, tally);
      if (!wrong.empty()) RC_FAIL(wrong + "\n  " + c.text());
    });
  };
  for (const char* symmetry :
       {"gl", "gl", "rescale", "linear_gl", "permutation", "sign_flip", "paper"}) {
    check_network(symmetry, [&] { return draw_network_case(symmetry); });
  }
  for (const char* symmetry : {"rotation", "orthogonal", "factor_pair"}) {
    check(symmetry, [&] {
      const FunctionCase c = draw_function_case(symmetry);
      const std::string wrong = check_function_case(c, tally);
      if (!wrong.empty()) RC_FAIL(wrong + "\n  " + c.text());
    });
  }
  for (const char* symmetry : {"gl", "linear_gl"}) {
    check_network(std::string(symmetry) + " unbounded",
                  [&] { return draw_unbounded_case(symmetry); });
  }
  std::cout << tally.table();
  // A generator that yields only one kind of answer would prove nothing.
  for (const auto& [name, row] : tally.rows()) {
    if (name.ends_with("any drift")) continue;
    EXPECT_GE(row.accepted, row.total() / 20) << name;
    EXPECT_GE(row.refused, row.total() / 100) << name;
  }
  return tally.total();
}

}  // namespace symport::testing
