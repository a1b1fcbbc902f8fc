// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "symport/core/types.hpp"

namespace symport {

/// On which data a teleport keeps the loss, and what it did to the loss on other data, where that
/// was measured.
struct Scope {
  enum class Data {
    all,    ///< whatever the data
    batch,  ///< `samples` of the `of` that there are: elsewhere the function changes
    none,   ///< not even on the batch: the action is not loss-invariant
  };

  Data data = Data::all;
  Index samples = 0, of = 0;  ///< 0 where `data` is `all`
  /// Samples on which the loss was measured before and after the teleport (a monitoring set, or the
  /// whole batch where a part of it is kept); 0: it was not.
  Index checked = 0;
  double loss_before = 0.0, loss_after = 0.0;  ///< there

  /// "on all data", "on 6 of 200 samples", "on none of 200 samples"
  std::string text() const;
};
std::string_view to_string(Scope::Data data);  // "all", "batch", "none"

}  // namespace symport
