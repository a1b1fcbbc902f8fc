// SPDX-License-Identifier: MIT
#include "symmetries/factored_weights.hpp"

#include <algorithm>

#include "core/thin_products.hpp"
#include "symport/core/gemm.hpp"

namespace symport {

namespace {

std::size_t at_index(Index m) { return static_cast<std::size_t>(m); }

/// W_m with at most this many rows per sample is folded at every step: that is cheaper than one
/// more element in each of the products of the next step.
constexpr Index thin_rows_per_sample = 4;

/// A', square by square: row by row, every step would meet another line of the cache.
template <Real Scalar>
MatrixOf<Scalar> transposed(MatrixIn<Scalar> A) {
  constexpr Index side = 16;
  MatrixOf<Scalar> result(A.cols(), A.rows());
  for (Index j = 0; j < A.cols(); j += side) {
    const Index cols = std::min(side, A.cols() - j);
    for (Index i = 0; i < A.rows(); i += side) {
      const Index rows = std::min(side, A.rows() - i);
      result.block(j, i, cols, rows) = A.block(i, j, rows, cols).transpose();
    }
  }
  return result;
}

}  // namespace

template <Real Scalar>
FactoredWeights<Scalar>::FactoredWeights(const Mlp& network, const MlpStates<Scalar>& states,
                                         const std::vector<MatrixOf<Scalar>>& ell, In<Scalar> w)
    : network_(network),
      w_(w),
      samples_(states.z.back().cols()),
      start_frames_(at_index(network_.layers()) + 1),
      start_h_(at_index(network_.layers())),
      start_z_(at_index(network_.layers())),
      start_transposed_(at_index(network_.layers()) + 1),
      elements_(at_index(network_.layers())),
      reads_(at_index(network_.layers()) + 1, 1) {
  for (Index m = 1; m < network_.layers(); ++m) {
    start_h_[at_index(m)] = states.h[at_index(m)].topRows(network_.width(m));
    start_z_[at_index(m)] = states.z[at_index(m)];
    if (ell[at_index(m)].size() == 0) continue;
    start_frames_[at_index(m)].ell = ell[at_index(m)];
    start_frames_[at_index(m)].z = states.z[at_index(m)];
  }
  frames_ = start_frames_;
}

template <Real Scalar>
GlPosition<Scalar> FactoredWeights<Scalar>::start() const {
  return {std::vector<LowRankElement<Scalar>>(elements_.size()), start_h_, start_z_};
}

template <Real Scalar>
void FactoredWeights<Scalar>::reset() {
  frames_ = start_frames_;
  for (auto& elements : elements_) elements.clear();
}

template <Real Scalar>
void FactoredWeights<Scalar>::advance(GlPosition<Scalar>& position) {
  for (Index m = 2; m <= network_.layers(); ++m) {
    const LowRankElement<Scalar>& step = position.step[at_index(m - 1)];
    const Index rank = frame(m).undo.rank() + step.rank();
    const bool thin = network_.width(m) <= thin_rows_per_sample * samples_;
    if ((rank > 0 && (thin || 2 * rank >= network_.width(m - 1))) || !step.near_identity()) {
      fold(m, position);
    } else {
      frame(m).undo.append(step);
    }
  }
  for (Index m = 1; m < network_.layers(); ++m) {
    LowRankElement<Scalar>& step = position.step[at_index(m)];
    if (step.identity()) continue;
    elements_[at_index(m)].push_back(std::move(step));
    step = {};
  }
}

template <Real Scalar>
void FactoredWeights<Scalar>::rescale(const std::vector<double>& c, GlPosition<Scalar>& position) {
  const auto scale = [&](Index m) {
    return static_cast<Scalar>(m == 0 || m == network_.layers() ? 1.0 : c[at_index(m - 1)]);
  };
  for (Index m = 1; m <= network_.layers(); ++m) {
    fold(m, position);
    Frame& f = frame(m);
    f.W *= scale(m);
    f.W.leftCols(network_.width(m - 1)) /= scale(m - 1);
    if (!moved(m)) continue;
    f.ell.leftCols(network_.width(m - 1)) /= scale(m - 1);
    f.z *= scale(m);
  }
  for (Index m = 1; m < network_.layers(); ++m) {
    position.h[at_index(m)] *= scale(m);
    position.z[at_index(m)] *= scale(m);
    elements_[at_index(m)].push_back(LowRankElement<Scalar>().times(c[at_index(m - 1)]));
  }
}

template <Real Scalar>
void FactoredWeights<Scalar>::fold(Index m, const GlPosition<Scalar>& at) {
  Frame& f = frame(m);
  if (f.W.size() == 0) f.W = network_.augmented(m, w_.data());
  transform(m, at, f.W);
  if (moved(m)) {
    f.ell = left_inverse(m, at);
    f.z = at.z[at_index(m)];
  }
  f.undo.clear();
}

template <Real Scalar>
void FactoredWeights<Scalar>::transform(Index m, const GlPosition<Scalar>& at,
                                        MatrixOut<Scalar> W) {
  const Frame& f = frame(m);
  const Index cols = network_.width(m - 1);
  if (moved(m)) {
    shift_ = at.z[at_index(m)] - f.z;
    multiply<Scalar>(1, false, shift_, false, f.ell, 1, W);
    count(m, samples_);
  }
  if (m == 1) return;
  const LowRankElement<Scalar>& step = at.step[at_index(m - 1)];
  f.undo.apply_right(W.leftCols(cols));
  step.apply_inverse_right(W.leftCols(cols));
  count(m, 2 * (f.undo.rank() + step.rank()));
}

template <Real Scalar>
MatrixOf<Scalar> FactoredWeights<Scalar>::left_inverse(Index m,
                                                       const GlPosition<Scalar>& at) const {
  MatrixOf<Scalar> ell = frame(m).ell;
  if (m > 1) {
    frame(m).undo.apply_right(ell.leftCols(network_.width(m - 1)));
    at.step[at_index(m - 1)].apply_inverse_right(ell.leftCols(network_.width(m - 1)));
  }
  return ell;
}

template <Real Scalar>
void FactoredWeights<Scalar>::write(const GlPosition<Scalar>& at, Out<Scalar> w) {
  for (Index m = 1; m <= network_.layers(); ++m) {
    auto W = network_.augmented(m, w.data());
    if (frame(m).W.size() > 0) {
      W = frame(m).W;
    } else {
      W = network_.augmented(m, w_.data());
    }
    transform(m, at, W);
  }
}

template <Real Scalar>
typename FactoredWeights<Scalar>::Map FactoredWeights<Scalar>::weights(Index m) const {
  const Scalar* data =
      frame(m).W.size() > 0 ? frame(m).W.data() : network_.augmented(m, w_.data()).data();
  return Map(data, network_.width(m), network_.width(m - 1));
}

template <Real Scalar>
void FactoredWeights<Scalar>::times(Index m, const GlPosition<Scalar>& at, MatrixIn<Scalar> X,
                                    Scalar beta, MatrixOut<Scalar> out, MatrixOut<Scalar> inverse) {
  const Frame& f = frame(m);
  // (G9): W' X = W x + (z' - z) l x with x = g^-1 X, the newest element undone first.
  vector_ = X;
  at.step[at_index(m - 1)].apply_inverse(vector_);
  f.undo.apply(vector_);
  multiply<Scalar>(1, false, weights(m), false, vector_, beta, out);
  count(m, X.cols());
  if (moved(m)) {
    multiply<Scalar>(1, false, f.ell.leftCols(network_.width(m - 1)), false, vector_, 0, inverse);
    shift_ = at.z[at_index(m)] - f.z;
    if (!shift_.isZero(0)) multiply<Scalar>(1, false, shift_, false, inverse, 1, out);
  }
}

template <Real Scalar>
void FactoredWeights<Scalar>::frame_transposed_times(Index m, MatrixIn<Scalar> Y,
                                                     MatrixOut<Scalar> out) {
  // Products of few columns are faster with W' itself, and the start's W serves many.
  if (frame(m).W.size() > 0 || !thin_enough<Scalar>(out.rows(), Y.cols(), Y.rows())) {
    multiply<Scalar>(1, true, weights(m), false, Y, 0, out);
    return;
  }
  MatrixOf<Scalar>& turned = start_transposed_[at_index(m)];
  if (turned.size() == 0) turned = transposed<Scalar>(weights(m));
  multiply<Scalar>(1, false, turned, false, Y, 0, out);
}

template <Real Scalar>
void FactoredWeights<Scalar>::transposed_times(Index m, const GlPosition<Scalar>& at,
                                               MatrixIn<Scalar> Y, MatrixOut<Scalar> out) {
  // (G9): W'' Y = g^-T (W'Y + l'(z' - z)'Y)
  const Frame& f = frame(m);
  frame_transposed_times(m, Y, out);
  count(m, Y.cols());
  if (moved(m)) {
    shift_ = at.z[at_index(m)] - f.z;
    if (!shift_.isZero(0)) {
      inner_.resize(samples_, Y.cols());
      multiply<Scalar>(1, true, shift_, false, Y, 0, inner_);
      multiply<Scalar>(1, true, f.ell.leftCols(network_.width(m - 1)), false, inner_, 1, out);
    }
  }
  f.undo.apply_transposed(out);
  at.step[at_index(m - 1)].apply_inverse_transposed(out);
}

template <Real Scalar>
void FactoredWeights<Scalar>::apply(Index m, const GlPosition<Scalar>& at,
                                    MatrixOut<Scalar> X) const {
  for (const auto& element : elements_[at_index(m)]) element.apply(X);
  at.step[at_index(m)].apply(X);
}

template <Real Scalar>
void FactoredWeights<Scalar>::apply_transposed(Index m, const GlPosition<Scalar>& at,
                                               MatrixOut<Scalar> X) const {
  at.step[at_index(m)].apply_transposed(X);
  const auto& elements = elements_[at_index(m)];
  for (std::size_t i = elements.size(); i > 0; --i) elements[i - 1].apply_transposed(X);
}

template <Real Scalar>
void FactoredWeights<Scalar>::apply_inverse(Index m, const GlPosition<Scalar>& at,
                                            MatrixOut<Scalar> X) const {
  at.step[at_index(m)].apply_inverse(X);
  const auto& elements = elements_[at_index(m)];
  for (std::size_t i = elements.size(); i > 0; --i) elements[i - 1].apply_inverse(X);
}

template <Real Scalar>
void FactoredWeights<Scalar>::apply_inverse_transposed(Index m, const GlPosition<Scalar>& at,
                                                       MatrixOut<Scalar> X) const {
  for (const auto& element : elements_[at_index(m)]) element.apply_inverse_transposed(X);
  at.step[at_index(m)].apply_inverse_transposed(X);
}

template <Real Scalar>
void FactoredWeights<Scalar>::count(Index m, Index columns) {
  ++reads_[at_index(m)];
  work_ += static_cast<double>(network_.width(m)) * static_cast<double>(network_.width(m - 1)) *
           static_cast<double>(columns);
}

template class FactoredWeights<float>;
template class FactoredWeights<double>;

}  // namespace symport
