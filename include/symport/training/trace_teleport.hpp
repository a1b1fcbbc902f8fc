// SPDX-License-Identifier: MIT
#pragma once

#include "symport/core/types.hpp"

namespace symport {

/// What a teleport, accepted or refused, did to the run: where it was before and after.
struct TraceTeleport {
  Index step = 0;   ///< updates made before it
  Index epoch = 0;  ///< epochs completed before it; 0 with full batches
  Index batch = 0;  ///< the mini-batch of that epoch
  bool accepted = false;
  /// Of the objective that it was made for; with mini-batches, that of the batch. Equal when
  /// refused.
  double loss_before = 0.0, loss_after = 0.0;
  /// The parameters where the trace keeps points, otherwise empty. Equal when refused.
  Vector before{}, after{};
};

}  // namespace symport
