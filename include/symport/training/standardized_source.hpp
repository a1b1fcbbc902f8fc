// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "symport/training/batch_source.hpp"

namespace symport {

/// Means and standard deviations (divided by n, not n - 1) of the features of some samples, and of
/// their targets where these are numbers. A constant has the scale 1.
template <Real Scalar>
struct Standardization {
  VectorOf<Scalar> feature_mean, feature_scale;
  VectorOf<Scalar> target_mean, target_scale;  ///< empty where targets are classes

  /// Sums are in double. Throws InvalidArgument without a sample.
  static Standardization of(const BatchSource<Scalar>& source, std::span<const Index> samples);
};

/// Another source with every feature x, and every target that is a number, replaced by
///
///   (x - mean) / scale
///
/// where mean and scale are those of the samples that are trained on, whatever is loaded: nothing
/// about other samples enters, and a constant becomes 0.
template <Real Scalar>
class StandardizedSource final : public BatchSource<Scalar> {
 public:
  /// Throws InvalidArgument when the source has another number of features.
  StandardizedSource(std::shared_ptr<const BatchSource<Scalar>> source,
                     Standardization<Scalar> statistics);

  Index samples() const override { return source_->samples(); }
  Index features() const override { return source_->features(); }
  bool categorical() const override { return source_->categorical(); }
  void load(std::span<const Index> samples, MatrixOf<Scalar>& X,
            Targets<Scalar>& targets) const override;

 private:
  std::shared_ptr<const BatchSource<Scalar>> source_;
  Standardization<Scalar> statistics_;
};

}  // namespace symport
