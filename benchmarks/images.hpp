// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "symport/data/idx.hpp"
#include "symport/objectives/mlp_objective.hpp"
#include "symport/training/batch_source.hpp"

namespace symport::benchmarks {

/// 60,000 images of 28 x 28 in 10 classes.
struct Images {
  ImageSet set;
  bool mnist = false;  ///< else generated: the same shape, other numbers
};

/// MNIST where `symport data fetch mnist` puts it, or generated images.
Images load_images();

/// Mini-batches from 8-bit images, as numbers in [0, 1].
class ImageSource final : public BatchSource<float> {
 public:
  explicit ImageSource(const ImageSet& images) : images_(images) {}
  Index samples() const override { return images_.size(); }
  Index features() const override { return images_.rows * images_.cols; }
  void load(std::span<const Index> samples, MatrixOf<float>& X,
            Targets<float>& targets) const override;

 private:
  const ImageSet& images_;
};

/// 784-512-512-10 with leaky_relu:0.1 and the mean cross-entropy, on the first images.
struct ImageProblem {
  MlpObjective<float> objective;
  VectorOf<float> w;
};
ImageProblem image_problem(const ImageSet& images, Index samples);

}  // namespace symport::benchmarks
