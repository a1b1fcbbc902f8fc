// SPDX-License-Identifier: MIT
#include "symport/training/batch_source.hpp"

#include <fmt/format.h>

#include "symport/core/invalid_argument.hpp"

namespace symport {

template <Real Scalar>
DenseSource<Scalar>::DenseSource(MatrixOf<Scalar> X, Targets<Scalar> targets)
    : X_(std::move(X)), targets_(std::move(targets)) {
  if (X_.cols() < 1 || X_.cols() != targets_.samples()) {
    throw InvalidArgument("samples",
                          fmt::format("{} inputs and {} targets", X_.cols(), targets_.samples()),
                          "as many targets as inputs, at least one");
  }
}

template <Real Scalar>
void DenseSource<Scalar>::load(std::span<const Index> samples, MatrixOf<Scalar>& X,
                               Targets<Scalar>& targets) const {
  const auto n = static_cast<Index>(samples.size());
  X.resize(X_.rows(), n);
  for (Index j = 0; j < n; ++j) X.col(j) = X_.col(samples[static_cast<std::size_t>(j)]);
  if (targets_.categorical()) {
    targets.values.resize(0, 0);
    targets.classes.resize(samples.size());
    for (std::size_t j = 0; j < samples.size(); ++j) {
      targets.classes[j] = targets_.classes[static_cast<std::size_t>(samples[j])];
    }
  } else {
    targets.classes.clear();
    targets.values.resize(targets_.values.rows(), n);
    for (Index j = 0; j < n; ++j) {
      targets.values.col(j) = targets_.values.col(samples[static_cast<std::size_t>(j)]);
    }
  }
}

template class DenseSource<float>;
template class DenseSource<double>;

}  // namespace symport
