// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "lab/compare/method.hpp"
#include "symport/core/types.hpp"

namespace symport::lab::compare {

/// What methods are compared on: a test function (run as by `symport optimize`), or a network on
/// data (as by `symport train`).
struct Problem {
  std::string name;  ///< as it was written
  bool function = true;
  bool minibatch = false;
  Given options{};  ///< of the command: function, or data, layers, batch, ...

  bool data_set() const;  ///< neither a function nor generated data
};

/// Throws UsageError for a name that is neither a function nor data, and for options of networks
/// (`given`) on a function.
Problem parse_problem(const std::string& name, const Given& given);

/// The options of `given` that belong to networks and are not the methods'.
const std::vector<std::string>& network_options();

/// The options with which the command runs this method on this problem, all but rate, seed and
/// length. Throws UsageError when the method does not fit: a symmetry that the problem does not
/// have, an option that its command does not know.
Given options_for(const Problem& problem, const Method& method);

}  // namespace symport::lab::compare
