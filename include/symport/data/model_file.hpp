// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <vector>

#include "symport/core/types.hpp"
#include "symport/data/npz.hpp"

namespace symport {

/// The parameters of one layer, z = W h + b.
template <Real Scalar = double>
struct LayerWeights {
  MatrixOf<Scalar> W;  ///< out x in
  VectorOf<Scalar> b;  ///< out; empty when the network has no biases
};

/// A network from the arrays `W1` (out x in), `W2`, ... of an `.npz` file, with `b1`, `b2`, ...
/// either for all layers or for none.
///
/// Throws InvalidArgument, naming file and array, when a number is missing between W1 and the last
/// layer, when the file holds any other array (but `activation` and `loss`), when a dtype is not a
/// float, when a shape does not chain (the columns of W2 are the rows of W1; b1 has one dimension,
/// the rows of W1) or is empty, and when a value is not finite in the precision asked for.
template <Real Scalar = double>
std::vector<LayerWeights<Scalar>> read_model(const std::filesystem::path& path);
/// The same from arrays that were read; `file` names them in messages.
template <Real Scalar = double>
std::vector<LayerWeights<Scalar>> model_from_arrays(const ArrayMap& arrays,
                                                    const std::string& file);

/// The arrays of a network by name.
template <Real Scalar>
ArrayMap model_arrays(const std::vector<LayerWeights<Scalar>>& layers);
/// What `read_model` reads back bit for bit, if all values are finite.
template <Real Scalar>
void write_model(const std::filesystem::path& path, const std::vector<LayerWeights<Scalar>>& layers,
                 const NpzOptions& options = {});

}  // namespace symport
