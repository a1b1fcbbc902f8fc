// SPDX-License-Identifier: MIT
#include "symport/training/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "symport/core/invalid_argument.hpp"
#include "training/bound_batch.hpp"

namespace symport {

template <Real Scalar>
Evaluation evaluate(const BatchObjective<Scalar>& objective, const BatchSource<Scalar>& source,
                    const std::vector<Index>& samples, In<Scalar> w, bool with_gradient,
                    Index chunk) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (chunk < 1) throw InvalidArgument("chunk", fmt::format("{}", chunk), "a whole number >= 1");
  if (samples.empty()) return {nan, nan, nan};
  BoundBatch<Scalar> batch(objective);
  const bool mean = objective.reduction() == Loss::Reduction::mean;
  const auto total = static_cast<double>(samples.size());
  double loss = 0.0, hits = 0.0;
  VectorOf<Scalar> gradient;
  Vector sum;
  if (with_gradient) {
    gradient.resize(w.size());
    sum.setZero(w.size());
  }
  const std::span<const Index> all(samples);
  for (std::size_t first = 0; first < all.size(); first += static_cast<std::size_t>(chunk)) {
    const auto part =
        all.subspan(first, std::min(all.size() - first, static_cast<std::size_t>(chunk)));
    batch.bind(source, part);
    const double weight = mean ? static_cast<double>(part.size()) / total : 1.0;
    const Score score =
        with_gradient ? batch.objective->score(w, gradient) : batch.objective->score(w);
    loss += weight * score.loss;
    hits += static_cast<double>(part.size()) * score.accuracy;
    if (with_gradient) sum += weight * gradient.template cast<double>();
  }
  return {loss, hits / total, with_gradient ? sum.squaredNorm() : nan};
}

template Evaluation evaluate(const BatchObjective<float>&, const BatchSource<float>&,
                             const std::vector<Index>&, In<float>, bool, Index);
template Evaluation evaluate(const BatchObjective<double>&, const BatchSource<double>&,
                             const std::vector<Index>&, In<double>, bool, Index);

}  // namespace symport
