// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/data/gauge_file.hpp"
#include "lab/data/safetensors.hpp"
#include "lab/options/option_table.hpp"
#include "symport/symmetries/balance.hpp"

namespace symport::lab {

/// Which numbers a scaling may multiply by.
enum class Scales {
  powers_of_two,  ///< every bit of the model's outputs stays
  any,            ///< exactly the target, up to rounding
};
std::string_view to_string(Scales scales);

/// A teleport of any model's tensors along symmetries that are known, to a point that the tensors
/// alone determine (`symport teleport --gauge`).
struct GaugeTeleportSpec {
  std::string weights{};  ///< .safetensors or .npz
  std::string gauge{};
  GaugeTarget objective = GaugeTarget::balance;
  Scales scales = Scales::powers_of_two;
};
const OptionTable<GaugeTeleportSpec>& gauge_teleport_options();

/// What it did. No loss was evaluated.
struct GaugeCertificate {
  struct Move {
    std::string kind;
    Index size = 0;
    bool moved = false;
    std::string reason{};  ///< why it stays
  };
  std::string objective;
  std::string scope;
  bool accepted = false;
  std::string reason;
  /// Of the tensors that the gauge names, without running statistics.
  double squared_norm_before = 0.0, squared_norm_after = 0.0;
  double condition = 1.0;  ///< of the element, its largest stretch over its smallest
  bool bit_exact = false;  ///< scales are powers of two, and undoing them gives every bit back
  Index sweeps = 0;
  std::vector<Move> groups;
  double seconds = 0.0;
};

struct GaugeTeleportResult {
  GaugeCertificate certificate;
  Safetensors tensors;  ///< moved, or as they were
};

/// Acts on F64 and F32 in double and, by powers of two alone, on BF16 and F16; other tensors are
/// not touched. Running statistics, which are tensors with a shifted slot or named running_mean or
/// running_var, move with their group and are not part of the norm. Throws InvalidArgument, naming
/// `gauge_name` or `weights_name`, when gauge and tensors do not fit together or a weight is not
/// finite.
GaugeTeleportResult teleport_tensors(Safetensors tensors, const Gauge& gauge,
                                     const GaugeTeleportSpec& spec);

/// The same of files. Throws OptionError; an InvalidArgument names the file.
GaugeTeleportResult teleport_by_gauge(const GaugeTeleportSpec& spec);

/// Tensors of a .safetensors or .npz file, by its ending, and to one.
Safetensors read_tensors(const std::filesystem::path& path);
void write_tensors(const std::filesystem::path& path, const Safetensors& tensors);

/// The certificate as JSON, with the names of other teleports' certificates where they mean the
/// same; losses are null.
std::string json_of(const GaugeCertificate& certificate);

}  // namespace symport::lab
