// SPDX-License-Identifier: MIT
#include "objectives/mlp_hessian.hpp"

#include <cmath>
#include <limits>

#include "core/lanczos.hpp"
#include "core/position.hpp"
#include "symport/core/gemm.hpp"

namespace symport {

namespace {

template <Real Scalar>
MatrixOf<Scalar> gram(MatrixIn<Scalar> A) {
  MatrixOf<Scalar> product(A.cols(), A.cols());
  multiply<Scalar>(1, true, A, false, A, 0, product);
  return product;
}

}  // namespace

template <Real Scalar>
bool MlpHessian<Scalar>::worthwhile(const MlpObjective<Scalar>& objective) {
  const Mlp& network = objective.network();
  Index rows = network.width(network.layers());
  for (Index m = 1; m < network.layers(); ++m) rows += 2 * network.width(m);
  return rows * objective.samples() < network.parameters();
}

template <Real Scalar>
MlpHessian<Scalar>::MlpHessian(const MlpObjective<Scalar>& objective, In<Scalar> w)
    : network_(objective.network()),
      objective_(objective),
      w_(w.data()),
      samples_(objective.samples()),
      first_(at(layers()) + 1),
      second_(at(layers()) + 1) {
  MlpStates<Scalar> states;
  objective.backpropagate(w, states);
  h_ = std::move(states.h);
  z_ = std::move(states.z);
  delta_ = std::move(states.delta);
  const Activation& sigma = network_.activation();
  for (Matrices* more : {&slope_, &bend_, &K_, &Delta_, &r_}) more->resize(at(layers()) + 1);
  K_[0] = gram<Scalar>(objective.inputs());
  for (Index m = 1; m <= layers(); ++m) {
    first_[at(m)] = size_;
    size_ += network_.width(m) * samples_;
    if (m > 1) {
      second_[at(m)] = size_;
      size_ += network_.width(m - 1) * samples_;
    }
    Delta_[at(m)] = gram<Scalar>(delta_[at(m)]);
    r_[at(m)].resize(network_.width(m), samples_);
    if (m == layers()) break;
    K_[at(m)] = gram<Scalar>(h_[at(m)]);
    slope_[at(m)].resize(network_.width(m), samples_);
    sigma.template derivative<Scalar>(1, z_[at(m)], slope_[at(m)]);
  }
  if (sigma.piecewise_linear()) return;
  for (Index m = 1; m < layers(); ++m) {
    MatrixOf<Scalar> B(network_.width(m), samples_);
    multiply<Scalar>(1, true, network_.weights(m + 1, w_), false, delta_[at(m + 1)], 0, B);
    bend_[at(m)].resize(network_.width(m), samples_);
    sigma.template derivative<Scalar>(2, z_[at(m)], bend_[at(m)]);
    bend_[at(m)].array() *= B.array();
  }
}

template <Real Scalar>
MlpHessian<Scalar>::MlpHessian(const MlpHessian& at_w, const std::vector<Vector>& scales)
    : MlpHessian(at_w) {
  products_ = 0;
  scales_.resize(at(layers()) + 1);
  scales_.front().setOnes(network_.width(0));
  scales_.back().setOnes(network_.width(layers()));
  for (Index m = 1; m < layers(); ++m) {
    scales_[at(m)] = scales[at(m - 1)].template cast<Scalar>();
    const auto s = scales_[at(m)].array();
    h_[at(m)].topRows(network_.width(m)).array().colwise() *= s;
    z_[at(m)].array().colwise() *= s;
    delta_[at(m)].array().colwise() /= s;
    K_[at(m)] = gram<Scalar>(h_[at(m)]);
    Delta_[at(m)] = gram<Scalar>(delta_[at(m)]);
  }
}

template <Real Scalar>
void MlpHessian<Scalar>::add_times(Index m, MatrixIn<Scalar> X, MatrixOut<Scalar> Y) const {
  const auto W = network_.weights(m, w_);
  if (scales_.empty()) {
    multiply<Scalar>(1, false, W, false, X, 1, Y);
    return;
  }
  const MatrixOf<Scalar> unscaled = X.array().colwise() / scales_[at(m - 1)].array();
  MatrixOf<Scalar> product(W.rows(), X.cols());
  multiply<Scalar>(1, false, W, false, unscaled, 0, product);
  Y.array() += product.array().colwise() * scales_[at(m)].array();
}

template <Real Scalar>
void MlpHessian<Scalar>::add_transposed_times(Index m, MatrixIn<Scalar> X,
                                              MatrixOut<Scalar> Y) const {
  const auto W = network_.weights(m, w_);
  if (scales_.empty()) {
    multiply<Scalar>(1, true, W, false, X, 1, Y);
    return;
  }
  const MatrixOf<Scalar> scaled = X.array().colwise() * scales_[at(m)].array();
  MatrixOf<Scalar> product(W.cols(), X.cols());
  multiply<Scalar>(1, true, W, false, scaled, 0, product);
  Y.array() += product.array().colwise() / scales_[at(m - 1)].array();
}

template <Real Scalar>
typename MlpHessian<Scalar>::Map MlpHessian<Scalar>::first(Index m, Scalar* x) const {
  return {x + first_[at(m)], network_.width(m), samples_};
}
template <Real Scalar>
typename MlpHessian<Scalar>::Map MlpHessian<Scalar>::second(Index m, Scalar* x) const {
  return {x + second_[at(m)], network_.width(m - 1), samples_};
}
template <Real Scalar>
typename MlpHessian<Scalar>::ConstMap MlpHessian<Scalar>::first(Index m, const Scalar* x) const {
  return {x + first_[at(m)], network_.width(m), samples_};
}
template <Real Scalar>
typename MlpHessian<Scalar>::ConstMap MlpHessian<Scalar>::second(Index m, const Scalar* x) const {
  return {x + second_[at(m)], network_.width(m - 1), samples_};
}

template <Real Scalar>
void MlpHessian<Scalar>::apply_metric(const Scalar* factors, Scalar* image) {
  square_.resize(samples_, samples_);
  for (Index m = 1; m <= layers(); ++m) {
    // (H2): P = A K + delta (C'h),  Q = h (A'delta) + C Delta
    const auto A = first(m, factors);
    auto P = first(m, image);
    multiply<Scalar>(1, false, A, false, K_[at(m - 1)], 0, P);
    if (m == 1) continue;
    const auto C = second(m, factors);
    auto Q = second(m, image);
    // C and Q have no row for the ones below h.
    const auto h = h_[at(m - 1)].topRows(network_.width(m - 1));
    multiply<Scalar>(1, true, C, false, h, 0, square_);
    multiply<Scalar>(1, false, delta_[at(m)], false, square_, 1, P);
    multiply<Scalar>(1, true, A, false, delta_[at(m)], 0, square_);
    multiply<Scalar>(1, false, h, false, square_, 0, Q);
    multiply<Scalar>(1, false, C, false, Delta_[at(m)], 1, Q);
  }
}

template <Real Scalar>
void MlpHessian<Scalar>::apply_hessian(const Scalar* image, Scalar* factors) {
  ++products_;
  const Index p = layers();
  // (H4) forwards: r_m = P_m + W_m C_m,  C_(m+1) = sigma' r_m
  for (Index m = 1; m <= p; ++m) {
    MatrixOf<Scalar>& r = r_[at(m)];
    r = first(m, image);
    if (m > 1) add_times(m, second(m, factors), r);
    if (m < p) second(m + 1, factors) = slope_[at(m)].cwiseProduct(r);
  }
  // and backwards: A_p = L'' r_p,  A_(m-1) = sigma' (Q_m + W_m'A_m) + sigma'' r_(m-1) B_(m-1)
  objective_.loss().template hessian_product<Scalar>(z_[at(p)], r_[at(p)], first(p, factors));
  for (Index m = p; m > 1; --m) {
    auto A = first(m - 1, factors);
    A = second(m, image);
    add_transposed_times(m, first(m, factors), A);
    A.array() *= slope_[at(m - 1)].array();
    if (bend_[at(m - 1)].size() > 0) {
      A.array() += bend_[at(m - 1)].array() * r_[at(m - 1)].array();
    }
  }
}

template <Real Scalar>
std::optional<double> MlpHessian<Scalar>::largest_eigenvalue(Index iterations, double tolerance) {
  // Inner products are those of factors with images, (H3).
  Lanczos<Scalar> krylov(
      size_, std::min(iterations, network_.parameters()),
      [&](const Scalar* image, Scalar* factors) { apply_hessian(image, factors); },
      [&](const Scalar* factors, Scalar* image) { apply_metric(factors, image); });
  VectorOf<Scalar> gradient = VectorOf<Scalar>::Zero(size_);
  for (Index m = 1; m <= layers(); ++m) first(m, gradient.data()) = delta_[at(m)];
  if (!krylov.begin(gradient)) return std::nullopt;
  for (;;) {
    krylov.step();
    if (!std::isfinite(krylov.remainder())) return std::numeric_limits<double>::quiet_NaN();
    const auto [value, residual] = krylov.ritz();
    if (krylov.steps() == krylov.capacity()) return value;
    const double small = 100 * std::numeric_limits<Scalar>::epsilon() * krylov.scale();
    if (!(krylov.remainder() > small)) return std::nullopt;
    // One step more than the test asks for: the first values may be small by chance.
    if (krylov.steps() > 2 && residual <= tolerance * std::abs(value)) return value;
  }
}

template <Real Scalar>
auto MlpHessian<Scalar>::gradient_blocks() -> Blocks {
  const Index count = layers();
  Blocks blocks{Vector(count), Matrix(count, count)};
  MatrixOf<Scalar> images(size_, count);
  VectorOf<Scalar> factors(size_);
  const auto product = [&](Index b) {  // <V_b, V> of the factors, (H3)
    return images.col(b).template cast<double>().dot(factors.template cast<double>());
  };
  for (Index a = 0; a < count; ++a) {
    factors.setZero();
    first(a + 1, factors.data()) = delta_[at(a + 1)];
    apply_metric(factors.data(), images.col(a).data());
    blocks.J[a] = product(a);
  }
  for (Index a = 0; a < count; ++a) {
    apply_hessian(images.col(a).data(), factors.data());
    for (Index b = 0; b < count; ++b) blocks.M(b, a) = product(b);
  }
  blocks.M = (0.5 * (blocks.M + blocks.M.transpose())).eval();
  return blocks;
}

template <Real Scalar>
double MlpHessian<Scalar>::next_loss(double learning_rate) const {
  // (H5): (W_m - eta delta_m h_(m-1)') h' for the states h' after the step
  const auto eta = static_cast<Scalar>(learning_rate);
  MatrixOf<Scalar> h, z, overlap = K_[0];
  for (Index m = 1; m <= layers(); ++m) {
    if (m == 1) {
      z = z_[1];
    } else {
      z.setZero(network_.width(m), samples_);
      if (network_.biases()) {
        const auto bias = network_.augmented(m, w_).rightCols(1);
        z.colwise() += scales_.empty() ? VectorOf<Scalar>(bias)
                                       : VectorOf<Scalar>(bias.cwiseProduct(scales_[at(m)]));
      }
      add_times(m, h.topRows(network_.width(m - 1)), z);
      multiply<Scalar>(1, true, h_[at(m - 1)], false, h, 0, overlap);
    }
    multiply<Scalar>(-eta, false, delta_[at(m)], false, overlap, 1, z);
    if (m == layers()) break;
    h.setOnes(network_.augmented_width(m), samples_);
    network_.activation().template value<Scalar>(z, h.topRows(network_.width(m)));
  }
  return objective_.loss().template value<Scalar>(z, objective_.targets());
}

template class MlpHessian<float>;
template class MlpHessian<double>;

}  // namespace symport
