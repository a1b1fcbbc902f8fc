// SPDX-License-Identifier: MIT
#include "symport/optimizers/path_sgd.hpp"

#include <utility>
#include <vector>

#include "core/position.hpp"
#include "optimizers/homogeneous.hpp"

namespace symport {

/// in_m, with a 1 below for the bias, and out_m.
template <Real Scalar>
struct PathSgd<Scalar>::Passes {
  std::vector<VectorOf<Scalar>> in, out;
};

template <Real Scalar>
PathSgd<Scalar>::PathSgd(Mlp network) : network_(std::move(network)) {
  require_homogeneous(network_);
}

template <Real Scalar>
OptimizerState<Scalar> PathSgd<Scalar>::init(Index dimension) const {
  require_dimension(network_, dimension);
  return {};
}

template <Real Scalar>
typename PathSgd<Scalar>::Passes PathSgd<Scalar>::passes(In<Scalar> w) const {
  const Index p = network_.layers();
  Passes passes;
  passes.in.resize(at(p));
  passes.out.resize(at(p) + 1);
  for (Index m = 0; m < p; ++m) {
    VectorOf<Scalar>& in = passes.in[at(m)];
    in.setOnes(network_.augmented_width(m));
    if (m == 0) continue;
    in.head(network_.width(m)) = network_.augmented(m, w.data()).cwiseAbs2() * passes.in[at(m - 1)];
  }
  passes.out[at(p)].setOnes(network_.width(p));
  for (Index m = p; m > 1; --m) {
    passes.out[at(m - 1)] =
        network_.weights(m, w.data()).cwiseAbs2().transpose() * passes.out[at(m)];
  }
  return passes;
}

template <Real Scalar>
VectorOf<Scalar> PathSgd<Scalar>::scales(In<Scalar> w) const {
  const Passes found = passes(w);
  VectorOf<Scalar> scales(w.size());
  for (Index m = 1; m <= network_.layers(); ++m) {
    network_.augmented(m, scales.data()) = found.out[at(m)] * found.in[at(m - 1)].transpose();
  }
  return scales;
}

template <Real Scalar>
void PathSgd<Scalar>::advance(In<Scalar> gradient, double learning_rate, OptimizerState<Scalar>&,
                              Out<Scalar> w) const {
  const Passes found = passes(w);
  const auto rate = static_cast<Scalar>(learning_rate);
  const auto inverse = [](const VectorOf<Scalar>& scale) -> VectorOf<Scalar> {
    return (scale.array() > Scalar(0)).select(scale.cwiseInverse(), Scalar(0));
  };
  for (Index m = 1; m <= network_.layers(); ++m) {
    const VectorOf<Scalar> rows = inverse(found.out[at(m)]), cols = inverse(found.in[at(m - 1)]);
    auto W = network_.augmented(m, w.data());
    const auto G = network_.augmented(m, gradient.data());
    for (Index u = 0; u < W.cols(); ++u) {
      W.col(u).array() -= (rate * cols[u]) * rows.array() * G.col(u).array();
    }
  }
}

template class PathSgd<float>;
template class PathSgd<double>;

}  // namespace symport
