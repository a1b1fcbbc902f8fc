// SPDX-License-Identifier: MIT
#include "symport/optimizers/g_sgd.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/position.hpp"
#include "optimizers/homogeneous.hpp"

namespace symport {

namespace {

/// Bounds of the factor of an in-edge.
constexpr double least_factor = 0.5, most_factor = 2.0;

}  // namespace

std::string_view to_string(Skeleton skeleton) {
  return skeleton == Skeleton::largest ? "largest" : "diagonal";
}

template <Real Scalar>
Gsgd<Scalar>::Gsgd(Mlp network, const GsgdOptions& options)
    : network_(std::move(network)), options_(options) {
  require_homogeneous(network_);
  if (network_.biases()) {
    throw InvalidArgument("biases", "yes",
                          "no: the values of paths say nothing about biases (path_sgd takes them)");
  }
}

template <Real Scalar>
OptimizerState<Scalar> Gsgd<Scalar>::init(Index dimension) const {
  require_dimension(network_, dimension);
  return {};
}

template <Real Scalar>
typename Gsgd<Scalar>::Edges Gsgd<Scalar>::skeleton(In<Scalar> w) const {
  const Index p = network_.layers();
  const bool largest = options_.skeleton == Skeleton::largest;
  Edges edges;
  edges.in.resize(at(p));
  edges.out.resize(at(p));
  edges.B.resize(at(p));
  edges.F.resize(at(p) + 1);
  edges.B[0].setOnes(network_.width(0));
  for (Index m = 1; m < p; ++m) {
    const auto W = network_.weights(m, w.data());
    const VectorOf<Scalar>& before = edges.B[at(m - 1)];
    edges.B[at(m)].resize(network_.width(m));
    for (Index v = 0; v < network_.width(m); ++v) {
      Index u = v % network_.width(m - 1);
      if (largest) (W.row(v).transpose().cwiseProduct(before)).cwiseAbs().maxCoeff(&u);
      edges.in[at(m)].push_back(u);
      edges.B[at(m)][v] = W(v, u) * before[u];
    }
  }
  edges.F[at(p)].setOnes(network_.width(p));
  for (Index m = p - 1; m >= 1; --m) {
    const auto W = network_.weights(m + 1, w.data());
    const VectorOf<Scalar>& after = edges.F[at(m + 1)];
    edges.F[at(m)].resize(network_.width(m));
    for (Index u = 0; u < network_.width(m); ++u) {
      Index v = u % network_.width(m + 1);
      if (largest) (W.col(u).cwiseProduct(after)).cwiseAbs().maxCoeff(&v);
      edges.out[at(m)].push_back(v);
      edges.F[at(m)][u] = W(v, u) * after[v];
    }
  }
  return edges;
}

template <Real Scalar>
void Gsgd<Scalar>::advance(In<Scalar> gradient, double learning_rate, OptimizerState<Scalar>&,
                           Out<Scalar> w) const {
  const Index p = network_.layers();
  const Edges edges = skeleton(w);
  // S(u) of layers 1 ... p-1, from the last: of the edges out of u all but the fixed one count, and
  // the paths through the fixed one do where it is the in-edge of its end.
  std::vector<VectorOf<Scalar>> S(at(p) + 1);
  for (Index m = p - 1; m >= 1; --m) {
    const auto W = network_.weights(m + 1, w.data());
    const auto G = network_.weights(m + 1, gradient.data());
    S[at(m)].resize(network_.width(m));
    for (Index u = 0; u < network_.width(m); ++u) {
      const Index v = edges.out[at(m)][at(u)];
      Scalar sum = W.col(u).dot(G.col(u)) - W(v, u) * G(v, u);
      if (m + 1 < p && edges.in[at(m + 1)][at(v)] == u) sum += S[at(m + 1)][v];
      S[at(m)][u] = sum;
    }
  }
  double rate = learning_rate;
  if (options_.relative_rate && p > 1) {
    const double V = static_cast<double>(
        edges.B[at(p - 1)].cwiseProduct(edges.F[at(p - 1)]).cwiseAbs().maxCoeff());
    rate *= std::pow(V, 2.0 - 2.0 / static_cast<double>(p));
  }
  // Steps and allocation, from the first layer. rho: of the layer before.
  VectorOf<Scalar> rho = VectorOf<Scalar>::Ones(network_.width(0)), next;
  for (Index m = 1; m <= p; ++m) {
    auto W = network_.weights(m, w.data());
    const auto G = network_.weights(m, gradient.data());
    const VectorOf<Scalar>&B = edges.B[at(m - 1)], &F = edges.F[at(m)];
    const VectorOf<Scalar> inverse =
        (F.array() != Scalar(0)).select(F.array().square().inverse(), Scalar(0));
    std::vector<Scalar> in_weights, fixed_weights;
    if (m < p) {
      for (Index v = 0; v < W.rows(); ++v) in_weights.push_back(W(v, edges.in[at(m)][at(v)]));
    }
    if (m > 1) {
      for (Index u = 0; u < W.cols(); ++u) {
        fixed_weights.push_back(W(edges.out[at(m - 1)][at(u)], u));
      }
    }
    for (Index u = 0; u < W.cols(); ++u) {
      const auto step = B[u] != Scalar(0) ? static_cast<Scalar>(rate) / (B[u] * B[u]) : Scalar(0);
      W.col(u).array() = (W.col(u).array() - step * inverse.array() * G.col(u).array()) / rho[u];
    }
    if (m < p) {
      next.resize(W.rows());
      for (Index v = 0; v < W.rows(); ++v) {
        const Index u = edges.in[at(m)][at(v)];
        next[v] = rho[u];
        if (m > 1 && edges.out[at(m - 1)][at(u)] == v) continue;  // fixed
        const auto value = static_cast<double>(in_weights[at(v)]);
        const double P = static_cast<double>(B[u]) * static_cast<double>(F[v]);
        const double b = value * static_cast<double>(G(v, u)) - static_cast<double>(S[at(m)][v]);
        double factor = 1.0 - rate * b / (value * value * P * P);
        // A path of value 0 cannot be a basis path: nothing is known of it.
        if (!std::isfinite(factor)) factor = 1.0;
        factor = std::clamp(factor, least_factor, most_factor);
        W(v, u) = static_cast<Scalar>(factor) * in_weights[at(v)] / rho[u];
        next[v] = static_cast<Scalar>(factor);
      }
    }
    if (m > 1) {
      for (Index u = 0; u < W.cols(); ++u) {
        W(edges.out[at(m - 1)][at(u)], u) = fixed_weights[at(u)];
      }
    }
    rho.swap(next);
  }
}

template class Gsgd<float>;
template class Gsgd<double>;

}  // namespace symport
