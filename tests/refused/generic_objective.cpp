// SPDX-License-Identifier: MIT
// Not a program: a loss that is not generic, which the compiler must refuse in words.
#include <symport/objectives/generic_objective.hpp>

const symport::GenericObjective objective(2, [](const symport::Vector& x) { return x[0] * x[0]; });
