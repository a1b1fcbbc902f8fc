// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "symport/search/criterion.hpp"
#include "symport/symmetries/orbit.hpp"

namespace symport {

struct SearchOutcome {
  bool improved = false;  ///< the orbit's current point is a candidate to be committed
  std::string reason;     ///< one line for the certificate
  /// The candidate was chosen because the criterion, after its `begin`, prefers it to the start.
  /// `teleport` then asks the criterion again, with numbers measured on the parameters.
  bool preferred = false;
};

/// Finds the destination of a teleport. It knows about orbits, not about networks.
///
/// `run` leaves the orbit at the best point that it evaluated; when that is no better than the
/// start, `improved` is false. (FixedAscent and RandomSearch, baselines from the literature, say in
/// their headers where they differ.)
class Search {
 public:
  virtual ~Search() = default;
  virtual std::string_view name() const = 0;
  /// Whether the search can work on this kind of orbit; `run` requires it.
  virtual bool fits(const Orbit&) const { return true; }
  /// Whether it compares points; false: what it finds is accepted as it is.
  virtual bool compares() const { return true; }
  virtual SearchOutcome run(Orbit& orbit, Criterion& criterion, Random& random) const = 0;
};

}  // namespace symport
