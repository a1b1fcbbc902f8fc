// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "symport/symmetries/orbit.hpp"

namespace symport::testing {

/// Ascends from w in some steps of different weights and lengths; backwards moves and failed trials
/// are part of it.
template <class Scalar>
void wander(BasicOrbit<Scalar>& orbit, int steps, double length) {
  for (int step = 0; step < steps; ++step) {
    const double scale = orbit.grad_sq() / std::max(std::abs(orbit.curvature()), 1e-30);
    ASSERT_GT(orbit.aim({1.0, step % 2 == 0 ? 0.0 : -0.3 * scale}), 0.0);
    ASSERT_TRUE(orbit.move(2 * length));
    orbit.back();
    ASSERT_TRUE(orbit.move(length));
  }
}

}  // namespace symport::testing
