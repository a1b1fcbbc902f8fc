// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "symport/objectives/mlp.hpp"

namespace symport {

/// to <- `from` with row i of [W_m b_m] times s_i, column i of W_(m+1) divided by s_i, for every
/// hidden layer m with s = scales[m-1]. Rows and columns see the same rounded s, so that the
/// products stay exact. One pass; `to` may be `from`.
template <Real Scalar>
void scale_units(const Mlp& network, const std::vector<Vector>& scales, In<Scalar> from,
                 Out<Scalar> to) {
  VectorOf<Scalar> below;
  for (Index m = 1; m <= network.layers(); ++m) {
    const VectorOf<Scalar> s =
        m < network.layers()
            ? VectorOf<Scalar>(scales[static_cast<std::size_t>(m - 1)].template cast<Scalar>())
            : VectorOf<Scalar>(VectorOf<Scalar>::Ones(network.width(m)));
    const auto old = network.augmented(m, from.data());
    auto scaled = network.augmented(m, to.data());
    for (Index j = 0; j < old.cols(); ++j) {
      if (j < below.size()) {
        scaled.col(j) = (old.col(j) / below[j]).cwiseProduct(s);
      } else {
        scaled.col(j) = old.col(j).cwiseProduct(s);
      }
    }
    below = s;
  }
}

/// The inverse: rows divided, columns multiplied.
template <Real Scalar>
void unscale_units(const Mlp& network, const std::vector<Vector>& scales, Out<Scalar> w) {
  for (Index m = 1; m < network.layers(); ++m) {
    const VectorOf<Scalar> s = scales[static_cast<std::size_t>(m - 1)].template cast<Scalar>();
    network.augmented(m, w.data()).array().colwise() /= s.array();
    network.weights(m + 1, w.data()).array().rowwise() *= s.transpose().array();
  }
}

}  // namespace symport
