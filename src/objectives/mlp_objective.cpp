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
    : network_(std::move(network)), loss_(loss) {}

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
  ++batch_;
  inputs_.resize(network_.augmented_width(0), X.cols());
  inputs_.topRows(X.rows()) = X;
  if (network_.biases()) inputs_.bottomRows(1).setOnes();
  targets_ = targets;
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
double MlpObjective<Scalar>::value(In<Scalar> w, MlpStates<Scalar>& states) const {
  forward(w, states);
  return loss_.template value<Scalar>(states.z.back(), targets_);
}

template <Real Scalar>
double MlpObjective<Scalar>::gradient(In<Scalar> w, Out<Scalar> gradient,
                                      MlpStates<Scalar>& states) const {
  const double loss = backpropagate(w, states);
  for (Index m = network_.layers(); m >= 1; --m) {
    multiply<Scalar>(1, false, states.delta[at(m)], true, h(m - 1, states), 0,
                     network_.augmented(m, gradient.data()));
  }
  return loss;
}

template <Real Scalar>
double MlpObjective<Scalar>::value(In<Scalar> w) const {
  Loan own(workspaces_);
  return value(w, own->states);
}

template <Real Scalar>
double MlpObjective<Scalar>::gradient(In<Scalar> w, Out<Scalar> gradient) const {
  Loan own(workspaces_);
  return this->gradient(w, gradient, own->states);
}

template <Real Scalar>
double MlpObjective<Scalar>::gradient_step(Out<Scalar> w, double learning_rate) const {
  Loan own(workspaces_);
  MlpStates<Scalar>& states = own->states;
  forward(w, states);
  const double loss = loss_delta(states);
  for (Index m = network_.layers(); m >= 1; --m) {
    if (m > 1) backward(m, w, states);
    multiply<Scalar>(static_cast<Scalar>(-learning_rate), false, states.delta[at(m)], true,
                     h(m - 1, states), 1, network_.augmented(m, w.data()));
  }
  return loss;
}

template <Real Scalar>
double MlpObjective<Scalar>::gradient_ranges(
    In<Scalar> w, const std::function<void(Index, In<Scalar>)>& use) const {
  return gradient_ranges(
      w, [](Index, const MatrixOf<Scalar>& h) -> const MatrixOf<Scalar>& { return h; }, use);
}

template <Real Scalar>
double MlpObjective<Scalar>::gradient_ranges(
    In<Scalar> w, const MapInputs& inputs,
    const std::function<void(Index, In<Scalar>)>& use) const {
  Loan own(workspaces_);
  MlpStates<Scalar>& states = own->states;
  forward(w, states);
  const double loss = loss_delta(states);
  for (Index m = network_.layers(); m >= 1; --m) {
    if (m > 1) backward(m, w, states);
    product_ranges(m, states.delta[at(m)], inputs(m, h(m - 1, states)), use);
  }
  return loss;
}

template <Real Scalar>
void MlpObjective<Scalar>::weight_inputs(In<Scalar> w, const UseInputs<Scalar>& use) const {
  Loan own(workspaces_);
  forward(w, own->states);
  for (Index m = 1; m <= network_.layers(); ++m) {
    use({.first = network_.offset(m),
         .outputs = network_.width(m),
         .h = h(m - 1, own->states).topRows(network_.width(m - 1)),
         .kind = m == 1 ? InputKind::data : InputKind::hidden});
  }
}

template <Real Scalar>
void MlpObjective<Scalar>::input_kernel(MatrixOf<Scalar>& kernel) const {
  Loan own(workspaces_);
  if (own->kernel_batch != batch_ || own->kernel_threads != threads()) {
    own->kernel_batch = 0;  // should there be no memory for it
    const Index order = std::min(inputs_.rows(), inputs_.cols());
    own->input_kernel.resize(order, order);
    if (inputs_.cols() <= inputs_.rows()) {
      gram<Scalar>(inputs_, own->input_kernel);
    } else {
      row_gram<Scalar>(inputs_, own->input_kernel);
    }
    own->kernel_batch = batch_;
    own->kernel_threads = threads();
  }
  kernel = own->input_kernel;
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
void MlpObjective<Scalar>::forward_along(In<Scalar> w, In<Scalar> v, Workspace& own) const {
  const Activation& sigma = network_.activation();
  forward(w, own.states);
  for (Matrices* along : {&own.Rh, &own.Rz, &own.Rdelta}) along->resize(at(network_.layers()) + 1);
  for (Index m = 1; m <= network_.layers(); ++m) {
    MatrixOf<Scalar>& Rz = own.Rz[at(m)];
    Rz.resize(network_.width(m), samples());
    multiply<Scalar>(1, false, network_.augmented(m, v.data()), false, h(m - 1, own.states), 0, Rz);
    if (m > 1) {
      multiply<Scalar>(1, false, network_.weights(m, w.data()), false, own.Rh[at(m - 1)], 1, Rz);
    }
    if (m < network_.layers()) {
      own.Rh[at(m)] = Rz;
      sigma.template scale_by_slope<Scalar>(own.states.z[at(m)], own.Rh[at(m)]);
    }
  }
}

template <Real Scalar>
void MlpObjective<Scalar>::hessian_vector(In<Scalar> w, In<Scalar> v, Out<Scalar> result) const {
  const Activation& sigma = network_.activation();
  const Index p = network_.layers();
  Loan loan(workspaces_);
  Workspace& own = *loan;
  forward_along(w, v, own);
  loss_delta(own.states);
  own.Rdelta[at(p)].resize(network_.width(p), samples());
  loss_.template hessian_product<Scalar>(own.states.z[at(p)], own.Rz[at(p)], own.Rdelta[at(p)]);
  for (Index m = p; m >= 1; --m) {
    // (N6). G_m = delta_m h_(m-1)', so its derivative along v has two parts; h's row of ones has
    // none.
    multiply<Scalar>(1, false, own.Rdelta[at(m)], true, h(m - 1, own.states), 0,
                     network_.augmented(m, result.data()));
    if (m == 1) break;
    multiply<Scalar>(1, false, own.states.delta[at(m)], true, own.Rh[at(m - 1)], 1,
                     network_.weights(m, result.data()));
    // With B = W_m' delta_m: delta = sigma' B, R{delta} = sigma'' R{z} B + sigma' R{B}.
    const Index q = m - 1;
    MatrixOf<Scalar>& B = own.states.delta[at(q)];
    MatrixOf<Scalar>& RB = own.Rdelta[at(q)];
    B.resize(network_.width(q), samples());
    RB.resize(network_.width(q), samples());
    multiply<Scalar>(1, true, network_.weights(m, w.data()), false, own.states.delta[at(m)], 0, B);
    multiply<Scalar>(1, true, network_.weights(m, v.data()), false, own.states.delta[at(m)], 0, RB);
    multiply<Scalar>(1, true, network_.weights(m, w.data()), false, own.Rdelta[at(m)], 1, RB);
    sigma.template scale_by_slope<Scalar>(own.states.z[at(q)], RB);
    if (!sigma.piecewise_linear()) {
      own.bend.resize(RB.rows(), RB.cols());
      sigma.template derivative<Scalar>(2, own.states.z[at(q)], own.bend);
      RB.array() += own.bend.array() * own.Rz[at(q)].array() * B.array();
    }
    sigma.template scale_by_slope<Scalar>(own.states.z[at(q)], B);
  }
}

template <Real Scalar>
double MlpObjective<Scalar>::curvature(In<Scalar> w, In<Scalar> v) const {
  // (N4), (N5). Second derivative of L along v: with r, s the first and second derivatives of z,
  // s_m = 2 V_m R{h} + W_m S, S_m = sigma'' r^2 + sigma' s, and v'Hv = <r_p, L'' r_p> + <delta_p,
  // s_p>.
  const Activation& sigma = network_.activation();
  const Index p = network_.layers();
  Loan loan(workspaces_);
  Workspace& own = *loan;
  forward_along(w, v, own);
  Matrices& s = own.Rdelta;
  for (Index m = 1; m <= p; ++m) {
    s[at(m)].resize(network_.width(m), samples());
    if (m == 1) {
      s[at(m)].setZero();
    } else {
      multiply<Scalar>(2, false, network_.weights(m, v.data()), false, own.Rh[at(m - 1)], 0,
                       s[at(m)]);
      multiply<Scalar>(1, false, network_.weights(m, w.data()), false, s[at(m - 1)], 1, s[at(m)]);
    }
    if (m == p) break;
    sigma.template scale_by_slope<Scalar>(own.states.z[at(m)], s[at(m)]);
    if (!sigma.piecewise_linear()) {
      own.bend.resize(network_.width(m), samples());
      sigma.template derivative<Scalar>(2, own.states.z[at(m)], own.bend);
      s[at(m)].array() += own.bend.array() * own.Rz[at(m)].array().square();
    }
  }
  loss_delta(own.states);
  const double second =
      (own.states.delta[at(p)].array() * s[at(p)].array()).template cast<double>().sum();
  loss_.template hessian_product<Scalar>(own.states.z[at(p)], own.Rz[at(p)],
                                         own.states.delta[at(p)]);
  return second +
         (own.states.delta[at(p)].array() * own.Rz[at(p)].array()).template cast<double>().sum();
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
  Loan own(workspaces_);
  forward(w, own->states);
  return own->states.z.back();
}

template <Real Scalar>
Score MlpObjective<Scalar>::score(In<Scalar> w) const {
  Loan own(workspaces_);
  MlpStates<Scalar>& states = own->states;
  const double loss = value(w, states);
  return {loss, accuracy_of(states.z.back())};
}

template <Real Scalar>
Score MlpObjective<Scalar>::score(In<Scalar> w, Out<Scalar> gradient) const {
  Loan own(workspaces_);
  MlpStates<Scalar>& states = own->states;
  const double loss = this->gradient(w, gradient, states);
  return {loss, accuracy_of(states.z.back())};
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
