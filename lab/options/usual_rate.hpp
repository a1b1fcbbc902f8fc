// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "lab/options/rate_spec.hpp"

namespace symport::lab {

/// The optimizer of this name finds its own steps, and no rate can be given: L-BFGS and its like.
bool finds_its_own_steps(const std::string& optimizer);

/// The rate of a run where none is given: `auto` for such an optimizer, else the optimizer's own,
/// if it has one, else that of the problem, which suits gradient descent, or a share of it.
RateSpec usual_network_rate(const std::string& optimizer, double of_the_problem);
RateSpec usual_function_rate(const std::string& optimizer, double of_the_problem);

}  // namespace symport::lab
