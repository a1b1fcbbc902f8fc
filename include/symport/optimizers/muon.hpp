// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symport/core/parameter_layout.hpp"
#include "symport/core/workspaces.hpp"
#include "symport/optimizers/optimizer.hpp"

namespace symport {

/// What the learning rate of a matrix is multiplied by.
enum class MuonScale {
  original,         ///< sqrt(max(1, rows / cols)): Keller Jordan's
  match_rms_adamw,  ///< 0.2 sqrt(max(rows, cols)): entries as large as in a step of AdamW
};
std::string_view to_string(MuonScale scale);

struct MuonOptions {
  double momentum = 0.95;
  bool nesterov = true;
  double weight_decay = 0.1;  ///< of the matrices
  MuonScale scale = MuonScale::original;
  /// Matrices that the other rule steps, by name. Unset: the last one of the layout, which in a
  /// network is the head.
  std::optional<std::vector<std::string>> others{};
  double rest_rate = 0.05;  ///< the learning rate of the other rule, in units of that of Muon
};

/// Muon (Jordan et al., 2024), as torch.optim.Muon has it. For every matrix W of the layout (more
/// than one row and column, a tensor as its first axis by all others), with G its gradient:
///
///   B <- mu B + (1 - mu) G,   N = mu B + (1 - mu) G   (N = B without nesterov)
///   X_0 = N / max(|N|_F, 1e-7),   X_(k+1) = a X_k + (b K + c K^2) X_k,   K = X_k X_k'
///   W <- W - eta weight_decay W - eta scale X_5
///
/// with (a, b, c) = (3.4445, -4.7750, 2.0315): X_5 has the singular vectors of N, and singular
/// values between about 0.7 and 1.2 in place of its own. K is formed on the shorter side.
///
/// All other parameters (biases, the head) are stepped by another rule at the rate rest_rate eta:
/// a schedule moves both. The rest decays as that rule does, at that rate.
///
/// Deviation from torch.optim.Muon: X is in the precision of the parameters, not in bfloat16.
template <Real Scalar = double>
class Muon final : public FirstOrderOptimizer<Scalar> {
 public:
  /// For parameters of that layout; `rest` steps what Muon does not, AdamW where it is null. Throws
  /// InvalidArgument for an option out of range, an unknown name among the others, or a rest that
  /// does not step entry by entry.
  explicit Muon(const ParameterLayout& layout, const MuonOptions& options = {},
                std::shared_ptr<const FirstOrderOptimizer<Scalar>> rest = nullptr);

  std::string_view name() const override { return "muon"; }
  bool forgets() const override { return rest_->forgets(); }
  bool entry_by_entry() const override { return false; }
  /// `weight_decay` for a matrix that Muon steps; for other slots what the rule of the rest has,
  /// times `rest_rate`.
  double decoupled_decay(Index first) const override;
  void bound_moments(const StateRange<Scalar>& state) const override;
  /// The buffers of the rest, then `average` (B): a number each for every parameter. Throws
  /// InvalidArgument for another dimension than the layout's.
  OptimizerState<Scalar> init(Index dimension) const override;
  /// Throws std::logic_error unless the range is made of whole slots of the layout.
  void update(In<Scalar> w, In<Scalar> gradient, double learning_rate,
              const StateRange<Scalar>& state, Out<Scalar> u) const override;

 private:
  struct Slot {
    Index offset, rows, cols;
    bool matrix;  ///< Muon steps it
    Index size() const { return rows * cols; }
  };
  std::size_t slot_at(Index first) const;
  /// X <- X_5 for N = X.
  void orthogonalize(const Slot& slot, VectorOf<Scalar>& work, Out<Scalar> X) const;

  MuonOptions options_;
  std::shared_ptr<const FirstOrderOptimizer<Scalar>> rest_;
  std::vector<Slot> slots_;
  Index dimension_ = 0;
  std::size_t average_ = 0;  ///< its place among the buffers
  Index work_size_ = 0;
  mutable Workspaces<VectorOf<Scalar>> workspaces_;
};

}  // namespace symport
