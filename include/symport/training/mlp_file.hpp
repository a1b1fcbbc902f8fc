// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "symport/data/npz.hpp"
#include "symport/objectives/mlp.hpp"

namespace symport {

/// A network with its parameters.
template <Real Scalar = double>
struct StoredMlp {
  Mlp network;
  VectorOf<Scalar> w;
};

/// The network in an `.npz` file with the arrays `W1` (out x in), `W2`, ... and, for all layers or
/// for none, `b1`, `b2`, ...; the activation is not in the file. Throws InvalidArgument, naming
/// file and array, for anything else (see `read_model`).
template <Real Scalar = double>
StoredMlp<Scalar> load_mlp(const std::filesystem::path& path, const Activation& activation);
/// The same from arrays that were read; `file` names them in messages.
template <Real Scalar = double>
StoredMlp<Scalar> mlp_from_arrays(const ArrayMap& arrays, const std::string& file,
                                  const Activation& activation);

/// The parameters by name, as `load_mlp` expects them. Throws std::logic_error unless w has the
/// network's size.
template <Real Scalar>
ArrayMap mlp_arrays(const Mlp& network, In<Scalar> w);
/// What `load_mlp` reads back bit for bit, if all values are finite.
template <Real Scalar>
void save_mlp(const std::filesystem::path& path, const Mlp& network, In<Scalar> w,
              const NpzOptions& options = {});

}  // namespace symport
