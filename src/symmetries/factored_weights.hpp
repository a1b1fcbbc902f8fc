// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symmetries/low_rank_inverse.hpp"
#include "symport/objectives/mlp_objective.hpp"

namespace symport {

/// A place on the GL orbit of a network, relative to a base point: index m is layer m.
template <Real Scalar>
struct GlPosition {
  std::vector<LowRankElement<Scalar>> step;  ///< the last factor of g_m, from the base to here
  std::vector<MatrixOf<Scalar>> h, z;        ///< the batch's states here, without rows of ones
};

/// The weights along a GL orbit, W'_m = (W_m + (z'_m - z_m) l_(m-1)) g_(m-1)^-1, (G2), kept as what
/// they are made of: the start's weights are read, not rewritten, and g is a product of low-rank
/// elements.
///
/// Products with W'_m and its transpose cost one product with W_m and thin ones, (G9). When the
/// elements since then have grown to half the layer's width, or W_m is a thin matrix itself,
/// `advance` folds them into a copy of W_m. W_1 is read once at the start and once by `write`.
template <Real Scalar>
class FactoredWeights {
 public:
  /// `ell[m]` = l_(m-1), a left inverse of h_(m-1), for every hidden layer m that g_m acts on, and
  /// empty for the others (g_m = I). `states` are those of the batch at w.
  FactoredWeights(const Mlp& network, const MlpStates<Scalar>& states,
                  const std::vector<MatrixOf<Scalar>>& ell, In<Scalar> w);

  /// g_m acts on layer m.
  bool moved(Index m) const { return start_frames_[static_cast<std::size_t>(m)].ell.size() > 0; }
  /// The start of the orbit.
  GlPosition<Scalar> start() const;
  /// Forgets all elements: the base is the start again.
  void reset();
  /// The base goes to `position`, whose steps become the identity.
  void advance(GlPosition<Scalar>& position);
  /// The base, which `position` is, goes on by the positive rescaling (R1) of hidden layer m with
  /// c[m-1]. For activations that are positively homogeneous this is an element of GL which scales
  /// all of W_m, not only what the batch sees of it.
  void rescale(const std::vector<double>& c, GlPosition<Scalar>& position);

  /// out <- W'_m X + beta out, and inverse <- l'_(m-1) X if layer m is moved; 2 <= m <= p.
  void times(Index m, const GlPosition<Scalar>& at, MatrixIn<Scalar> X, Scalar beta,
             MatrixOut<Scalar> out, MatrixOut<Scalar> inverse);
  /// out <- W'_m' Y, without the row of the biases; 2 <= m <= p.
  void transposed_times(Index m, const GlPosition<Scalar>& at, MatrixIn<Scalar> Y,
                        MatrixOut<Scalar> out);
  /// l'_(m-1) at a position, with the column of the ones; layer m is moved.
  MatrixOf<Scalar> left_inverse(Index m, const GlPosition<Scalar>& at) const;
  /// w <- all weights at a position.
  void write(const GlPosition<Scalar>& at, Out<Scalar> w);

  /// X <- g_m X, g_m' X, g_m^-1 X, g_m^-T X, with g_m from the start to a position.
  void apply(Index m, const GlPosition<Scalar>& at, MatrixOut<Scalar> X) const;
  void apply_transposed(Index m, const GlPosition<Scalar>& at, MatrixOut<Scalar> X) const;
  void apply_inverse(Index m, const GlPosition<Scalar>& at, MatrixOut<Scalar> X) const;
  void apply_inverse_transposed(Index m, const GlPosition<Scalar>& at, MatrixOut<Scalar> X) const;

  /// How often W_m was read so far, the forward pass at the start included.
  Index reads(Index m) const { return reads_[static_cast<std::size_t>(m)]; }
  /// Multiplications in products with weights so far.
  double work() const { return work_; }

 private:
  /// What products with W'_m start from: the start, or the place of the last fold.
  struct Frame {
    MatrixOf<Scalar> W;           ///< augmented; empty: the start's
    MatrixOf<Scalar> ell;         ///< l_(m-1), augmented; empty unless layer m is moved
    MatrixOf<Scalar> z;           ///< z_m, likewise
    LowRankInverse<Scalar> undo;  ///< of the elements of layer m-1 that are not folded yet
  };

  using Map = Eigen::Map<const MatrixOf<Scalar>>;
  Map weights(Index m) const;
  Frame& frame(Index m) { return frames_[static_cast<std::size_t>(m)]; }
  const Frame& frame(Index m) const { return frames_[static_cast<std::size_t>(m)]; }
  /// (G2) from the frame: W <- (W + (z - z_m) l_(m-1)) (elements not folded yet)^-1, at a position.
  void transform(Index m, const GlPosition<Scalar>& at, MatrixOut<Scalar> W);
  void fold(Index m, const GlPosition<Scalar>& at);
  /// out <- W'Y with the frame's W_m.
  void frame_transposed_times(Index m, MatrixIn<Scalar> Y, MatrixOut<Scalar> out);
  void count(Index m, Index columns);

  Mlp network_;
  VectorOf<Scalar> w_;
  Index samples_;
  std::vector<Frame> frames_, start_frames_;
  std::vector<MatrixOf<Scalar>> start_h_, start_z_;
  std::vector<MatrixOf<Scalar>> start_transposed_;  ///< W_m', from the first thin product with it
  std::vector<std::vector<LowRankElement<Scalar>>> elements_;  ///< accepted, oldest first
  std::vector<Index> reads_;
  double work_ = 0.0;
  MatrixOf<Scalar> vector_, shift_, inner_;
};

}  // namespace symport
