// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "symport/core/types.hpp"
#include "symport/data/sample_set.hpp"

namespace symport {

/// The paper's regression (section 6.1): four samples, five inputs, eight outputs.
struct RegressionOptions {
  Index features = 5;
  Index outputs = 8;
  Index samples = 4;
  std::uint64_t seed = 0;
};

/// X and Y with independent entries, uniform in [0, 1). X does not depend on `outputs`.
SampleSet<> regression_data(const RegressionOptions& options = {});

struct ClassificationOptions {
  Index features = 2;
  Index classes = 3;
  Index samples = 90;
  double spread = 0.5;  ///< standard deviation around a class's centre; centres are standard normal
  std::uint64_t seed = 0;
};

/// Gaussian clouds: sample i has class i modulo `classes` and lies around that class's centre, so
/// that classes are balanced and every run of `classes` samples holds each once. Centres depend
/// only on seed, features and classes.
SampleSet<> classification_data(const ClassificationOptions& options = {});

struct SpiralOptions {
  Index samples = 1000;
  double turns = 1.5;   ///< of each arm
  double noise = 0.02;  ///< standard deviation of both coordinates; the outer radius is 1
  std::uint64_t seed = 0;
};

/// Two spirals in the plane, one turned by half a circle: the arm of sample i, its class, is i
/// modulo 2, and samples are uniform along the square root of the arm's angle.
SampleSet<> spiral_data(const SpiralOptions& options = {});

}  // namespace symport
