// SPDX-License-Identifier: MIT
#include "symport/symmetries/general_linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "symmetries/general_linear_orbit.hpp"
#include "symmetries/left_inverse.hpp"
#include "symmetries/network_requirements.hpp"

namespace symport {

namespace {

/// moved[m] for hidden layers m = 1 ... p-1; the entries 0 and p are false.
std::vector<bool> moved_layers(const Mlp& network, const std::vector<Index>& layers) {
  const Index p = network.layers();
  if (p < 2) throw InvalidArgument("layers", "a network without hidden layers", "one or more");
  std::vector<bool> moved(static_cast<std::size_t>(p) + 1, layers.empty());
  moved.front() = moved.back() = false;
  for (const Index m : layers) {
    if (m < 1 || m >= p) {
      throw InvalidArgument("layers", fmt::format("hidden layer {}", m),
                            fmt::format("1 to {}", p - 1));
    }
    moved[static_cast<std::size_t>(m)] = true;
  }
  return moved;
}

/// Which samples can be teleported together, and the sentence about the layer that limits them.
struct UsableSamples {
  std::vector<Index> samples;
  std::string limit;
};

/// The samples must be independent in every layer below a moved one. A part of an independent set
/// is independent, so one pass from the bottom up suffices.
template <Real Scalar>
UsableSamples usable_samples(const MlpObjective<Scalar>& objective, const MlpStates<Scalar>& states,
                             const std::vector<bool>& moved) {
  UsableSamples usable;
  usable.samples.resize(static_cast<std::size_t>(objective.samples()));
  std::iota(usable.samples.begin(), usable.samples.end(), Index{0});
  for (Index m = 1; m < objective.network().layers(); ++m) {
    if (!moved[static_cast<std::size_t>(m)]) continue;
    const MatrixOf<Scalar> h = objective.h(m - 1, states)(Eigen::all, usable.samples);
    const std::vector<Index> kept = independent_columns<Scalar>(h);
    if (kept.size() == usable.samples.size()) continue;
    const Index width = objective.network().width(m - 1);
    usable.limit =
        fmt::format("{} samples have rank {} in the {}{}", usable.samples.size(), kept.size(),
                    m == 1 ? fmt::format("{} input features", width)
                           : fmt::format("{} units of hidden layer {}", width, m - 1),
                    objective.network().biases() ? " (+1 for the biases)" : "");
    std::vector<Index> left;
    for (const Index i : kept) left.push_back(usable.samples[static_cast<std::size_t>(i)]);
    usable.samples = std::move(left);
  }
  return usable;
}

/// The left inverses below every moved layer, at its index; nothing when one does not exist.
template <Real Scalar>
std::optional<std::vector<MatrixOf<Scalar>>> left_inverses(const MlpObjective<Scalar>& objective,
                                                           const MlpStates<Scalar>& states,
                                                           const std::vector<bool>& moved) {
  std::vector<MatrixOf<Scalar>> ell(moved.size());
  for (std::size_t m = 1; m < moved.size(); ++m) {
    if (!moved[m]) continue;
    auto inverse = left_inverse<Scalar>(objective.h(static_cast<Index>(m) - 1, states));
    if (!inverse) return std::nullopt;
    ell[m] = std::move(*inverse);
  }
  return ell;
}

}  // namespace

template <Real Scalar>
GeneralLinear<Scalar>::GeneralLinear(GeneralLinearOptions options) : options_(std::move(options)) {
  if (options_.max_rank.value_or(0) < 0) {
    throw InvalidArgument("max_rank", fmt::format("{}", *options_.max_rank), "a whole number >= 0");
  }
}

template <Real Scalar>
OrbitOrReason<Scalar> GeneralLinear<Scalar>::orbit(const BasicObjective<Scalar>& objective,
                                                   In<Scalar> w) const {
  const MlpObjective<Scalar>& mlp = require_mlp(name(), objective);
  const Mlp& network = mlp.network();
  const std::vector<bool> moved = moved_layers(network, options_.layers);
  if (!network.activation().bijective()) {
    refuse_without_inverse(name(), network.activation());
  }
  MlpStates<Scalar> states;
  mlp.forward(w, states);
  auto ell = left_inverses(mlp, states, moved);
  std::unique_ptr<const MlpObjective<Scalar>> part;
  std::string note;
  if (!ell) {
    const UsableSamples usable = usable_samples(mlp, states, moved);
    if (options_.allow_partial_batch && !usable.samples.empty()) {
      part = std::make_unique<const MlpObjective<Scalar>>(mlp.subset(usable.samples));
      part->forward(w, states);
      ell = left_inverses(*part, states, moved);
      note = fmt::format("on {} of {} samples: {}", usable.samples.size(), mlp.samples(),
                         usable.limit);
    }
    if (!ell) {
      if (usable.limit.empty()) {
        return OrbitOrReason<Scalar>::none(fmt::format(
            "gl cannot keep the loss of this batch: {} samples are linearly dependent to rounding",
            mlp.samples()));
      }
      return OrbitOrReason<Scalar>::none(fmt::format(
          "gl can keep the loss of at most {} samples here, and the batch has {}: {}; teleport on "
          "fewer samples, or take a symmetry that keeps the loss on all data, such as rescale",
          usable.samples.size(), mlp.samples(), usable.limit));
    }
  }
  const Index samples = part ? part->samples() : mlp.samples();
  const Index max_rank = options_.max_rank.value_or(std::max<Index>(16, samples / 6));
  return std::make_unique<GeneralLinearOrbit<Scalar>>(objective, std::move(part), states, *ell, w,
                                                      max_rank, note);
}

template class GeneralLinear<float>;
template class GeneralLinear<double>;

}  // namespace symport
