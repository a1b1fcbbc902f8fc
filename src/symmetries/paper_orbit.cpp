// SPDX-License-Identifier: MIT
#include "symmetries/paper_orbit.hpp"

#include <cmath>

#include "core/dense.hpp"
#include "core/position.hpp"
#include "core/products.hpp"

namespace symport {

template <Real Scalar>
PaperOrbit<Scalar>::PaperOrbit(const BasicObjective<Scalar>& objective,
                               const MlpObjective<Scalar>& mlp, In<Scalar> w)
    : BasicOrbit<Scalar>(objective), mlp_(mlp), network_(mlp.network()) {
  const std::size_t count = at(layers()) + 1;
  for (Matrices* states : {&E_, &A_, &y_, &k_, &h_, &z_, &P_}) states->resize(count);
  base().w = w;
  base().g.resize(count);
  for (Index q = 1; q < layers(); ++q) {
    base().g[at(q)].setIdentity(network_.width(q), network_.width(q));
    E_[at(q)].setZero(network_.width(q), network_.width(q));
  }
}

template <Real Scalar>
std::string PaperOrbit<Scalar>::note() const {
  return "not loss-invariant: eq. (8) of the paper with I + T and I - T";
}

template <Real Scalar>
VectorOf<Scalar> PaperOrbit<Scalar>::transform(Scalar scale) {
  const Activation& sigma = network_.activation();
  const Scalar* from = base().w.data();
  const Index n = mlp_.samples();
  VectorOf<Scalar> w(base().w.size());
  h_[0] = mlp_.inputs();
  A_[1] = network_.augmented(1, from);
  for (Index q = 1; q < layers(); ++q) {
    const Index d = network_.width(q);
    const MatrixOf<Scalar>& E = E_[at(q)];
    y_[at(q)] = product(A_[at(q)], h_[at(q - 1)]);
    k_[at(q)].resize(d, n);
    sigma.template value<Scalar>(y_[at(q)], k_[at(q)]);
    h_[at(q)].setOnes(network_.augmented_width(q), n);
    h_[at(q)].topRows(d) = k_[at(q)] + scale * product(E, k_[at(q)]);
    z_[at(q)].resize(d, n);
    sigma.template inverse<Scalar>(h_[at(q)].topRows(d), z_[at(q)]);
    P_[at(q - 1)] = pseudo_inverse(h_[at(q - 1)].template cast<double>()).template cast<Scalar>();
    network_.augmented(q, w.data()) = product(z_[at(q)], P_[at(q - 1)]);
    A_[at(q + 1)] = network_.augmented(q + 1, from);
    A_[at(q + 1)].leftCols(d) -= scale * product<Scalar>(network_.weights(q + 1, from), E);
  }
  network_.augmented(layers(), w.data()) = A_[at(layers())];
  return w;
}

template <Real Scalar>
void PaperOrbit<Scalar>::pull_back(In<Scalar> covector) {
  // x_bar is the derivative of <covector, w'> in x, gathered from the top down; h = k at T = 0.
  const Activation& sigma = network_.activation();
  const Index n = mlp_.samples();
  const Scalar* from = base().w.data();
  MatrixOf<Scalar> A_bar = network_.augmented(layers(), covector.data());
  MatrixOf<Scalar> h_bar = MatrixOf<Scalar>::Zero(network_.augmented_width(layers() - 1), n);
  for (Index q = layers() - 1; q >= 1; --q) {
    const Index d = network_.width(q);
    const MatrixOf<Scalar> C = network_.augmented(q, covector.data());
    const MatrixOf<Scalar>& P = P_[at(q - 1)];
    const MatrixOf<Scalar>& below = h_[at(q - 1)];
    // W'_q = z P  and  z = sigma^-1(h)
    MatrixOf<Scalar> slope(d, n);
    sigma.template derivative<Scalar>(1, z_[at(q)], slope);
    h_bar.topRows(d).array() += product_transposed(C, P).array() / slope.array();
    // h = (I + T) k  and  A_(q+1) = W_(q+1) (I - T)
    E_[at(q)] = product_transposed<Scalar>(h_bar.topRows(d), k_[at(q)]) -
                transposed_product<Scalar>(network_.weights(q + 1, from), A_bar.leftCols(d));
    if (q == 1) break;
    // k = sigma(y),  y = A h_(q-1)
    MatrixOf<Scalar> y_bar = h_bar.topRows(d);
    sigma.template scale_by_slope<Scalar>(y_[at(q)], y_bar);
    A_bar = product_transposed(y_bar, below);
    // (P2), P = h_(q-1)+: dP = -P dh P + P P' dh' (I - h P) + (I - P h) dh' P'P
    const MatrixOf<Scalar> P_bar_T = transposed_product(C, z_[at(q)]);
    const MatrixOf<Scalar> P_bar_T_P = product(P_bar_T, P);
    const MatrixOf<Scalar> left = product_transposed(P_bar_T_P, P);
    const MatrixOf<Scalar> right = product(transposed_product(P, P), P_bar_T);
    h_bar = transposed_product(A_[at(q)], y_bar) - product(P, P_bar_T_P).transpose() + left -
            product(below, product(P, left)) + right - product(product(right, P), below);
  }
}

template <Real Scalar>
void PaperOrbit<Scalar>::compute_gradient(Point& x) {
  if (x.grad_sq) return;
  x.gradient.resize(base().w.size());
  this->objective().gradient(x.w, x.gradient);
  x.grad_sq = static_cast<double>(x.gradient.squaredNorm());
  this->charge(1.0);
}

template <Real Scalar>
void PaperOrbit<Scalar>::compute_curvature(Point& x) {
  if (x.curvature) return;
  compute_gradient(x);
  x.hessian_gradient.resize(base().w.size());
  this->objective().hessian_vector(x.w, x.gradient, x.hessian_gradient);
  x.curvature = static_cast<double>(x.gradient.dot(x.hessian_gradient));
  this->charge(2.0);
}

template <Real Scalar>
double PaperOrbit<Scalar>::grad_sq() {
  compute_gradient(current());
  return *current().grad_sq;
}

template <Real Scalar>
double PaperOrbit<Scalar>::curvature() {
  compute_curvature(current());
  return *current().curvature;
}

template <Real Scalar>
double PaperOrbit<Scalar>::aim(const Slope& slope) {
  base_ = current_;
  Point here;
  here.w = transform(0);
  VectorOf<Scalar> covector = VectorOf<Scalar>::Zero(base().w.size());
  if (slope.covector) covector = slope.covector->template cast<Scalar>();
  // dJ/dw = 2 H g;  dPhi/dw = 2 H (H g) + d/de H(w + e g) g
  if (slope.grad_sq != 0.0 || slope.curvature != 0.0) {
    compute_curvature(here);
    covector += static_cast<Scalar>(2 * slope.grad_sq) * here.hessian_gradient;
  }
  if (slope.curvature != 0.0) {
    VectorOf<Scalar> part(base().w.size());
    this->objective().hessian_vector(here.w, here.hessian_gradient, part);
    covector += static_cast<Scalar>(2 * slope.curvature) * part;
    this->objective().third_derivative(here.w, here.gradient, part);
    covector += static_cast<Scalar>(slope.curvature) * part;
    this->charge(6.0);
  }
  pull_back(covector);
  this->charge_states(1.0);
  double sum = 0.0;
  for (Index q = 1; q < layers(); ++q) sum += E_[at(q)].template cast<double>().squaredNorm();
  norm_ = std::isfinite(sum) ? std::sqrt(sum) : 0.0;
  return norm_;
}

template <Real Scalar>
bool PaperOrbit<Scalar>::move(double length) {
  this->point_changed();
  current_ = base_;
  if (length == 0.0) return true;
  if (norm_ == 0.0) return false;
  const auto scale = static_cast<Scalar>(length / norm_);
  Point next;
  next.w = transform(scale);
  this->charge_states(0.5);
  if (!next.w.allFinite()) return false;
  next.g = base().g;
  for (Index q = 1; q < layers(); ++q) next.g[at(q)] += scale * product(E_[at(q)], base().g[at(q)]);
  points_[1 - base_] = std::move(next);
  current_ = 1 - base_;
  return true;
}

template <Real Scalar>
double PaperOrbit<Scalar>::condition() const {
  double worst = 1.0;
  for (Index q = 1; q < layers(); ++q) {
    worst = std::max(worst, condition_number(current().g[at(q)].template cast<double>()));
  }
  return worst;
}

template class PaperOrbit<float>;
template class PaperOrbit<double>;

}  // namespace symport
