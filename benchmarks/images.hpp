// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "symport/data/idx.hpp"
#include "symport/objectives/mlp_objective.hpp"
#include "symport/training/image_source.hpp"

namespace symport::benchmarks {

/// 60,000 images of 28 x 28 in 10 classes.
struct Images {
  ImageSource<float> source;
  bool mnist = false;  ///< else generated: the same shape, other numbers
};

/// MNIST where `symport data fetch mnist` puts it, or generated images.
Images load_images();

/// 784-512-512-10 with leaky_relu:0.1 and the mean cross-entropy, on the first images.
struct ImageProblem {
  MlpObjective<float> objective;
  VectorOf<float> w;
};
ImageProblem image_problem(const ImageSource<float>& images, Index samples);

}  // namespace symport::benchmarks
