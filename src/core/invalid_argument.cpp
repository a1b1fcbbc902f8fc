// SPDX-License-Identifier: MIT
#include "symport/core/invalid_argument.hpp"

namespace symport {

InvalidArgument::InvalidArgument(std::string field, const std::string& found,
                                 const std::string& allowed)
    : std::invalid_argument(field + ": found " + found + ", allowed is " + allowed),
      field_(std::move(field)),
      detail_("found " + found + ", allowed is " + allowed) {}

}  // namespace symport
