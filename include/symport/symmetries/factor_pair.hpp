// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "symport/objectives/matrix_factorization.hpp"
#include "symport/symmetries/matrix_symmetry.hpp"

namespace symport {

class SlotAction;

/// GL(r) on a factor pair: g.(U, V) = (U g^-1, g V). It preserves every loss that depends only on
/// U V, on all data. Domain: invertible g. Cost of one action: one r x r factorisation and
/// O(r (m + n) r).
///
/// Its orbit has a closed form within a bound. The action is linear, so gradients move as
/// (G_U g', g^-T G_V) (Prop. 5.1) and with S = (g'g)^-1
///   J = tr(G_U'G_U S^-1) + tr(G_V G_V' S),          (F10)
/// convex in S: over 1/kappa^2 <= S <= kappa^2 it is largest at an extreme point
/// S = kappa^2 P + kappa^-2 (I - P), P the projector on the positive eigenspace of
/// G_V G_V' - G_U'G_U, (F11). One gradient gives J on the whole orbit. As slots: V along axis 0 by
/// g, U along axis 1 by g^-T.
class FactorPairSymmetry final : public MatrixSymmetry {
 public:
  explicit FactorPairSymmetry(const MatrixFactorization& problem);

  std::string name() const override;
  Index order() const override { return rank_; }
  bool compact() const override { return false; }
  void act(const Matrix& g, Out<double> w) const override;
  Matrix pull_back(In<double> w, In<double> covector) const override;
  void transport(const Matrix& g, In<double> w, Out<double> covector) const override;
  Matrix project(const Matrix& T) const override { return T; }
  using Symmetry::orbit;
  OrbitOrReason<double> orbit(const Objective& objective, In<double> w) const override;

 private:
  Index rank_;
  std::shared_ptr<const SlotAction> action_;
};

}  // namespace symport
