// SPDX-License-Identifier: MIT
#include "symport/objectives/mlp_objective.hpp"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "core/pool.hpp"
#include "core/position.hpp"
#include "core/thin_products.hpp"
#include "objectives/mlp_curvature.hpp"
#include "symport/core/gemm.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/thread_scope.hpp"

namespace symport {

template <Real Scalar>
MlpObjective<Scalar>::MlpObjective(Mlp network, Loss loss)
    : network_(std::move(network)), loss_(loss) {
  for (Matrices* states : {&Rh_, &Rz_, &Rdelta_}) states->resize(at(network_.layers()) + 1);
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
  inputs_.resize(network_.augmented_width(0), X.cols());
  inputs_.topRows(X.rows()) = X;
  if (network_.biases()) inputs_.bottomRows(1).setOnes();
  targets_ = targets;
  input_kernel_known_ = false;
}

template <Real Scalar>
std::unique_ptr<BatchObjective<Scalar>> MlpObjective<Scalar>::clone() const {
  return std::make_unique<MlpObjective>(network_, loss_);
}

template <Real Scalar>
MlpObjective<Scalar> MlpObjective<Scalar>::subset(const std::vector<Index>& samples) const {
  require_batch();
  const MatrixOf<Scalar> X = inputs_.topRows(network_.width(0))(Eigen::all, samples);
  return MlpObjective(network_, loss_, X, targets_.subset(samples));
}

template <Real Scalar>
void MlpObjective<Scalar>::require_batch() const {
  if (samples() == 0) throw std::logic_error("MlpObjective: no batch is bound");
}

template <Real Scalar>
void MlpObjective<Scalar>::forward(In<Scalar> w, MlpStates<Scalar>& states) const {
  require_batch();
  const Index p = network_.layers(), n = samples();
  states.h.resize(at(p));
  states.z.resize(at(p) + 1);
  for (Index m = 1; m <= p; ++m) {
    MatrixOf<Scalar>& z = states.z[at(m)];
    z.resize(network_.width(m), n);
    multiply<Scalar>(1, false, network_.augmented(m, w.data()), false, h(m - 1, states), 0, z);
    if (m == p) break;
    MatrixOf<Scalar>& h = states.h[at(m)];
    h.resize(network_.augmented_width(m), n);
    network_.activation().template value<Scalar>(z, h.topRows(network_.width(m)));
    if (network_.biases()) h.bottomRows(1).setOnes();
  }
}

template <Real Scalar>
double MlpObjective<Scalar>::loss_delta(MlpStates<Scalar>& states) const {
  const Index p = network_.layers();
  states.delta.resize(at(p) + 1);
  states.delta[at(p)].resize(network_.width(p), samples());
  return loss_.template delta<Scalar>(states.z[at(p)], targets_, states.delta[at(p)]);
}

template <Real Scalar>
void MlpObjective<Scalar>::backward(Index m, In<Scalar> w, MlpStates<Scalar>& states) const {
  MatrixOf<Scalar>& below = states.delta[at(m - 1)];
  below.resize(network_.width(m - 1), samples());
  multiply<Scalar>(1, true, network_.weights(m, w.data()), false, states.delta[at(m)], 0, below);
  network_.activation().template scale_by_slope<Scalar>(states.z[at(m - 1)], below);
}

template <Real Scalar>
double MlpObjective<Scalar>::backpropagate(In<Scalar> w, MlpStates<Scalar>& states) const {
  forward(w, states);
  const double loss = loss_delta(states);
  for (Index m = network_.layers(); m > 1; --m) backward(m, w, states);
  return loss;
}

template <Real Scalar>
double MlpObjective<Scalar>::value(In<Scalar> w) const {
  forward(w, states_);
  return loss_.template value<Scalar>(states_.z.back(), targets_);
}

template <Real Scalar>
double MlpObjective<Scalar>::gradient(In<Scalar> w, Out<Scalar> gradient) const {
  const double loss = backpropagate(w, states_);
  for (Index m = network_.layers(); m >= 1; --m) {
    multiply<Scalar>(1, false, states_.delta[at(m)], true, h(m - 1, states_), 0,
                     network_.augmented(m, gradient.data()));
  }
  return loss;
}

template <Real Scalar>
double MlpObjective<Scalar>::gradient_step(Out<Scalar> w, double learning_rate) const {
  forward(w, states_);
  const double loss = loss_delta(states_);
  for (Index m = network_.layers(); m >= 1; --m) {
    if (m > 1) backward(m, w, states_);
    multiply<Scalar>(static_cast<Scalar>(-learning_rate), false, states_.delta[at(m)], true,
                     h(m - 1, states_), 1, network_.augmented(m, w.data()));
  }
  return loss;
}

template <Real Scalar>
double MlpObjective<Scalar>::gradient_ranges(
    In<Scalar> w, const std::function<void(Index, In<Scalar>)>& use) const {
  forward(w, states_);
  const double loss = loss_delta(states_);
  for (Index m = network_.layers(); m >= 1; --m) {
    if (m > 1) backward(m, w, states_);
    product_ranges(m, states_.delta[at(m)], h(m - 1, states_), use);
  }
  return loss;
}

template <Real Scalar>
void MlpObjective<Scalar>::product_ranges(Index m, const MatrixOf<Scalar>& left,
                                          const MatrixOf<Scalar>& right,
                                          const std::function<void(Index, In<Scalar>)>& use) const {
  const Index rows = left.rows(), columns = right.rows();
  // A mini-batch: whole tiles of the kernel, and about as much as the first cache holds. Many
  // samples: the BLAS, with columns enough to be worth its preparations.
  const bool thin = samples() <= 64;
  const Index block = thin ? std::max<Index>(6, 4096 / rows / 6 * 6) : 128;
  OuterProduct<Scalar> product;
  if (thin) product.pack(left);
  const int parts = threads();
  run_parts(parts, [&](int part) {
    const Index blocks = (columns + block - 1) / block;
    VectorOf<Scalar> range(rows * block);
    for (Index b = blocks * part / parts; b < blocks * (part + 1) / parts; ++b) {
      const Index first = b * block, count = std::min(block, columns - first);
      if (thin) {
        product.columns(right, first, count, range.data());
      } else {
        multiply<Scalar>(1, false, left, true, right.middleRows(first, count), 0,
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
    Rz.resize(network_.width(m), samples());
    multiply<Scalar>(1, false, network_.augmented(m, v.data()), false, h(m - 1, states_), 0, Rz);
    if (m > 1) {
      multiply<Scalar>(1, false, network_.weights(m, w.data()), false, Rh_[at(m - 1)], 1, Rz);
    }
    if (m < network_.layers()) {
      Rh_[at(m)] = Rz;
      sigma.template scale_by_slope<Scalar>(states_.z[at(m)], Rh_[at(m)]);
    }
  }
}

template <Real Scalar>
void MlpObjective<Scalar>::hessian_vector(In<Scalar> w, In<Scalar> v, Out<Scalar> result) const {
  const Activation& sigma = network_.activation();
  const Index p = network_.layers();
  forward(w, states_);
  forward_along(w, v);
  loss_delta(states_);
  Rdelta_[at(p)].resize(network_.width(p), samples());
  loss_.template hessian_product<Scalar>(states_.z[at(p)], Rz_[at(p)], Rdelta_[at(p)]);
  for (Index m = p; m >= 1; --m) {
    // (N6). G_m = delta_m h_(m-1)', so its derivative along v has two parts; h's row of ones has
    // none.
    multiply<Scalar>(1, false, Rdelta_[at(m)], true, h(m - 1, states_), 0,
                     network_.augmented(m, result.data()));
    if (m == 1) break;
    multiply<Scalar>(1, false, states_.delta[at(m)], true, Rh_[at(m - 1)], 1,
                     network_.weights(m, result.data()));
    // With B = W_m' delta_m: delta = sigma' B, R{delta} = sigma'' R{z} B + sigma' R{B}.
    const Index q = m - 1;
    MatrixOf<Scalar>& B = states_.delta[at(q)];
    MatrixOf<Scalar>& RB = Rdelta_[at(q)];
    B.resize(network_.width(q), samples());
    RB.resize(network_.width(q), samples());
    multiply<Scalar>(1, true, network_.weights(m, w.data()), false, states_.delta[at(m)], 0, B);
    multiply<Scalar>(1, true, network_.weights(m, v.data()), false, states_.delta[at(m)], 0, RB);
    multiply<Scalar>(1, true, network_.weights(m, w.data()), false, Rdelta_[at(m)], 1, RB);
    sigma.template scale_by_slope<Scalar>(states_.z[at(q)], RB);
    if (!sigma.piecewise_linear()) {
      bend_.resize(RB.rows(), RB.cols());
      sigma.template derivative<Scalar>(2, states_.z[at(q)], bend_);
      RB.array() += bend_.array() * Rz_[at(q)].array() * B.array();
    }
    sigma.template scale_by_slope<Scalar>(states_.z[at(q)], B);
  }
}

template <Real Scalar>
double MlpObjective<Scalar>::curvature(In<Scalar> w, In<Scalar> v) const {
  // (N4), (N5). Second derivative of L along v: with r, s the first and second derivatives of z,
  // s_m = 2 V_m R{h} + W_m S, S_m = sigma'' r^2 + sigma' s, and v'Hv = <r_p, L'' r_p> + <delta_p,
  // s_p>.
  const Activation& sigma = network_.activation();
  const Index p = network_.layers();
  forward(w, states_);
  forward_along(w, v);
  Matrices& s = Rdelta_;
  for (Index m = 1; m <= p; ++m) {
    s[at(m)].resize(network_.width(m), samples());
    if (m == 1) {
      s[at(m)].setZero();
    } else {
      multiply<Scalar>(2, false, network_.weights(m, v.data()), false, Rh_[at(m - 1)], 0, s[at(m)]);
      multiply<Scalar>(1, false, network_.weights(m, w.data()), false, s[at(m - 1)], 1, s[at(m)]);
    }
    if (m == p) break;
    sigma.template scale_by_slope<Scalar>(states_.z[at(m)], s[at(m)]);
    if (!sigma.piecewise_linear()) {
      bend_.resize(network_.width(m), samples());
      sigma.template derivative<Scalar>(2, states_.z[at(m)], bend_);
      s[at(m)].array() += bend_.array() * Rz_[at(m)].array().square();
    }
  }
  loss_delta(states_);
  const double second =
      (states_.delta[at(p)].array() * s[at(p)].array()).template cast<double>().sum();
  loss_.template hessian_product<Scalar>(states_.z[at(p)], Rz_[at(p)], states_.delta[at(p)]);
  return second + (states_.delta[at(p)].array() * Rz_[at(p)].array()).template cast<double>().sum();
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
MatrixOf<Scalar> MlpObjective<Scalar>::outputs(In<Scalar> w) const {
  forward(w, states_);
  return states_.z.back();
}

template <Real Scalar>
Score MlpObjective<Scalar>::score(In<Scalar> w) const {
  const double loss = value(w);
  return {loss, accuracy_of(states_.z.back())};
}

template <Real Scalar>
Score MlpObjective<Scalar>::score(In<Scalar> w, Out<Scalar> gradient) const {
  const double loss = this->gradient(w, gradient);
  return {loss, accuracy_of(states_.z.back())};
}

template <Real Scalar>
double MlpObjective<Scalar>::accuracy(In<Scalar> w) const {
  if (!targets_.categorical()) throw std::logic_error("MlpObjective: accuracy needs classes");
  return score(w).accuracy;
}

template <Real Scalar>
double MlpObjective<Scalar>::accuracy_of(const MatrixOf<Scalar>& Z) const {
  if (!targets_.categorical()) return std::numeric_limits<double>::quiet_NaN();
  Index right = 0;
  for (Index j = 0; j < Z.cols(); ++j) {
    Index best = 0;
    Z.col(j).maxCoeff(&best);
    if (best == targets_.classes[at(j)]) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(Z.cols());
}

template class MlpObjective<float>;
template class MlpObjective<double>;

}  // namespace symport
