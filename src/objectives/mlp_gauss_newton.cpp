// SPDX-License-Identifier: MIT
#include "objectives/mlp_gauss_newton.hpp"

#include <algorithm>
#include <cmath>

#include "core/position.hpp"
#include "symport/core/gemm.hpp"

namespace symport {

namespace {

/// S of every sample, from the outputs.
template <Real Scalar>
class OutputRoot {
 public:
  OutputRoot(const Loss& loss, const MatrixOf<Scalar>& Z) : squares_(!loss.categorical()) {
    if (squares_) {
      // The Hessian is s I.
      MatrixOf<Scalar> image = MatrixOf<Scalar>::Ones(Z.rows(), Z.cols());
      loss.template hessian_product<Scalar>(Z, image, image);
      root_ = std::sqrt(static_cast<double>(image(0, 0)));
      return;
    }
    if (loss.reduction() == Loss::Reduction::mean) {
      root_ = 1.0 / std::sqrt(static_cast<double>(Z.cols()));
    }
    q_ = Z.template cast<double>();
    for (Index j = 0; j < q_.cols(); ++j) {
      const Vector odds = (q_.col(j).array() - q_.col(j).maxCoeff()).exp();
      q_.col(j) = (odds / odds.sum()).cwiseSqrt();
    }
  }

  /// Column k of S for every sample.
  void column(Index k, MatrixOut<Scalar> out) const {
    out.setZero();
    if (squares_) {
      out.row(k).setConstant(static_cast<Scalar>(root_));
      return;
    }
    for (Index j = 0; j < q_.cols(); ++j) {
      Vector s = -q_(k, j) * q_.col(j).cwiseAbs2();
      s[k] += q_(k, j);
      out.col(j) = (root_ * s).template cast<Scalar>();
    }
  }

  /// S x of every sample.
  MatrixOf<Scalar> combine(const Vector& x, Index outputs) const {
    Matrix X = root_ * Eigen::Map<const Matrix>(x.data(), x.size() / outputs, outputs).transpose();
    if (!squares_) {
      X = X.cwiseProduct(q_).eval();
      for (Index j = 0; j < X.cols(); ++j) X.col(j) -= X.col(j).sum() * q_.col(j).cwiseAbs2();
    }
    return X.template cast<Scalar>();
  }

  /// c from dL/dz.
  Vector solve(const MatrixOf<Scalar>& delta) const {
    Matrix C = delta.template cast<double>() / root_;
    // A class of probability zero has no slope unless it is the right one, which the floor keeps
    // finite.
    if (!squares_) C = C.cwiseQuotient(q_.cwiseMax(1e-15)).eval();
    const Matrix by_output = C.transpose();
    return Eigen::Map<const Vector>(by_output.data(), by_output.size());
  }

 private:
  bool squares_;
  double root_ = 1.0;  ///< of s
  Matrix q_;           ///< outputs x samples; empty for squares
};

}  // namespace

template <Real Scalar>
MatrixOf<Scalar> MlpGaussNewton<Scalar>::backward(Index m, In<Scalar> w,
                                                  const MlpStates<Scalar>& states,
                                                  const MatrixOf<Scalar>& delta) const {
  MatrixOf<Scalar> below(network().width(m - 1), delta.cols());
  multiply<Scalar>(1, true, network().weights(m, w.data()), false, delta, 0, below);
  const Index n = objective_.samples();
  for (Index first = 0; first < below.cols(); first += n) {
    network().activation().template scale_by_slope<Scalar>(states.z[at(m - 1)],
                                                           below.middleCols(first, n));
  }
  return below;
}

template <Real Scalar>
void MlpGaussNewton<Scalar>::kernel(In<Scalar> w, Vector& c, Matrix& K) const {
  const Index p = network().layers(), n = objective_.samples(), N = rows();
  MlpStates<Scalar> states;
  objective_.backpropagate(w, states);
  const OutputRoot<Scalar> root(objective_.loss(), states.z[at(p)]);
  c = root.solve(states.delta[at(p)]);
  MatrixOf<Scalar> delta(outputs(), N);
  for (Index k = 0; k < outputs(); ++k) root.column(k, delta.middleCols(k * n, n));
  K.setZero(N, N);
  Matrix products(N, N), features(n, n);
  for (Index m = p; m >= 1; --m) {
    gram<double>(Matrix(delta.template cast<double>()), products);
    gram<double>(Matrix(objective_.h(m - 1, states).template cast<double>()), features);
    for (Index k = 0; k < N; k += n) {
      for (Index l = 0; l < N; l += n) {
        K.block(k, l, n, n) += products.block(k, l, n, n).cwiseProduct(features);
      }
    }
    if (m > 1) delta = backward(m, w, states, delta);
  }
}

template <Real Scalar>
void MlpGaussNewton<Scalar>::matrix(In<Scalar> w, Matrix& G) const {
  const Index p = network().layers(), n = objective_.samples(), size = network().parameters();
  MlpStates<Scalar> states;
  objective_.forward(w, states);
  const OutputRoot<Scalar> root(objective_.loss(), states.z[at(p)]);
  G.setZero(size, size);
  // Rows of A as columns, some samples at a time.
  const Index block = std::clamp<Index>(4'000'000 / size, 1, n);
  Matrix some(size, block);
  states.delta.resize(at(p) + 1);
  for (Index k = 0; k < outputs(); ++k) {
    states.delta[at(p)].resize(outputs(), n);
    root.column(k, states.delta[at(p)]);
    for (Index m = p; m > 1; --m)
      states.delta[at(m - 1)] = backward(m, w, states, states.delta[at(m)]);
    for (Index first = 0; first < n; first += block) {
      const Index count = std::min(block, n - first);
      for (Index m = 1; m <= p; ++m) {
        const Matrix delta = states.delta[at(m)].middleCols(first, count).template cast<double>();
        const Matrix below =
            objective_.h(m - 1, states).middleCols(first, count).template cast<double>();
        for (Index j = 0; j < count; ++j) {
          Eigen::Map<Matrix>(some.col(j).data() + network().offset(m), delta.rows(), below.rows()) =
              delta.col(j) * below.col(j).transpose();
        }
      }
      multiply<double>(1, false, some.leftCols(count), true, some.leftCols(count), 1, G);
    }
  }
}

template <Real Scalar>
void MlpGaussNewton<Scalar>::pull(In<Scalar> w, const Vector& x, Vector& result) const {
  const Index p = network().layers();
  MlpStates<Scalar> states;
  objective_.forward(w, states);
  const OutputRoot<Scalar> root(objective_.loss(), states.z[at(p)]);
  MatrixOf<Scalar> delta = root.combine(x, outputs());
  result.resize(network().parameters());
  for (Index m = p; m >= 1; --m) {
    const MatrixOf<Scalar>& below = objective_.h(m - 1, states);
    MatrixOf<Scalar> layer(delta.rows(), below.rows());
    multiply<Scalar>(1, false, delta, true, below, 0, layer);
    network().augmented(m, result.data()) = layer.template cast<double>();
    if (m > 1) delta = backward(m, w, states, delta);
  }
}

template class MlpGaussNewton<float>;
template class MlpGaussNewton<double>;

}  // namespace symport
