// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "lab/text/errors.hpp"

namespace symport::lab {

/// What was given, or what the file of the weights says; both must agree. Throws OptionError where
/// they do not, or where nobody says it.
template <class Value>
Value settled(const char* option, const std::optional<Value>& given,
              const std::optional<Value>& in_file, const std::string& file,
              const std::string& names) {
  if (given && in_file && *given != *in_file) {
    throw OptionError(option, fmt::format("found {}, but the weights in '{}' are of a network with "
                                          "{}",
                                          given->name(), file, in_file->name()));
  }
  if (given) return *given;
  if (in_file) return *in_file;
  throw OptionError(
      option, fmt::format("missing, and '{}' does not name it; weights alone do not tell, and "
                          "with a wrong one this is another network. Allowed is {}",
                          file, names));
}

}  // namespace symport::lab
