// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symmetries/factored_weights.hpp"
#include "symmetries/scale_model.hpp"
#include "symmetries/white_map.hpp"
#include "symport/symmetries/orbit.hpp"

namespace symport {

/// The orbit of a network under GL(d_1) x ... x GL(d_(p-1)) on one batch, (G2), in low-rank
/// factors. Numbers in parentheses are equations of docs/mathematics/networks.md.
///
/// J = |dL/dw|^2 = sum_m <Delta_m, K_(m-1)>, (N3), and Phi, (C1), come from n x n Gram matrices and
/// states of the batch; the directions dJ/dT_m, (G6), and dPhi/dT_m, (C7), at g_m = I + T_m are U
/// V' of rank at most 2n and 4n, and `move` acts with I + length E/|E|, |E| the Frobenius norm over
/// all layers together. (Hidden layers of fewer units than that rank get dense directions, which
/// are then the smaller ones.)
///
/// An ascent step never touches W_1. In products of n columns with each of W_2 ... W_p, J takes one
/// and its direction one more; Phi takes two more than J, and its direction three more than that
/// (W_2 one and two, if the activation is piecewise linear).
///
/// Serves one thread at a time.
template <Real Scalar>
class GeneralLinearOrbit final : public BasicOrbit<Scalar> {
 public:
  /// The orbit keeps the loss of `part`, some of the samples of the objective's network, or of the
  /// objective itself where that is null. `states` are its states at w, and `ell[m]` is a left
  /// inverse of h_(m-1) for every hidden layer m that GL acts on, empty for the others (size p at
  /// least). The activation must be bijective. Directions are cut to `max_rank` (0: no limit; see
  /// `LowRankMatrix`); `note` is for the certificate.
  GeneralLinearOrbit(const BasicObjective<Scalar>& objective,
                     std::unique_ptr<const MlpObjective<Scalar>> part,
                     const MlpStates<Scalar>& states, const std::vector<MatrixOf<Scalar>>& ell,
                     In<Scalar> w, Index max_rank = 0, std::string note = {});

  const BasicObjective<Scalar>& objective() const override {
    return part_ ? *part_ : BasicOrbit<Scalar>::objective();
  }
  std::optional<double> start_loss() const override { return start_loss_; }
  double grad_sq() override;
  double curvature() override;
  double aim(const Slope& slope) override;
  bool move(double length) override;
  void restart() override;
  bool has_candidates() const override { return true; }
  /// The white gauge of every layer that GL acts on, with the layer scales that make it worth most
  /// by (W3), and the same with smaller steps of the last layer as fallbacks. None where no scales
  /// are best.
  std::vector<Candidate> candidates(const Worth& worth) override;
  /// I + spread N with N Gaussian of unit norm, all moved layers together.
  bool randomize(Random& random, double spread) override;
  /// The largest condition number among g_1 ... g_(p-1), of layers of more than 128 units by
  /// Lanczos' method on g'g and its inverse: there a lower bound, usually good to a few per cent.
  double condition() const override;
  void commit(Out<Scalar> w) override;
  Scope scope() const override {
    return {Scope::Data::batch, samples_, BasicOrbit<Scalar>::objective().mlp()->samples()};
  }
  std::string note() const override { return note_; }

  /// Base <- current <- the white gauge, (W1), times c[m-1] in hidden layer m, whose entry does not
  /// matter where GL does not act. False when that leaves the domain: current is then the start.
  bool go_white(const std::vector<double>& c,
                const WhiteMapOptions& options = {.floor = white_floor<Scalar>});
  /// How J and Phi depend on scales of the layers that GL acts on, counted from the current point,
  /// (W3): exact for activations that are positively homogeneous.
  ScaleModel scale_model();

  /// The direction of the last `aim` in hidden layer m; null where GL does not act.
  const LowRankMatrix<Scalar>* direction(Index m) const;
  /// g_m from the start to the current point, dense.
  MatrixOf<Scalar> element(Index m) const;
  /// How often W_m was read so far, the forward pass at the start included.
  Index reads(Index m) const { return weights_.reads(m); }

 private:
  using Matrices = std::vector<MatrixOf<Scalar>>;

  /// A point with what has been computed there. Index m is layer m.
  struct Point : GlPosition<Scalar> {
    Matrices slope;     ///< sigma'(z_m)
    Matrices B, delta;  ///< W_(m+1)' delta_(m+1); dL/dz_m, (N2)
    Matrices K, Delta;  ///< h_m'h_m (with the ones); delta_m'delta_m, (N3)
    Matrices M;         ///< h_m' R_m
    /// [r_m s_m] and [R_m S_m]: first and second derivatives of z and h along the gradient, (G5),
    /// (C1)
    Matrices rs, RS;
    Matrices ell_RS;  ///< l_(m-1) [R_(m-1) S_(m-1)]
    std::optional<double> grad_sq, curvature;
    bool has_first = false;  ///< r and R are there

    void forget();
  };

  /// The adjoint of the recurrence for Phi, (C2) to (C6); x_bar = dPhi/dx.
  struct Adjoint {
    Matrices sr;        ///< [s_bar_m r_bar_m]
    Matrices back;      ///< W_(m+1)' [s_bar_(m+1) r_bar_(m+1)]
    Matrices h, z;      ///< h_bar_m, z_bar_m
    Matrices B, delta;  ///< B_bar_m, delta_bar_m
    Matrices ell_B;     ///< l_(m-1) B_bar_(m-1)
  };

  const MlpObjective<Scalar>& mlp() const { return *objective().mlp(); }
  Index layers() const { return mlp().network().layers(); }
  Index width(Index m) const { return mlp().network().width(m); }
  /// S_m is not identically 0: it is in the first layer, unless the activation is curved.
  bool bends(Index m) const { return m > 1 || !mlp().network().activation().piecewise_linear(); }
  Point& base() { return points_[base_]; }
  Point& current() { return points_[current_]; }
  const Point& current() const { return points_[current_]; }

  /// J and all that it is made of, (N2) and (N3).
  void compute_gradient(Point& x);
  /// r, (G5), and with `second` also s and Phi, (C1).
  void compute_curvature(Point& x, bool second);
  /// (C2) to (C6), after `compute_curvature(x, true)`.
  void compute_adjoint(Point& x);
  /// A direction in hidden layer m as U V'.
  struct Factors {
    MatrixOf<Scalar> U, V;
  };
  /// weight_grad_sq dJ/dT_m + weight_curvature dPhi/dT_m, (C8)
  Factors gradient_direction(Index m, double weight_grad_sq, double weight_curvature);
  /// d<covector, w>/dT_m
  Factors covector_direction(Index m, const VectorOf<Scalar>& covector);
  /// Base <- current.
  void adopt();
  /// Base <- current <- the start, forgetting what is known of it.
  void return_to_start();
  /// c of every hidden layer from log c of those that GL acts on.
  std::vector<double> all_scales(const Vector& log_c) const;
  /// log c of the scales to take on the white gauge; nothing where none are good.
  std::optional<Vector> white_scales(const Worth& worth);
  /// The same, where the orbit is and whose model is given:
  /// by the model, made anew on the way, or by the loss after the next step; nothing where none are
  /// good.
  std::optional<Vector> scales_by_model(const Worth& worth, const ScaleModel& model);
  std::optional<Vector> scales_by_next_loss(const Worth& worth, const ScaleModel& model);
  /// Where the search for the latter begins; log c of the last one at most `largest`.
  std::vector<Vector> first_scales(const Worth& worth, const ScaleModel& model,
                                   double largest) const;
  /// The loss after a plain step of this rate from the current point with layers rescaled by these
  /// c, for activations that are positively homogeneous, (W5).
  double rescaled_next_loss(const std::vector<double>& c, double rate);
  void charge_products();

  std::unique_ptr<const MlpObjective<Scalar>> part_;
  std::string note_;
  Index max_rank_;
  Index samples_;
  FactoredWeights<Scalar> weights_;
  std::array<Point, 2> points_;
  std::size_t base_ = 0, current_ = 0;
  Adjoint adjoint_;
  std::vector<std::shared_ptr<const LowRankMatrix<Scalar>>> directions_;
  std::vector<LowRankElement<Scalar>> white_;  ///< index m is layer m; empty: not known yet
  WhiteMapOptions white_options_;
  double start_loss_ = 0.0;
  double norm_ = 0.0;
  double charged_ = 0.0;
  MatrixOf<Scalar> second_, third_, square_;  ///< scratch: sigma'', sigma''', n x n
};

}  // namespace symport
