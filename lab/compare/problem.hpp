// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "lab/compare/method.hpp"
#include "lab/runs/run_config.hpp"

namespace symport::lab::compare {

/// What methods are compared on: a test function, or a network on data.
struct Problem {
  std::string name;   ///< as it was written
  RunSpec spec{};     ///< what the runs of all methods have in common
  Arguments given{};  ///< where that was said, for messages

  bool is_function() const { return std::holds_alternative<FunctionRunSpec>(spec); }
  bool minibatch() const;
  bool data_set() const;  ///< neither a function nor generated data
};

/// A function of that name, or else the network of `network` on data of that name. Throws
/// UsageError for a name that is neither. `given` says where the network's options come from.
Problem parse_problem(const std::string& name, const NetworkRunSpec& network,
                      const Arguments& given);

/// The run of this method on this problem: all but rate, seed and length. Throws UsageError when
/// the method does not fit: a symmetry that the problem does not have, an option that its runs do
/// not have.
RunSpec spec_for(const Problem& problem, const Method& method);

/// Calls `action`; an error about an option names the method or the flag that set it.
template <class Action>
decltype(auto) explained(const Problem& problem, const Method& method, Action&& action) {
  Arguments all = method.options;
  all.merge(problem.given);
  return all.explained(std::forward<Action>(action));
}

}  // namespace symport::lab::compare
