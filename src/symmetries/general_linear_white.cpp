// SPDX-License-Identifier: MIT
// The white gauge of a network: equations (W1) to (W4) of docs/mathematics/white_gauge.md.
#include <algorithm>
#include <cmath>

#include "core/position.hpp"
#include "symmetries/general_linear_orbit.hpp"
#include "symmetries/network_blocks.hpp"
#include "symport/core/gemm.hpp"

namespace symport {

namespace {

double sum_of_products(const auto& A, const auto& B) {
  return (A.array() * B.array()).template cast<double>().sum();
}

}  // namespace

template <Real Scalar>
bool GeneralLinearOrbit<Scalar>::go_white(const std::vector<double>& c,
                                          const WhiteMapOptions& options) {
  return_to_start();
  if (white_.empty() || options.damping != white_options_.damping ||
      options.floor != white_options_.floor) {
    white_options_ = options;
    white_.assign(at(layers()), {});
    for (Index m = 1; m < layers(); ++m) {
      if (weights_.moved(m)) white_[at(m)] = white_map<Scalar>(base().h[at(m)], options);
    }
  }
  // Where scales commute with the activation, they scale all of the weights and not only what the
  // batch sees of them.
  const bool rescales = mlp().network().activation().positively_homogeneous();
  std::vector<double> scales(c.size(), 1.0);
  Point& next = points_[1 - base_];
  next.forget();
  for (Index m = 1; m < layers(); ++m) {
    next.h[at(m)] = base().h[at(m)];
    next.z[at(m)] = base().z[at(m)];
    next.step[at(m)] = {};
    if (!weights_.moved(m)) continue;
    scales[at(m - 1)] = c[at(m - 1)];
    next.step[at(m)] = white_[at(m)].times(rescales ? 1.0 : c[at(m - 1)]);
    if (!next.step[at(m)].invertible()) return false;
    next.step[at(m)].apply(next.h[at(m)]);
    mlp().network().activation().template inverse<Scalar>(next.h[at(m)], next.z[at(m)]);
    if (!next.z[at(m)].allFinite()) return false;
  }
  current_ = 1 - base_;
  adopt();
  if (rescales) weights_.rescale(scales, base());
  return true;
}

namespace {

/// K of a block's own inputs: with the ones, without them, or of the ones alone.
template <Real Scalar>
MatrixOf<Scalar> own_kernel(const NetworkBlock& block, bool biases, const MatrixOf<Scalar>& K) {
  if (!block.weights) return MatrixOf<Scalar>::Ones(K.rows(), K.cols());
  return K.array() - Scalar(biases && !block.biases ? 1 : 0);
}

/// M_ab += <r_a, l''(z) r_b> for b <= a: (W4), its first term.
template <Real Scalar>
void add_loss_curvature(const Loss& loss, const MatrixOf<Scalar>& z, const MatrixOf<Scalar>& r,
                        Matrix& M) {
  const Index n = z.cols();
  MatrixOf<Scalar> product(z.rows(), n);
  for (Index a = 0; a < M.rows(); ++a) {
    loss.hessian_product<Scalar>(z, r.middleCols(a * n, n), product);
    for (Index b = 0; b <= a; ++b) {
      M(a, b) += sum_of_products(product, r.middleCols(b * n, n));
    }
  }
}

}  // namespace

template <Real Scalar>
ScaleModel GeneralLinearOrbit<Scalar>::scale_model() {
  Point& x = current();
  compute_gradient(x);
  const Mlp& network = mlp().network();
  const Activation& sigma = network.activation();
  const Index n = samples_, p = layers();
  const std::vector<NetworkBlock> blocks = network_blocks(network);
  const auto count = static_cast<Index>(blocks.size());
  ScaleModel model{Vector::Zero(count), Matrix::Zero(count, count), {}};
  // r of every block side by side, upwards: (N4) for the gradient in one block after the other.
  MatrixOf<Scalar> r, R, below;
  Index known = 0;  // blocks of the layers so far
  for (Index m = 1; m <= p; ++m) {
    const Index before = known;
    while (known < count && blocks[at(known)].layer == m) ++known;
    r.resize(width(m), known * n);
    if (before > 0) {
      MatrixOf<Scalar> scratch(n, before * n);
      weights_.times(m, x, below.leftCols(before * n), 0, r.leftCols(before * n), scratch);
    }
    for (Index a = before; a < known; ++a) {
      // <G_a, d/de G_a> along the blocks below: (W4), its last term
      for (Index b = 0; b < before && blocks[at(a)].weights; ++b) {
        square_.resize(n, n);
        multiply<Scalar>(1, true, x.h[at(m - 1)], false, below.middleCols(b * n, n), 0, square_);
        model.M(a, b) += sum_of_products(x.Delta[at(m)], square_);
      }
      const MatrixOf<Scalar> K =
          own_kernel<Scalar>(blocks[at(a)], network.biases(), x.K[at(m - 1)]);
      model.J[a] = sum_of_products(x.Delta[at(m)], K);
      multiply<Scalar>(1, false, x.delta[at(m)], false, K, 0, r.middleCols(a * n, n));
    }
    if (m == p) break;
    R.resize(width(m), known * n);
    if (!sigma.piecewise_linear()) {
      second_.resize(width(m), n);
      sigma.template derivative<Scalar>(2, x.z[at(m)], second_);
      second_.array() *= x.B[at(m)].array();
    }
    for (Index a = 0; a < known; ++a) {
      const auto ra = r.middleCols(a * n, n);
      R.middleCols(a * n, n) = x.slope[at(m)].cwiseProduct(ra);
      if (sigma.piecewise_linear()) continue;
      for (Index b = 0; b <= a; ++b) {
        model.M(a, b) += sum_of_products(second_, ra.cwiseProduct(r.middleCols(b * n, n)));
      }
    }
    below = R;
  }
  add_loss_curvature<Scalar>(mlp().loss(), x.z[at(p)], r, model.M);
  model.M = Matrix(model.M.template selfadjointView<Eigen::Lower>());
  std::vector<bool> scaled(at(p) + 1, false);
  for (Index m = 1; m < p; ++m) scaled[at(m)] = weights_.moved(m);
  model.exponents = block_exponents(blocks, scaled);
  charge_products();
  return model;
}

template <Real Scalar>
std::vector<double> GeneralLinearOrbit<Scalar>::all_scales(const Vector& log_c) const {
  std::vector<double> c(at(layers() - 1), 1.0);
  Index column = 0;
  for (Index m = 1; m < layers(); ++m) {
    if (weights_.moved(m)) c[at(m - 1)] = std::exp(log_c[column++]);
  }
  return c;
}

template bool GeneralLinearOrbit<float>::go_white(const std::vector<double>&,
                                                  const WhiteMapOptions&);
template bool GeneralLinearOrbit<double>::go_white(const std::vector<double>&,
                                                   const WhiteMapOptions&);
template ScaleModel GeneralLinearOrbit<float>::scale_model();
template ScaleModel GeneralLinearOrbit<double>::scale_model();
template std::vector<double> GeneralLinearOrbit<float>::all_scales(const Vector&) const;
template std::vector<double> GeneralLinearOrbit<double>::all_scales(const Vector&) const;

}  // namespace symport
