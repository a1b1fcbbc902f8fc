// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "symport/data/model_file.hpp"
#include "symport/data/sample_set.hpp"
#include "symport/objectives/mlp_objective.hpp"

/// The way from files to a network, and back.
namespace symport::lab {

/// d_0,...,d_p of layers that were read.
template <Real Scalar>
std::vector<Index> widths_of(const std::vector<LayerWeights<Scalar>>& layers);
/// Between the layers of a file and the flat parameter vector.
template <Real Scalar>
VectorOf<Scalar> flat_parameters(const Mlp& network,
                                 const std::vector<LayerWeights<Scalar>>& layers);
template <Real Scalar>
std::vector<LayerWeights<Scalar>> layers_of(const Mlp& network, In<Scalar> w);
template <Real Scalar>
Targets<Scalar> targets_of(const SampleSet<Scalar>& samples);
/// The loss that was asked for, or the usual one for targets of that kind.
Loss loss_for(const std::optional<Loss>& asked, bool categorical);

}  // namespace symport::lab
