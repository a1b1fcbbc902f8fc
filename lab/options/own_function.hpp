// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lab/options/registry.hpp"

/// Functions that are typed as a formula, and the symmetries that can be stated of them.
namespace symport::lab {

/// Whether the text is a formula in x1, x2, ... and no name.
bool is_formula(std::string_view text);

/// Of a formula; it knows neither a start nor a minimum (both NaN). Throws InvalidArgument.
std::unique_ptr<TestFunction> make_own_function(const std::string& formula);

/// What --symmetry may say of a formula.
const std::vector<SymmetryEntry>& own_symmetries();
/// "rotation", "rotation:1,2", "scaling:1,-1", "booth", "variables:x1-1,2*x2:x1+1,x2/2", ... for
/// functions of so many variables.
/// Throws InvalidArgument.
std::unique_ptr<Symmetry> make_own_symmetry(const std::string& name, Index dimension);

/// Throws OptionError about "symmetry", with the numbers, where the function changes along the
/// group.
void require_symmetry_of(const Symmetry& symmetry, const TestFunction& function, const Vector& x);

}  // namespace symport::lab
