// SPDX-License-Identifier: MIT
#include "symport/objectives/mlp_objective.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "core/pool.hpp"
#include "core/thin_products.hpp"
#include "objectives/mlp_curvature.hpp"
#include "symport/core/gemm.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

std::size_t at(Index m) { return static_cast<std::size_t>(m); }

}  // namespace

template <Real Scalar>
MlpObjective<Scalar>::MlpObjective(Mlp network, Loss loss)
    : network_(std::move(network)), loss_(loss) {
  const std::size_t count = at(network_.layers()) + 1;
  for (Matrices* states : {&h_, &z_, &delta_, &Rh_, &Rz_, &Rdelta_}) states->resize(count);
}

template <Real Scalar>
MlpObjective<Scalar>::MlpObjective(Mlp network, Loss loss, MatrixIn<Scalar> X,
                                   const Targets<Scalar>& targets)
    : MlpObjective(std::move(network), loss) {
  bind(X, targets);
}

template <Real Scalar>
void MlpObjective<Scalar>::bind(MatrixIn<Scalar> X, const Targets<Scalar>& targets) {
  if (X.rows() != network_.width(0)) {
    throw InvalidArgument("X", fmt::format("{} features", X.rows()),
                          fmt::format("{}, the first layer's width", network_.width(0)));
  }
  if (X.cols() < 1) throw InvalidArgument("X", "no samples", "one or more");
  if (!X.allFinite()) throw InvalidArgument("X", "a non-finite number", "finite numbers");
  loss_.check(targets, network_.width(network_.layers()), X.cols());
  resize(X.cols());
  h_[0].topRows(X.rows()) = X;
  targets_ = targets;
}

template <Real Scalar>
void MlpObjective<Scalar>::resize(Index samples) {
  if (samples == samples_) return;
  samples_ = samples;
  for (Index m = 0; m <= network_.layers(); ++m) {
    if (m < network_.layers()) {
      h_[at(m)].resize(network_.augmented_width(m), samples);
      if (network_.biases()) h_[at(m)].bottomRows(1).setOnes();
    }
    if (m > 0) {
      z_[at(m)].resize(network_.width(m), samples);
      delta_[at(m)].resize(network_.width(m), samples);
    }
  }
}

template <Real Scalar>
MlpObjective<Scalar> MlpObjective<Scalar>::subset(const std::vector<Index>& samples) const {
  require_batch();
  const MatrixOf<Scalar> X = h_[0].topRows(network_.width(0))(Eigen::all, samples);
  return MlpObjective(network_, loss_, X, targets_.subset(samples));
}

template <Real Scalar>
void MlpObjective<Scalar>::require_batch() const {
  if (samples_ == 0) throw std::logic_error("MlpObjective: no batch is bound");
}

template <Real Scalar>
void MlpObjective<Scalar>::forward(In<Scalar> w) const {
  require_batch();
  for (Index m = 1; m <= network_.layers(); ++m) {
    multiply<Scalar>(1, false, network_.augmented(m, w.data()), false, h_[at(m - 1)], 0, z_[at(m)]);
    if (m < network_.layers()) {
      network_.activation().template value<Scalar>(z_[at(m)], h_[at(m)].topRows(network_.width(m)));
    }
  }
}

template <Real Scalar>
void MlpObjective<Scalar>::backward(Index m, In<Scalar> w) const {
  multiply<Scalar>(1, true, network_.weights(m, w.data()), false, delta_[at(m)], 0,
                   delta_[at(m - 1)]);
  network_.activation().template scale_by_slope<Scalar>(z_[at(m - 1)], delta_[at(m - 1)]);
}

template <Real Scalar>
double MlpObjective<Scalar>::value(In<Scalar> w) const {
  return loss_.template value<Scalar>(outputs(w), targets_);
}

template <Real Scalar>
double MlpObjective<Scalar>::backpropagate(In<Scalar> w) const {
  forward(w);
  const Index p = network_.layers();
  const double loss = loss_.template delta<Scalar>(z_[at(p)], targets_, delta_[at(p)]);
  for (Index m = p; m > 1; --m) backward(m, w);
  return loss;
}

template <Real Scalar>
double MlpObjective<Scalar>::gradient(In<Scalar> w, Out<Scalar> gradient) const {
  const double loss = backpropagate(w);
  for (Index m = network_.layers(); m >= 1; --m) {
    multiply<Scalar>(1, false, delta_[at(m)], true, h_[at(m - 1)], 0,
                     network_.augmented(m, gradient.data()));
  }
  return loss;
}

template <Real Scalar>
double MlpObjective<Scalar>::sgd_step(Out<Scalar> w, double learning_rate) const {
  forward(w);
  const Index p = network_.layers();
  const double loss = loss_.template delta<Scalar>(z_[at(p)], targets_, delta_[at(p)]);
  for (Index m = p; m >= 1; --m) {
    if (m > 1) backward(m, w);
    multiply<Scalar>(static_cast<Scalar>(-learning_rate), false, delta_[at(m)], true, h_[at(m - 1)],
                     1, network_.augmented(m, w.data()));
  }
  return loss;
}

template <Real Scalar>
double MlpObjective<Scalar>::gradient_ranges(
    In<Scalar> w, const std::function<void(Index, In<Scalar>)>& use) const {
  forward(w);
  const Index p = network_.layers();
  const double loss = loss_.template delta<Scalar>(z_[at(p)], targets_, delta_[at(p)]);
  for (Index m = p; m >= 1; --m) {
    if (m > 1) backward(m, w);
    layer_ranges(m, use);
  }
  return loss;
}

template <Real Scalar>
void MlpObjective<Scalar>::layer_ranges(Index m,
                                        const std::function<void(Index, In<Scalar>)>& use) const {
  const MatrixOf<Scalar>&delta = delta_[at(m)], &h = h_[at(m - 1)];
  const Index rows = delta.rows(), columns = h.rows();
  // A mini-batch: whole tiles of the kernel, and about as much as the first cache holds. Many
  // samples: the BLAS, with columns enough to be worth its preparations.
  const bool thin = samples_ <= 64;
  const Index block = thin ? std::max<Index>(6, 4096 / rows / 6 * 6) : 128;
  OuterProduct<Scalar> product;
  if (thin) product.pack(delta);
  const int parts = pool_threads();
  run_parts(parts, [&](int part) {
    const Index blocks = (columns + block - 1) / block;
    VectorOf<Scalar> range(rows * block);
    for (Index b = blocks * part / parts; b < blocks * (part + 1) / parts; ++b) {
      const Index first = b * block, count = std::min(block, columns - first);
      if (thin) {
        product.columns(h, first, count, range.data());
      } else {
        multiply<Scalar>(1, false, delta, true, h.middleRows(first, count), 0,
                         Eigen::Map<MatrixOf<Scalar>>(range.data(), rows, count));
      }
      use(network_.offset(m) + first * rows, range.head(rows * count));
    }
  });
}

template <Real Scalar>
void MlpObjective<Scalar>::forward_along(In<Scalar> w, In<Scalar> v) const {
  const Activation& sigma = network_.activation();
  for (Index m = 1; m <= network_.layers(); ++m) {
    MatrixOf<Scalar>& Rz = Rz_[at(m)];
    Rz.resize(network_.width(m), samples_);
    multiply<Scalar>(1, false, network_.augmented(m, v.data()), false, h_[at(m - 1)], 0, Rz);
    if (m > 1) {
      multiply<Scalar>(1, false, network_.weights(m, w.data()), false, Rh_[at(m - 1)], 1, Rz);
    }
    if (m < network_.layers()) {
      Rh_[at(m)] = Rz;
      sigma.template scale_by_slope<Scalar>(z_[at(m)], Rh_[at(m)]);
    }
  }
}

template <Real Scalar>
void MlpObjective<Scalar>::hessian_vector(In<Scalar> w, In<Scalar> v, Out<Scalar> result) const {
  const Activation& sigma = network_.activation();
  const Index p = network_.layers();
  forward(w);
  forward_along(w, v);
  loss_.template delta<Scalar>(z_[at(p)], targets_, delta_[at(p)]);
  Rdelta_[at(p)].resize(network_.width(p), samples_);
  loss_.template hessian_product<Scalar>(z_[at(p)], Rz_[at(p)], Rdelta_[at(p)]);
  for (Index m = p; m >= 1; --m) {
    // G_m = delta_m h_(m-1)', so its derivative along v has two parts; h's row of ones has none.
    multiply<Scalar>(1, false, Rdelta_[at(m)], true, h_[at(m - 1)], 0,
                     network_.augmented(m, result.data()));
    if (m == 1) break;
    multiply<Scalar>(1, false, delta_[at(m)], true, Rh_[at(m - 1)], 1,
                     network_.weights(m, result.data()));
    // With B = W_m' delta_m: delta = sigma' B, R{delta} = sigma'' R{z} B + sigma' R{B}.
    const Index q = m - 1;
    MatrixOf<Scalar>& B = delta_[at(q)];
    MatrixOf<Scalar>& RB = Rdelta_[at(q)];
    RB.resize(network_.width(q), samples_);
    multiply<Scalar>(1, true, network_.weights(m, w.data()), false, delta_[at(m)], 0, B);
    multiply<Scalar>(1, true, network_.weights(m, v.data()), false, delta_[at(m)], 0, RB);
    multiply<Scalar>(1, true, network_.weights(m, w.data()), false, Rdelta_[at(m)], 1, RB);
    sigma.template scale_by_slope<Scalar>(z_[at(q)], RB);
    if (!sigma.piecewise_linear()) {
      bend_.resize(RB.rows(), RB.cols());
      sigma.template derivative<Scalar>(2, z_[at(q)], bend_);
      RB.array() += bend_.array() * Rz_[at(q)].array() * B.array();
    }
    sigma.template scale_by_slope<Scalar>(z_[at(q)], B);
  }
}

template <Real Scalar>
double MlpObjective<Scalar>::curvature(In<Scalar> w, In<Scalar> v) const {
  // Second derivative of L along v: with r, s the first and second derivatives of z,
  // s_m = 2 V_m R{h} + W_m S, S_m = sigma'' r^2 + sigma' s, and v'Hv = <r_p, L'' r_p> + <delta_p,
  // s_p>.
  const Activation& sigma = network_.activation();
  const Index p = network_.layers();
  forward(w);
  forward_along(w, v);
  Matrices& s = Rdelta_;
  for (Index m = 1; m <= p; ++m) {
    s[at(m)].resize(network_.width(m), samples_);
    if (m == 1) {
      s[at(m)].setZero();
    } else {
      multiply<Scalar>(2, false, network_.weights(m, v.data()), false, Rh_[at(m - 1)], 0, s[at(m)]);
      multiply<Scalar>(1, false, network_.weights(m, w.data()), false, s[at(m - 1)], 1, s[at(m)]);
    }
    if (m == p) break;
    sigma.template scale_by_slope<Scalar>(z_[at(m)], s[at(m)]);
    if (!sigma.piecewise_linear()) {
      bend_.resize(network_.width(m), samples_);
      sigma.template derivative<Scalar>(2, z_[at(m)], bend_);
      s[at(m)].array() += bend_.array() * Rz_[at(m)].array().square();
    }
  }
  loss_.template delta<Scalar>(z_[at(p)], targets_, delta_[at(p)]);
  const double second = (delta_[at(p)].array() * s[at(p)].array()).template cast<double>().sum();
  loss_.template hessian_product<Scalar>(z_[at(p)], Rz_[at(p)], delta_[at(p)]);
  return second + (delta_[at(p)].array() * Rz_[at(p)].array()).template cast<double>().sum();
}

template <Real Scalar>
std::unique_ptr<LocalCurvature<Scalar>> MlpObjective<Scalar>::local_curvature(
    In<Scalar> w, KnownGradient<Scalar> known) const {
  if (MlpHessian<Scalar>::worthwhile(*this)) {
    return std::make_unique<MlpCurvature<Scalar>>(*this, w, std::move(known));
  }
  return BasicObjective<Scalar>::local_curvature(w, std::move(known));
}

template <Real Scalar>
const MatrixOf<Scalar>& MlpObjective<Scalar>::outputs(In<Scalar> w) const {
  forward(w);
  return z_[at(network_.layers())];
}

template <Real Scalar>
double MlpObjective<Scalar>::accuracy(In<Scalar> w) const {
  forward(w);
  return last_accuracy();
}

template <Real Scalar>
double MlpObjective<Scalar>::last_accuracy() const {
  if (!targets_.categorical()) throw std::logic_error("MlpObjective: accuracy needs classes");
  const MatrixOf<Scalar>& Z = z_[at(network_.layers())];
  Index right = 0;
  for (Index j = 0; j < samples_; ++j) {
    Index best = 0;
    Z.col(j).maxCoeff(&best);
    if (best == targets_.classes[at(j)]) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(samples_);
}

template class MlpObjective<float>;
template class MlpObjective<double>;

}  // namespace symport
