// SPDX-License-Identifier: MIT
#include "symport/training/image_source.hpp"

#include <fmt/format.h>

#include "symport/core/invalid_argument.hpp"

namespace symport {

template <Real Scalar>
ImageSource<Scalar>::ImageSource(ImageSet images) : images_(std::move(images)) {
  const auto pixels = static_cast<Index>(images_.pixels.size());
  if (pixels < 1 || pixels != images_.size() * images_.features()) {
    throw InvalidArgument("images",
                          fmt::format("{} values for {} images of {} x {} x {}", pixels,
                                      images_.size(), images_.rows, images_.cols, images_.channels),
                          "as many values as the images need, at least one");
  }
}

template <Real Scalar>
void ImageSource<Scalar>::load(std::span<const Index> samples, MatrixOf<Scalar>& X,
                               Targets<Scalar>& targets) const {
  X.resize(features(), static_cast<Index>(samples.size()));
  targets.values.resize(0, 0);
  targets.classes.resize(samples.size());
  Scalar* out = X.data();
  for (std::size_t j = 0; j < samples.size(); ++j) {
    for (const std::uint8_t value : images_.image(samples[j])) *out++ = Scalar(value) / Scalar(255);
    targets.classes[j] = images_.classes[static_cast<std::size_t>(samples[j])];
  }
}

template class ImageSource<float>;
template class ImageSource<double>;

}  // namespace symport
