// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lab/options/arguments.hpp"
#include "lab/options/option.hpp"

/// The parts of the module, each in its own file.
namespace symport::python {

namespace nb = nanobind;

void bind_runs(nb::module_& m);  // first: the others return its types
void bind_functions(nb::module_& m);
void bind_networks(nb::module_& m);
void bind_gauges(nb::module_& m);

/// Options as Python gives them: names of the option table with their texts.
using Texts = std::vector<std::pair<std::string, std::string>>;

/// For an option table. Throws UsageError for a name that is not in `known`, with the nearest.
lab::Arguments to_arguments(const Texts& texts, const std::vector<lab::Option>& known);

/// An option's name as a keyword argument: search-steps is search_steps.
std::string keyword_of(std::string option);

/// Calls `action`; an error about an option names its keyword.
template <class Action>
decltype(auto) explained(Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const lab::OptionError& error) {
    throw lab::UsageError(keyword_of(error.option()), error.detail());
  }
}

/// Raises what a signal asks for (KeyboardInterrupt), at most a few times a second. Takes the GIL
/// where it is not held.
class SignalCheck {
 public:
  void operator()();

 private:
  double next_ = 0.0;
};

/// warnings.warn(text); takes the GIL where it is not held.
void warn(const std::string& text);

}  // namespace symport::python
