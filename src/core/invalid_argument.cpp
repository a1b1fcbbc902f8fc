// SPDX-License-Identifier: MIT
#include "symport/core/invalid_argument.hpp"

namespace symport {

InvalidArgument::InvalidArgument(std::string field, const std::string& found,
                                 const std::string& allowed)
    : InvalidArgument(std::move(field), "found " + found + ", allowed is " + allowed) {}

InvalidArgument::InvalidArgument(std::string field, std::string detail)
    : std::invalid_argument(field + ": " + detail),
      field_(std::move(field)),
      detail_(std::move(detail)) {}

}  // namespace symport
