// SPDX-License-Identifier: MIT
#pragma once

#include "symport/data/image_set.hpp"
#include "symport/training/batch_source.hpp"

namespace symport {

/// Images that stay 8-bit in memory and become numbers batch by batch: a value v becomes v/255,
/// rounded once, so 0 to 1; one feature per value of an image, in its order.
template <Real Scalar>
class ImageSource final : public BatchSource<Scalar> {
 public:
  /// Throws InvalidArgument unless there is at least one image, of at least one value, and there
  /// are as many pixels as the images need.
  explicit ImageSource(ImageSet images);

  const ImageSet& images() const { return images_; }
  Index samples() const override { return images_.size(); }
  Index features() const override { return images_.features(); }
  bool categorical() const override { return true; }
  void load(std::span<const Index> samples, MatrixOf<Scalar>& X,
            Targets<Scalar>& targets) const override;

 private:
  ImageSet images_;
};

}  // namespace symport
