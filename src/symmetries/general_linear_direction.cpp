// SPDX-License-Identifier: MIT
// The directions of ascent on a GL orbit: the adjoint of the recurrence for Phi, (C2) to (C6), and
// what J and Phi make of it in every hidden layer, (C8). Numbers in parentheses are equations of
// docs/mathematics/networks.md, where they are derived; (C9) there would simplify this file.
#include "core/position.hpp"
#include "symmetries/general_linear_orbit.hpp"
#include "symport/core/gemm.hpp"

namespace symport {

template <Real Scalar>
void GeneralLinearOrbit<Scalar>::compute_adjoint(Point& x) {
  const Activation& sigma = mlp().network().activation();
  const bool curved = !sigma.piecewise_linear();
  const Index n = samples_, p = layers();
  Adjoint& bar = adjoint_;
  // (C2): s_bar_p = delta_p, r_bar_p = 2 L'' r_p
  bar.sr[at(p)].resize(width(p), 2 * n);
  bar.sr[at(p)].leftCols(n) = x.delta[at(p)];
  mlp().loss().template hessian_product<Scalar>(x.z[at(p)], Scalar(2) * x.rs[at(p)].leftCols(n),
                                                bar.sr[at(p)].rightCols(n));
  square_.resize(n, n);
  MatrixOf<Scalar> N(n, n);
  // Down through the recurrence for r, s; the delta_m count as independent.
  for (Index m = p; m >= 1; --m) {
    const auto s_bar = bar.sr[at(m)].leftCols(n), r_bar = bar.sr[at(m)].rightCols(n);
    // (C3): delta_bar_m = 2 s_bar_m M_(m-1)' + r_bar_m K_(m-1), M_0 = 0
    bar.delta[at(m)].resize(width(m), n);
    multiply<Scalar>(1, false, r_bar, false, x.K[at(m - 1)], 0, bar.delta[at(m)]);
    if (m == 1) break;
    multiply<Scalar>(2, false, s_bar, true, x.M[at(m - 1)], 1, bar.delta[at(m)]);

    const Index q = m - 1;
    const auto R = x.RS[at(q)].leftCols(n);
    // (C4): N = 2 delta_m' s_bar_m;  h_bar_q = R_q N' + h_q (delta_m' r_bar_m + its transpose)
    multiply<Scalar>(2, true, x.delta[at(m)], false, s_bar, 0, N);
    multiply<Scalar>(1, true, x.delta[at(m)], false, r_bar, 0, square_);
    square_ = (square_ + square_.transpose()).eval();
    bar.h[at(q)].resize(width(q), n);
    multiply<Scalar>(1, false, R, true, N, 0, bar.h[at(q)]);
    multiply<Scalar>(1, false, x.h[at(q)], false, square_, 1, bar.h[at(q)]);
    // (C4): S_bar = W_m' s_bar_m,  R_bar = W_m' r_bar_m + h_q N; where S_q = 0 (`bends`) R_bar
    // alone. `back` keeps the products with W_m' for (C8), `sr` goes on to (C5).
    const Index from = bends(q) ? 0 : n;
    MatrixOf<Scalar>& back = bar.back[at(q)];
    MatrixOf<Scalar>& sr = bar.sr[at(q)];
    back.resize(width(q), 2 * n);
    sr.resize(width(q), 2 * n);
    weights_.transposed_times(m, x, bar.sr[at(m)].rightCols(2 * n - from),
                              back.rightCols(2 * n - from));
    sr.rightCols(2 * n - from) = back.rightCols(2 * n - from);
    multiply<Scalar>(1, false, x.h[at(q)], false, N, 1, sr.rightCols(n));
    // (C5), in place: s_bar_q = sigma' S_bar,  r_bar_q = 2 sigma'' r_q S_bar + sigma' R_bar
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
  // Up through delta_m = sigma' W_(m+1)' delta_(m+1), (N2), to z and the weights.
  for (Index m = 1; m < p; ++m) {
    // (C6): B_bar_m = sigma' delta_bar_m;  z_bar_m += sigma'' B_m delta_bar_m;
    //       delta_bar_(m+1) += W_(m+1) B_bar_m, with l_m B_bar_m for (C7) on the way. delta_p is
    //       fixed.
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
typename GeneralLinearOrbit<Scalar>::Factors GeneralLinearOrbit<Scalar>::gradient_direction(
    Index m, double weight_grad_sq, double weight_curvature) {
  // (G6): dJ/dT   = 2 { [h Delta_(m+1) + (delta (l R)' + sigma'' r B) / sigma'] h' - B R' }
  // (C7): dPhi/dT = [h_bar + (z_bar + s_bar (l S)' + r_bar (l R)' + delta (l B_bar)') / sigma'] h'
  //                 - (W'r_bar) R' - (W's_bar) S' - B B_bar'
  // with l R, l S, l B_bar of layer m-1, and W', r_bar, s_bar in the second line of layer m+1. So
  // (C8): a/2 dJ/dT + b dPhi/dT = A h' - W' C [R S B_bar]'
  //       with C = [a delta + b r_bar, b s_bar, b delta] of layer m+1.
  const Activation& sigma = mlp().network().activation();
  const Point& x = base();
  const Adjoint& bar = adjoint_;
  const Index n = samples_;
  const auto a = static_cast<Scalar>(2.0 * weight_grad_sq),
             b = static_cast<Scalar>(weight_curvature);
  const bool with_curvature = b != Scalar(0);

  // A of (C8). First the part that is divided by sigma': the terms with l, which the first layer
  // lacks, and those with sigma''.
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
  // Then h Delta_(m+1) and h_bar.
  multiply<Scalar>(a, false, x.h[at(m)], false, x.Delta[at(m + 1)], 1, A);
  if (with_curvature) A += b * bar.h[at(m)];

  // The right factor [R S B_bar], where S may be 0 and J has R alone.
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
    // W' itself is the smaller left factor; the other one is -[R S B_bar] C'.
    MatrixOf<Scalar> C(above, blocks * n);
    C.leftCols(n) = -a * x.delta[at(m + 1)];
    if (with_curvature) C.leftCols(n) -= b * bar.sr[at(m + 1)].rightCols(n);
    if (with_S) C.middleCols(n, n) = -b * bar.sr[at(m + 1)].leftCols(n);
    if (with_curvature) C.rightCols(n) = -b * x.delta[at(m + 1)];
    weights_.transposed_times(m + 1, x, MatrixOf<Scalar>::Identity(above, above),
                              U.rightCols(rest));
    multiply<Scalar>(1, false, right, true, C, 0, V.rightCols(rest));
  } else {
    // -W'C, made of B = W'delta, (N2), and W'[s_bar r_bar], (C4).
    auto WC = U.rightCols(rest);
    WC.leftCols(n) = -a * x.B[at(m)];
    if (with_curvature) WC.leftCols(n) -= b * bar.back[at(m)].rightCols(n);
    if (with_S) WC.middleCols(n, n) = -b * bar.back[at(m)].leftCols(n);
    if (with_curvature) WC.rightCols(n) = -b * x.B[at(m)];
    V.rightCols(rest) = right;
  }
  return {std::move(U), std::move(V)};
}

template <Real Scalar>
typename GeneralLinearOrbit<Scalar>::Factors GeneralLinearOrbit<Scalar>::covector_direction(
    Index m, const VectorOf<Scalar>& covector) {
  // dW_m = (T_m h_m / sigma') l_(m-1) and dW_(m+1) = -W_(m+1) T_m, so with C_m the part of the
  // covector in [W_m b_m] and C_(m+1) that in W_(m+1)
  // d<C, W>/dT_m = [(C_m l_(m-1)') / sigma'] h_m' - W_(m+1)'C_(m+1).
  const Mlp& network = mlp().network();
  const Point& x = base();
  const Index n = samples_, d = width(m), above = width(m + 1);
  const MatrixOf<Scalar> ell = weights_.left_inverse(m, x);
  const auto C = network.weights(m + 1, covector.data());
  // The product itself, or its factors where they are thinner.
  const bool narrow = above < d;
  const Index rest = narrow ? above : d;
  MatrixOf<Scalar> U(d, n + rest), V(d, n + rest);
  multiply<Scalar>(1, false, network.augmented(m, covector.data()), true, ell, 0, U.leftCols(n));
  U.leftCols(n).array() /= x.slope[at(m)].array();
  V.leftCols(n) = x.h[at(m)];
  if (narrow) {
    weights_.transposed_times(m + 1, x, MatrixOf<Scalar>::Identity(above, above),
                              U.rightCols(rest));
    V.rightCols(rest) = -C.transpose();
  } else {
    weights_.transposed_times(m + 1, x, C, U.rightCols(rest));
    V.rightCols(rest) = -MatrixOf<Scalar>::Identity(d, d);
  }
  return {std::move(U), std::move(V)};
}

template void GeneralLinearOrbit<float>::compute_adjoint(Point&);
template void GeneralLinearOrbit<double>::compute_adjoint(Point&);
template GeneralLinearOrbit<float>::Factors GeneralLinearOrbit<float>::gradient_direction(Index,
                                                                                          double,
                                                                                          double);
template GeneralLinearOrbit<double>::Factors GeneralLinearOrbit<double>::gradient_direction(Index,
                                                                                            double,
                                                                                            double);
template GeneralLinearOrbit<float>::Factors GeneralLinearOrbit<float>::covector_direction(
    Index, const VectorOf<float>&);
template GeneralLinearOrbit<double>::Factors GeneralLinearOrbit<double>::covector_direction(
    Index, const VectorOf<double>&);

}  // namespace symport
