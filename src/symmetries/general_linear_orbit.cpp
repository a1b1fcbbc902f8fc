// SPDX-License-Identifier: MIT
#include "symmetries/general_linear_orbit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/dense.hpp"
#include "core/lanczos.hpp"
#include "core/position.hpp"
#include "symport/core/gemm.hpp"

namespace symport {

namespace {

/// Units of a layer up to which the condition of its element comes from all singular values.
constexpr Index largest_dense_condition = 128;

/// A'A.
template <Real Scalar>
MatrixOf<Scalar> gram_of(const MatrixOf<Scalar>& A) {
  MatrixOf<Scalar> product(A.cols(), A.cols());
  gram<Scalar>(A, product);
  return product;
}

/// The largest singular value of g, given x -> g'g x.
template <Real Scalar, class Apply>
double largest_singular_value(Index order, const Apply& apply) {
  Lanczos<Scalar> krylov(order, std::min<Index>(order, 20), [&](const Scalar* x, Scalar* y) {
    Eigen::Map<MatrixOf<Scalar>> Y(y, order, 1);
    Y = Eigen::Map<const MatrixOf<Scalar>>(x, order, 1);
    apply(Y);
  });
  VectorOf<Scalar> start = VectorOf<Scalar>::Ones(order);
  for (Index i = 0; i < order; ++i) {
    start[i] += static_cast<Scalar>(std::sin(12.9898 * double(i + 1)));
  }
  krylov.begin(start);
  double value = 0.0;
  while (krylov.steps() < krylov.capacity()) {
    krylov.step();
    const double last = value;
    value = krylov.value();
    if (!std::isfinite(value)) return value;
    if (krylov.steps() > 2 && value - last < 2e-3 * value) break;
    if (krylov.remainder() < 1e-3 * value) break;
  }
  return std::sqrt(value);
}

}  // namespace

template <Real Scalar>
void GeneralLinearOrbit<Scalar>::Point::forget() {
  grad_sq.reset();
  curvature.reset();
  has_first = false;
}

template <Real Scalar>
GeneralLinearOrbit<Scalar>::GeneralLinearOrbit(const BasicObjective<Scalar>& asked,
                                               std::unique_ptr<const MlpObjective<Scalar>> part,
                                               const MlpStates<Scalar>& states, const Matrices& ell,
                                               In<Scalar> w, Index max_rank, std::string note)
    : BasicOrbit<Scalar>(asked),
      part_(std::move(part)),
      note_(std::move(note)),
      max_rank_(max_rank),
      samples_(mlp().samples()),
      weights_(mlp().network(), states, ell, w),
      directions_(at(mlp().network().layers())) {
  const MlpObjective<Scalar>& objective = mlp();
  const std::size_t count = at(layers()) + 1;
  for (Point& x : points_) {
    static_cast<GlPosition<Scalar>&>(x) = weights_.start();
    for (Matrices* all :
         {&x.slope, &x.B, &x.delta, &x.K, &x.Delta, &x.M, &x.rs, &x.RS, &x.ell_RS}) {
      all->resize(count);
    }
    // What is the same all over the orbit: the inputs, the outputs, and so dL/dz_p.
    x.K[0] = gram_of(objective.inputs());
    MatrixOf<Scalar>& delta = x.delta[at(layers())];
    delta.resize(width(layers()), samples_);
    start_loss_ =
        objective.loss().template delta<Scalar>(states.z[at(layers())], objective.targets(), delta);
    x.Delta[at(layers())] = gram_of(delta);
    x.z.push_back(states.z[at(layers())]);
  }
  for (Matrices* all : {&adjoint_.sr, &adjoint_.back, &adjoint_.h, &adjoint_.z, &adjoint_.B,
                        &adjoint_.delta, &adjoint_.ell_B}) {
    all->resize(count);
  }
  this->charge_states(0.5);
}

template <Real Scalar>
void GeneralLinearOrbit<Scalar>::charge_products() {
  // A gradient takes 3 products of n columns with every W_m but W_1, which takes 2.
  double gradient = 0.0;
  for (Index m = 1; m <= layers(); ++m) {
    gradient += (m == 1 ? 2.0 : 3.0) * static_cast<double>(width(m) * width(m - 1) * samples_);
  }
  this->charge_states((weights_.work() - charged_) / gradient);
  charged_ = weights_.work();
}

template <Real Scalar>
void GeneralLinearOrbit<Scalar>::compute_gradient(Point& x) {
  if (x.grad_sq) return;
  const Activation& sigma = mlp().network().activation();
  const Scalar ones = mlp().network().biases() ? 1 : 0;
  // (N2) downwards from delta_p, which is the same all over the orbit; the row of ones adds 1 to K.
  for (Index m = layers() - 1; m >= 1; --m) {
    x.B[at(m)].resize(width(m), samples_);
    weights_.transposed_times(m + 1, x, x.delta[at(m + 1)], x.B[at(m)]);
    x.slope[at(m)].resize(width(m), samples_);
    sigma.template derivative<Scalar>(1, x.z[at(m)], x.slope[at(m)]);
    x.delta[at(m)] = x.slope[at(m)].cwiseProduct(x.B[at(m)]);
    x.Delta[at(m)] = gram_of(x.delta[at(m)]);
    x.K[at(m)] = gram_of(x.h[at(m)]).array() + ones;
  }
  double sum = 0.0;  // (N3)
  for (Index m = 1; m <= layers(); ++m) {
    sum += x.Delta[at(m)]
               .template cast<double>()
               .cwiseProduct(x.K[at(m - 1)].template cast<double>())
               .sum();
  }
  x.grad_sq = sum;
  charge_products();
}

template <Real Scalar>
void GeneralLinearOrbit<Scalar>::compute_curvature(Point& x, bool second) {
  compute_gradient(x);
  if (second ? x.curvature.has_value() : x.has_first) return;
  const Activation& sigma = mlp().network().activation();
  // The columns of the blocks [r s] that are missing begin at `from`.
  const Index n = samples_, from = x.has_first ? n : 0;
  const bool first = from == 0;
  for (Index m = 1; m <= layers(); ++m) {
    MatrixOf<Scalar>& rs = x.rs[at(m)];
    MatrixOf<Scalar>& RS = x.RS[at(m)];
    rs.resize(width(m), 2 * n);
    auto r = rs.leftCols(n), s = rs.rightCols(n);
    // (G5): r_m = delta_m K_(m-1) + W_m R_(m-1)
    // (C1): s_m = 2 delta_m M_(m-1) + W_m S_(m-1)
    if (first) multiply<Scalar>(1, false, x.delta[at(m)], false, x.K[at(m - 1)], 0, r);
    if (m == 1) {
      if (second) s.setZero();
    } else {
      if (second) {
        x.M[at(m - 1)].resize(n, n);
        multiply<Scalar>(1, true, x.h[at(m - 1)], false, x.RS[at(m - 1)].leftCols(n), 0,
                         x.M[at(m - 1)]);
        multiply<Scalar>(2, false, x.delta[at(m)], false, x.M[at(m - 1)], 0, s);
      }
      const Index stop = second && bends(m - 1) ? 2 * n : n;
      x.ell_RS[at(m)].resize(n, 2 * n);
      if (stop > from) {
        weights_.times(m, x, x.RS[at(m - 1)].middleCols(from, stop - from), 1,
                       rs.middleCols(from, stop - from),
                       x.ell_RS[at(m)].middleCols(from, stop - from));
      }
    }
    if (m == layers()) break;
    // (G5), (C1): R_m = sigma' r_m,  S_m = sigma'' r_m^2 + sigma' s_m
    RS.resize(width(m), 2 * n);
    const auto slope = x.slope[at(m)].array();
    if (first) RS.leftCols(n).array() = slope * r.array();
    if (second) {
      RS.rightCols(n).array() = slope * s.array();
      if (!sigma.piecewise_linear()) {
        second_.resize(width(m), n);
        sigma.template derivative<Scalar>(2, x.z[at(m)], second_);
        RS.rightCols(n).array() += second_.array() * r.array().square();
      }
    }
  }
  x.has_first = true;
  if (second) {
    // (C1): Phi = <r_p, L'' r_p> + <delta_p, s_p>
    const Index p = layers();
    const auto r = x.rs[at(p)].leftCols(n), s = x.rs[at(p)].rightCols(n);
    second_.resize(width(p), n);
    mlp().loss().template hessian_product<Scalar>(x.z[at(p)], r, second_);
    x.curvature = (second_.array() * r.array()).template cast<double>().sum() +
                  (x.delta[at(p)].array() * s.array()).template cast<double>().sum();
  }
  charge_products();
}

template <Real Scalar>
double GeneralLinearOrbit<Scalar>::grad_sq() {
  compute_gradient(current());
  return *current().grad_sq;
}

template <Real Scalar>
double GeneralLinearOrbit<Scalar>::curvature() {
  compute_curvature(current(), true);
  return *current().curvature;
}

template <Real Scalar>
void GeneralLinearOrbit<Scalar>::adopt() {
  if (current_ == base_) return;
  base_ = current_;
  weights_.advance(base());
}

template <Real Scalar>
double GeneralLinearOrbit<Scalar>::aim(const Slope& slope) {
  adopt();
  const bool gradients = slope.grad_sq != 0.0 || slope.curvature != 0.0;
  if (gradients) compute_curvature(base(), slope.curvature != 0.0);
  if (slope.curvature != 0.0) compute_adjoint(base());
  VectorOf<Scalar> covector;
  if (slope.covector) {
    compute_gradient(base());
    covector = slope.covector->template cast<Scalar>();
  }
  double sum = 0.0;
  for (Index m = 1; m < layers(); ++m) {
    if (!weights_.moved(m)) continue;
    Factors factors;
    if (gradients) factors = gradient_direction(m, slope.grad_sq, slope.curvature);
    if (slope.covector) {
      const Factors more = covector_direction(m, covector);
      const Index rank = factors.U.cols(), added = more.U.cols();
      for (auto [all, part] : {std::pair{&factors.U, &more.U}, std::pair{&factors.V, &more.V}}) {
        all->conservativeResize(width(m), rank + added);
        all->rightCols(added) = *part;
      }
    }
    directions_[at(m)] = std::make_shared<const LowRankMatrix<Scalar>>(
        std::move(factors.U), std::move(factors.V), max_rank_);
    sum += directions_[at(m)]->squared_norm();
  }
  if (slope.covector) charge_products();
  norm_ = sum > 0.0 ? std::sqrt(sum) : 0.0;
  if (!std::isfinite(norm_)) norm_ = 0.0;
  return norm_;
}

template <Real Scalar>
bool GeneralLinearOrbit<Scalar>::move(double length) {
  this->point_changed();
  current_ = base_;
  if (length == 0.0) return true;
  if (norm_ == 0.0) return false;
  Point& next = points_[1 - base_];
  next.forget();
  // (G2) for the states: h' = g h, z' = sigma^-1(h'). The weights follow from them, (G9).
  for (Index m = 1; m < layers(); ++m) {
    next.h[at(m)] = base().h[at(m)];
    next.z[at(m)] = base().z[at(m)];
    if (!weights_.moved(m)) continue;
    next.step[at(m)] = LowRankElement<Scalar>(directions_[at(m)], length / norm_);
    if (!next.step[at(m)].invertible()) return false;
    next.step[at(m)].apply(next.h[at(m)]);
    mlp().network().activation().template inverse<Scalar>(next.h[at(m)], next.z[at(m)]);
    if (!next.z[at(m)].allFinite()) return false;
  }
  current_ = 1 - base_;
  return true;
}

template <Real Scalar>
void GeneralLinearOrbit<Scalar>::return_to_start() {
  this->point_changed();
  weights_.reset();
  base_ = current_ = 0;
  base().forget();
  const GlPosition<Scalar> start = weights_.start();
  for (Index m = 1; m < layers(); ++m) {
    base().step[at(m)] = {};
    base().h[at(m)] = start.h[at(m)];
    base().z[at(m)] = start.z[at(m)];
  }
}

template <Real Scalar>
void GeneralLinearOrbit<Scalar>::restart() {
  return_to_start();
}

template <Real Scalar>
bool GeneralLinearOrbit<Scalar>::randomize(Random& random, double spread) {
  return_to_start();
  double sum = 0.0;
  for (Index m = 1; m < layers(); ++m) {
    if (!weights_.moved(m)) continue;
    MatrixOf<Scalar> N = random.normal_matrix(width(m), width(m)).template cast<Scalar>();
    sum += N.template cast<double>().squaredNorm();
    directions_[at(m)] = std::make_shared<const LowRankMatrix<Scalar>>(
        std::move(N), MatrixOf<Scalar>::Identity(width(m), width(m)));
  }
  norm_ = std::sqrt(sum);
  if (!move(spread)) return false;
  adopt();
  return true;
}

template <Real Scalar>
double GeneralLinearOrbit<Scalar>::condition() const {
  double worst = 1.0;
  for (Index m = 1; m < layers(); ++m) {
    if (!weights_.moved(m)) continue;
    if (width(m) <= largest_dense_condition) {
      worst = std::max(worst, condition_number(element(m).template cast<double>()));
      continue;
    }
    const double up = largest_singular_value<Scalar>(width(m), [&](MatrixOut<Scalar> x) {
      weights_.apply(m, current(), x);
      weights_.apply_transposed(m, current(), x);
    });
    const double down = largest_singular_value<Scalar>(width(m), [&](MatrixOut<Scalar> x) {
      weights_.apply_inverse_transposed(m, current(), x);
      weights_.apply_inverse(m, current(), x);
    });
    worst = std::max(worst, up * down);
  }
  return worst;
}

template <Real Scalar>
void GeneralLinearOrbit<Scalar>::commit(Out<Scalar> w) {
  weights_.write(current(), w);
  charge_products();
}

template <Real Scalar>
const LowRankMatrix<Scalar>* GeneralLinearOrbit<Scalar>::direction(Index m) const {
  return directions_[at(m)].get();
}

template <Real Scalar>
MatrixOf<Scalar> GeneralLinearOrbit<Scalar>::element(Index m) const {
  MatrixOf<Scalar> g = MatrixOf<Scalar>::Identity(width(m), width(m));
  weights_.apply(m, current(), g);
  return g;
}

template class GeneralLinearOrbit<float>;
template class GeneralLinearOrbit<double>;

}  // namespace symport
