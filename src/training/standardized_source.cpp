// SPDX-License-Identifier: MIT
#include "symport/training/standardized_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

constexpr std::size_t at_once = 1000;  // few, so that images of a large set need little memory

/// Sums of the rows of matrices that come piece by piece, in two passes: first the mean, then the
/// squares of what is left, so that nothing cancels.
struct Moments {
  Vector mean{}, squares{};

  template <class Piece>
  void add_to_mean(const Piece& piece) {
    if (mean.size() == 0) mean = squares = Vector::Zero(piece.rows());
    mean += piece.template cast<double>().rowwise().sum();
  }
  template <class Piece>
  void add_squares(const Piece& piece) {
    squares += (piece.template cast<double>().colwise() - mean).rowwise().squaredNorm();
  }
  template <Real Scalar>
  VectorOf<Scalar> scales(double count) const {
    Vector scale = (squares / count).cwiseSqrt();
    // A constant that was rounded in its mean has a tiny one.
    for (Index i = 0; i < scale.size(); ++i) {
      if (!(scale[i] > 1e-12 * std::abs(mean[i]))) scale[i] = 1.0;
    }
    return scale.template cast<Scalar>();
  }
};

}  // namespace

template <Real Scalar>
Standardization<Scalar> Standardization<Scalar>::of(const BatchSource<Scalar>& source,
                                                    std::span<const Index> samples) {
  if (samples.empty()) throw InvalidArgument("samples", "none", "at least one");
  const bool numbers = !source.categorical();
  MatrixOf<Scalar> X;
  Targets<Scalar> targets;
  const auto for_pieces = [&](const auto& action) {
    for (std::size_t first = 0; first < samples.size(); first += at_once) {
      source.load(samples.subspan(first, std::min(at_once, samples.size() - first)), X, targets);
      action();
    }
  };
  const auto count = static_cast<double>(samples.size());
  Moments features, outputs;
  for_pieces([&] {
    features.add_to_mean(X);
    if (numbers) outputs.add_to_mean(targets.values);
  });
  features.mean /= count;
  outputs.mean /= count;
  for_pieces([&] {
    features.add_squares(X);
    if (numbers) outputs.add_squares(targets.values);
  });
  return {features.mean.cast<Scalar>(), features.scales<Scalar>(count), outputs.mean.cast<Scalar>(),
          outputs.scales<Scalar>(count)};
}

template <Real Scalar>
StandardizedSource<Scalar>::StandardizedSource(std::shared_ptr<const BatchSource<Scalar>> source,
                                               Standardization<Scalar> statistics)
    : source_(std::move(source)), statistics_(std::move(statistics)) {
  if (statistics_.feature_mean.size() == source_->features()) return;
  throw InvalidArgument("features", fmt::format("{}", source_->features()),
                        fmt::format("{}, as in the training set", statistics_.feature_mean.size()));
}

template <Real Scalar>
void StandardizedSource<Scalar>::load(std::span<const Index> samples, MatrixOf<Scalar>& X,
                                      Targets<Scalar>& targets) const {
  source_->load(samples, X, targets);
  const auto apply = [](MatrixOf<Scalar>& values, const VectorOf<Scalar>& mean,
                        const VectorOf<Scalar>& scale) {
    values = ((values.colwise() - mean).array().colwise() / scale.array()).matrix().eval();
  };
  apply(X, statistics_.feature_mean, statistics_.feature_scale);
  if (!targets.categorical())
    apply(targets.values, statistics_.target_mean, statistics_.target_scale);
}

template struct Standardization<float>;
template struct Standardization<double>;
template class StandardizedSource<float>;
template class StandardizedSource<double>;

}  // namespace symport
