// SPDX-License-Identifier: MIT
#include "symport/symmetries/general_linear_orbit.hpp"

#include <cmath>
#include <stdexcept>

#include "symport/core/gemm.hpp"

namespace symport {

namespace {

std::size_t at(Index m) { return static_cast<std::size_t>(m); }

/// A'A.
template <Real Scalar>
MatrixOf<Scalar> gram_of(const MatrixOf<Scalar>& A) {
  MatrixOf<Scalar> product(A.cols(), A.cols());
  gram<Scalar>(A, product);
  return product;
}

/// The largest singular value of g, given x -> g'g x.
template <class Scalar, class Apply>
double largest_singular_value(Index order, const Apply& apply) {
  constexpr int iterations = 40;
  MatrixOf<Scalar> x = MatrixOf<Scalar>::Ones(order, 1);
  for (Index i = 0; i < order; ++i)
    x(i, 0) += static_cast<Scalar>(std::sin(12.9898 * double(i + 1)));
  x.normalize();
  double value = 1.0;
  for (int k = 0; k < iterations; ++k) {
    apply(x);
    const double norm = static_cast<double>(x.norm());
    if (!std::isfinite(norm) || norm == 0.0) return norm;
    x /= static_cast<Scalar>(norm);
    const bool settled = std::abs(norm - value) < 5e-3 * norm;
    value = norm;
    if (settled && k > 3) break;
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
GeneralLinearOrbit<Scalar>::GeneralLinearOrbit(std::shared_ptr<const MlpObjective<Scalar>> bound,
                                               const Matrices& ell, In<Scalar> w, Index max_rank,
                                               std::string note)
    : BasicOrbit<Scalar>(*bound),
      objective_(std::move(bound)),
      note_(std::move(note)),
      max_rank_(max_rank),
      samples_(objective_->samples()),
      weights_(*objective_, ell, w),
      directions_(at(objective_->network().layers())) {
  const MlpObjective<Scalar>& objective = *objective_;
  const std::size_t count = at(layers()) + 1;
  for (Point& x : points_) {
    static_cast<GlPosition<Scalar>&>(x) = weights_.start();
    for (Matrices* states :
         {&x.slope, &x.B, &x.delta, &x.K, &x.Delta, &x.M, &x.rs, &x.RS, &x.ell_RS}) {
      states->resize(count);
    }
    // What is the same all over the orbit: the inputs, the outputs, and so dL/dz_p.
    x.K[0] = gram_of(objective.h(0));
    MatrixOf<Scalar>& delta = x.delta[at(layers())];
    delta.resize(width(layers()), samples_);
    start_loss_ =
        objective.loss().template delta<Scalar>(objective.z(layers()), objective.targets(), delta);
    x.Delta[at(layers())] = gram_of(delta);
    x.z.push_back(objective.z(layers()));
  }
  for (Matrices* states : {&adjoint_.sr, &adjoint_.back, &adjoint_.h, &adjoint_.z, &adjoint_.B,
                           &adjoint_.delta, &adjoint_.ell_B}) {
    states->resize(count);
  }
  this->charge(0.5);
}

template <Real Scalar>
void GeneralLinearOrbit<Scalar>::charge_products() {
  // A gradient takes 3 products of n columns with every W_m but W_1, which takes 2.
  double gradient = 0.0;
  for (Index m = 1; m <= layers(); ++m) {
    gradient += (m == 1 ? 2.0 : 3.0) * static_cast<double>(width(m) * width(m - 1) * samples_);
  }
  this->charge((weights_.work() - charged_) / gradient);
  charged_ = weights_.work();
}

template <Real Scalar>
void GeneralLinearOrbit<Scalar>::compute_gradient(Point& x) {
  if (x.grad_sq) return;
  const Activation& sigma = objective_->network().activation();
  const Scalar ones = objective_->network().biases() ? 1 : 0;
  for (Index m = layers() - 1; m >= 1; --m) {
    x.B[at(m)].resize(width(m), samples_);
    weights_.transposed_times(m + 1, x, x.delta[at(m + 1)], x.B[at(m)]);
    x.slope[at(m)].resize(width(m), samples_);
    sigma.template derivative<Scalar>(1, x.z[at(m)], x.slope[at(m)]);
    x.delta[at(m)] = x.slope[at(m)].cwiseProduct(x.B[at(m)]);
    x.Delta[at(m)] = gram_of(x.delta[at(m)]);
    x.K[at(m)] = gram_of(x.h[at(m)]).array() + ones;
  }
  double sum = 0.0;
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
  const Activation& sigma = objective_->network().activation();
  // The columns of the blocks [r s] that are missing begin at `from`.
  const Index n = samples_, from = x.has_first ? n : 0;
  const bool first = from == 0;
  for (Index m = 1; m <= layers(); ++m) {
    MatrixOf<Scalar>& rs = x.rs[at(m)];
    MatrixOf<Scalar>& RS = x.RS[at(m)];
    rs.resize(width(m), 2 * n);
    auto r = rs.leftCols(n), s = rs.rightCols(n);
    // r_m = delta_m K_(m-1) + W_m R_(m-1),  s_m = 2 delta_m M_(m-1) + W_m S_(m-1)
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
    // R_m = sigma' r_m,  S_m = sigma'' r_m^2 + sigma' s_m
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
    // Phi = <r_p, L'' r_p> + <delta_p, s_p>
    const Index p = layers();
    const auto r = x.rs[at(p)].leftCols(n), s = x.rs[at(p)].rightCols(n);
    second_.resize(width(p), n);
    objective_->loss().template hessian_product<Scalar>(x.z[at(p)], r, second_);
    x.curvature = (second_.array() * r.array()).template cast<double>().sum() +
                  (x.delta[at(p)].array() * s.array()).template cast<double>().sum();
  }
  charge_products();
}

template <Real Scalar>
void GeneralLinearOrbit<Scalar>::compute_adjoint(Point& x) {
  const Activation& sigma = objective_->network().activation();
  const bool curved = !sigma.piecewise_linear();
  const Index n = samples_, p = layers();
  Adjoint& bar = adjoint_;
  // s_bar_p = delta_p, r_bar_p = 2 L'' r_p
  bar.sr[at(p)].resize(width(p), 2 * n);
  bar.sr[at(p)].leftCols(n) = x.delta[at(p)];
  objective_->loss().template hessian_product<Scalar>(
      x.z[at(p)], Scalar(2) * x.rs[at(p)].leftCols(n), bar.sr[at(p)].rightCols(n));
  square_.resize(n, n);
  MatrixOf<Scalar> N(n, n);
  for (Index m = p; m >= 1; --m) {
    const auto s_bar = bar.sr[at(m)].leftCols(n), r_bar = bar.sr[at(m)].rightCols(n);
    // delta_bar_m = 2 s_bar_m M_(m-1)' + r_bar_m K_(m-1)
    bar.delta[at(m)].resize(width(m), n);
    multiply<Scalar>(1, false, r_bar, false, x.K[at(m - 1)], 0, bar.delta[at(m)]);
    if (m == 1) break;
    multiply<Scalar>(2, false, s_bar, true, x.M[at(m - 1)], 1, bar.delta[at(m)]);

    const Index q = m - 1;
    const auto R = x.RS[at(q)].leftCols(n);
    // N = 2 delta_m' s_bar_m;  h_bar_q = R_q N' + h_q (delta_m' r_bar_m + its transpose)
    multiply<Scalar>(2, true, x.delta[at(m)], false, s_bar, 0, N);
    multiply<Scalar>(1, true, x.delta[at(m)], false, r_bar, 0, square_);
    square_ = (square_ + square_.transpose()).eval();
    bar.h[at(q)].resize(width(q), n);
    multiply<Scalar>(1, false, R, true, N, 0, bar.h[at(q)]);
    multiply<Scalar>(1, false, x.h[at(q)], false, square_, 1, bar.h[at(q)]);
    // S_bar = W_m' s_bar_m,  R_bar = W_m' r_bar_m + h_q N; without S_q only R_bar
    const Index from = bends(q) ? 0 : n;
    MatrixOf<Scalar>& back = bar.back[at(q)];
    MatrixOf<Scalar>& sr = bar.sr[at(q)];
    back.resize(width(q), 2 * n);
    sr.resize(width(q), 2 * n);
    weights_.transposed_times(m, x, bar.sr[at(m)].rightCols(2 * n - from),
                              back.rightCols(2 * n - from));
    sr.rightCols(2 * n - from) = back.rightCols(2 * n - from);
    multiply<Scalar>(1, false, x.h[at(q)], false, N, 1, sr.rightCols(n));
    // s_bar_q = sigma' S_bar,  r_bar_q = 2 sigma'' r_q S_bar + sigma' R_bar
    // z_bar_q = (sigma''' r_q^2 + sigma'' s_q) S_bar + sigma'' r_q R_bar
    const auto slope = x.slope[at(q)].array();
    auto S_bar = sr.leftCols(n).array(), R_bar = sr.rightCols(n).array();
    if (curved) {
      const auto r = x.rs[at(q)].leftCols(n).array(), s = x.rs[at(q)].rightCols(n).array();
      second_.resize(width(q), n);
      third_.resize(width(q), n);
      sigma.template derivative<Scalar>(2, x.z[at(q)], second_);
      sigma.template derivative<Scalar>(3, x.z[at(q)], third_);
      bar.z[at(q)] =
          (third_.array() * r.square() + second_.array() * s) * S_bar + second_.array() * r * R_bar;
      R_bar = 2 * second_.array() * r * S_bar + slope * R_bar;
    } else {
      R_bar *= slope;
    }
    if (bends(q)) S_bar *= slope;
  }
  for (Index m = 1; m < p; ++m) {
    // B_bar_m = sigma' delta_bar_m;  z_bar_m += sigma'' B_m delta_bar_m;  delta_bar_(m+1) +=
    // W_(m+1) B_bar_m
    bar.B[at(m)] = x.slope[at(m)].cwiseProduct(bar.delta[at(m)]);
    if (curved) {
      second_.resize(width(m), n);
      sigma.template derivative<Scalar>(2, x.z[at(m)], second_);
      bar.z[at(m)].array() += second_.array() * x.B[at(m)].array() * bar.delta[at(m)].array();
    }
    if (m + 1 == p) break;
    bar.ell_B[at(m + 1)].resize(n, n);
    weights_.times(m + 1, x, bar.B[at(m)], 1, bar.delta[at(m + 1)], bar.ell_B[at(m + 1)]);
  }
  charge_products();
}

template <Real Scalar>
LowRankMatrix<Scalar> GeneralLinearOrbit<Scalar>::compute_direction(Index m, double weight_grad_sq,
                                                                    double weight_curvature) {
  // dJ/dT   = 2 { [h Delta_(m+1) + (delta (l R)' + sigma'' r B) / sigma'] h' - B R' }
  // dPhi/dT = [h_bar + (z_bar + s_bar (l S)' + r_bar (l R)' + delta (l B_bar)') / sigma'] h'
  //           - (W'r_bar) R' - (W's_bar) S' - B B_bar'
  // with l R, l S, l B_bar of layer m-1, and W', r_bar, s_bar in the second line of layer m+1. So
  // a/2 dJ/dT + b dPhi/dT = A h' - W' C [R S B_bar]' with C = [a delta + b r_bar, b s_bar, b
  // delta].
  const Activation& sigma = objective_->network().activation();
  const Point& x = base();
  const Adjoint& bar = adjoint_;
  const Index n = samples_;
  const auto a = static_cast<Scalar>(2.0 * weight_grad_sq),
             b = static_cast<Scalar>(weight_curvature);
  const bool with_curvature = b != Scalar(0);

  MatrixOf<Scalar> A = MatrixOf<Scalar>::Zero(width(m), n);
  if (m > 1) {
    const auto ell_R = x.ell_RS[at(m)].leftCols(n);
    square_ = a * ell_R;
    if (with_curvature) square_ += b * bar.ell_B[at(m)];
    multiply<Scalar>(1, false, x.delta[at(m)], true, square_, 0, A);
    if (with_curvature) {
      multiply<Scalar>(b, false, bar.sr[at(m)].rightCols(n), true, ell_R, 1, A);
      if (bends(m - 1)) {
        multiply<Scalar>(b, false, bar.sr[at(m)].leftCols(n), true, x.ell_RS[at(m)].rightCols(n), 1,
                         A);
      }
    }
  }
  if (!sigma.piecewise_linear()) {
    second_.resize(width(m), n);
    sigma.template derivative<Scalar>(2, x.z[at(m)], second_);
    A.array() += a * second_.array() * x.rs[at(m)].leftCols(n).array() * x.B[at(m)].array();
    if (with_curvature) A += b * bar.z[at(m)];
  }
  A.array() /= x.slope[at(m)].array();
  multiply<Scalar>(a, false, x.h[at(m)], false, x.Delta[at(m + 1)], 1, A);
  if (with_curvature) A += b * bar.h[at(m)];

  // [R S B_bar], where S may be 0 and J has R alone.
  const bool with_S = with_curvature && bends(m);
  const Index blocks = !with_curvature ? 1 : with_S ? 3 : 2;
  MatrixOf<Scalar> right(width(m), blocks * n);
  right.leftCols(n) = x.RS[at(m)].leftCols(n);
  if (with_S) right.middleCols(n, n) = x.RS[at(m)].rightCols(n);
  if (with_curvature) right.rightCols(n) = bar.B[at(m)];

  const Index above = width(m + 1);
  const bool narrow = above < blocks * n;
  const Index rest = narrow ? above : blocks * n;
  MatrixOf<Scalar> U(width(m), n + rest), V(width(m), n + rest);
  U.leftCols(n) = A;
  V.leftCols(n) = x.h[at(m)];
  if (narrow) {
    // W' itself is the smaller factor.
    MatrixOf<Scalar> C(above, blocks * n);
    C.leftCols(n) = -a * x.delta[at(m + 1)];
    if (with_curvature) C.leftCols(n) -= b * bar.sr[at(m + 1)].rightCols(n);
    if (with_S) C.middleCols(n, n) = -b * bar.sr[at(m + 1)].leftCols(n);
    if (with_curvature) C.rightCols(n) = -b * x.delta[at(m + 1)];
    weights_.transposed_times(m + 1, x, MatrixOf<Scalar>::Identity(above, above),
                              U.rightCols(rest));
    multiply<Scalar>(1, false, right, true, C, 0, V.rightCols(rest));
  } else {
    auto WC = U.rightCols(rest);
    WC.leftCols(n) = -a * x.B[at(m)];
    if (with_curvature) WC.leftCols(n) -= b * bar.back[at(m)].rightCols(n);
    if (with_S) WC.middleCols(n, n) = -b * bar.back[at(m)].leftCols(n);
    if (with_curvature) WC.rightCols(n) = -b * x.B[at(m)];
    V.rightCols(rest) = right;
  }
  return LowRankMatrix<Scalar>(std::move(U), std::move(V), max_rank_);
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
double GeneralLinearOrbit<Scalar>::aim(double weight_grad_sq, double weight_curvature) {
  adopt();
  compute_curvature(base(), weight_curvature != 0.0);
  if (weight_curvature != 0.0) compute_adjoint(base());
  double sum = 0.0;
  for (Index m = 1; m < layers(); ++m) {
    if (!weights_.moved(m)) continue;
    directions_[at(m)] = std::make_shared<const LowRankMatrix<Scalar>>(
        compute_direction(m, weight_grad_sq, weight_curvature));
    sum += directions_[at(m)]->squared_norm();
  }
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
  for (Index m = 1; m < layers(); ++m) {
    next.h[at(m)] = base().h[at(m)];
    next.z[at(m)] = base().z[at(m)];
    if (!weights_.moved(m)) continue;
    next.step[at(m)] = LowRankElement<Scalar>(directions_[at(m)], length / norm_);
    if (!next.step[at(m)].invertible()) return false;
    next.step[at(m)].apply(next.h[at(m)]);
    objective_->network().activation().template inverse<Scalar>(next.h[at(m)], next.z[at(m)]);
    if (!next.z[at(m)].allFinite()) return false;
  }
  current_ = 1 - base_;
  return true;
}

template <Real Scalar>
bool GeneralLinearOrbit<Scalar>::randomize(Random& random, double spread) {
  weights_.reset();
  base_ = current_ = 0;
  base().forget();
  const GlPosition<Scalar> start = weights_.start();
  double sum = 0.0;
  for (Index m = 1; m < layers(); ++m) {
    base().step[at(m)] = {};
    base().h[at(m)] = start.h[at(m)];
    base().z[at(m)] = start.z[at(m)];
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
    const double up = largest_singular_value<Scalar>(width(m), [&](MatrixOf<Scalar>& x) {
      weights_.apply(m, current(), x);
      weights_.apply_transposed(m, current(), x);
    });
    const double down = largest_singular_value<Scalar>(width(m), [&](MatrixOf<Scalar>& x) {
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
