// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "symport/data/npz.hpp"
#include "symport/objectives/loss.hpp"
#include "symport/objectives/mlp.hpp"

namespace symport {

/// A network with its parameters.
template <Real Scalar = double>
struct StoredMlp {
  Mlp network;
  VectorOf<Scalar> w;
};

/// The network in an `.npz` file with the arrays `W1` (out x in), `W2`, ... and, for all layers or
/// for none, `b1`, `b2`, ...; weights do not tell the activation, but the file may (see
/// `MlpDescription`). Throws InvalidArgument, naming file and array, for anything else (see
/// `read_model`), and when the file names another activation.
template <Real Scalar = double>
StoredMlp<Scalar> load_mlp(const std::filesystem::path& path, const Activation& activation);
/// The same from arrays that were read; `file` names them in messages.
template <Real Scalar = double>
StoredMlp<Scalar> mlp_from_arrays(const ArrayMap& arrays, const std::string& file,
                                  const Activation& activation);

/// What a file of weights may say of its network, by names in the arrays `activation` and `loss`:
/// text as bytes ("|u1"; in Python `numpy.frombuffer(b"relu", "u1")`).
struct MlpDescription {
  std::optional<Activation> activation = std::nullopt;
  std::optional<Loss> loss = std::nullopt;
};
/// Throws InvalidArgument for a name that there is not.
MlpDescription mlp_description(const ArrayMap& arrays, const std::string& file);
void describe_mlp(ArrayMap& arrays, const MlpDescription& description);

/// The parameters by name, as `load_mlp` expects them. Throws std::logic_error unless w has the
/// network's size.
template <Real Scalar>
ArrayMap mlp_arrays(const Mlp& network, In<Scalar> w);
/// What `load_mlp` reads back bit for bit, if all values are finite.
template <Real Scalar>
void save_mlp(const std::filesystem::path& path, const Mlp& network, In<Scalar> w,
              const NpzOptions& options = {});

}  // namespace symport
