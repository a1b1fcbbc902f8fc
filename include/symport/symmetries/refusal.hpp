// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

namespace symport {

/// There is no orbit through this point with this data: the input is well-formed, but the symmetry
/// cannot act (a batch that is too large or rank-deficient). `what()` is one line with the numbers.
///
/// Thrown by `BasicSymmetry::orbit`; whoever teleports turns it into a refused certificate.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace symport
