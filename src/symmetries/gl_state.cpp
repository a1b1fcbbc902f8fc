// SPDX-License-Identifier: MIT
#include "symmetries/gl_state.hpp"

#include <Eigen/LU>
#include <stdexcept>

#include "symmetries/left_inverse.hpp"

namespace symport {

template <Real Scalar>
GlState<Scalar>::GlState(const MlpObjective<Scalar>& objective, In<Scalar> w)
    : network_(objective.network()) {
  if (!network_.activation().bijective()) {
    throw std::logic_error("GlState: " + network_.activation().name() + " is not bijective");
  }
  MlpStates<Scalar> states;
  objective.forward(w, states);
  const Index p = network_.layers();
  W_.resize(1);
  z_.resize(1);
  for (Index m = 1; m <= p; ++m) {
    W_.push_back(network_.augmented(m, w.data()));
    z_.push_back(states.z[static_cast<std::size_t>(m)]);
    h_.push_back(objective.h(m - 1, states));
    if (m == p) break;
    auto ell = left_inverse<Scalar>(h_.back());
    if (!ell) throw std::logic_error("GlState: the samples are linearly dependent");
    ell_.push_back(std::move(*ell));
  }
}

template <Real Scalar>
void GlState<Scalar>::act(const std::vector<MatrixOf<Scalar>>& g) {
  const Index p = network_.layers();
  if (static_cast<Index>(g.size()) != p - 1) {
    throw std::logic_error("GlState::act: one matrix per hidden layer is needed");
  }
  for (Index m = 1; m <= p; ++m) {
    const std::size_t here = static_cast<std::size_t>(m), below = here - 1;
    const Index rows = network_.width(m), cols = network_.width(m - 1);
    // (G2), from the bottom: below this layer everything is transformed already, but W_m and
    // l_(m-1) are not.
    if (m < p) {
      if (g[below].rows() != rows || g[below].cols() != rows) {
        throw std::logic_error("GlState::act: a matrix does not fit its layer");
      }
      const MatrixOf<Scalar> h = g[below] * h_[here].topRows(rows);
      MatrixOf<Scalar> z(rows, h.cols());
      network_.activation().template inverse<Scalar>(h, z);
      W_[here] += (z - z_[here]) * ell_[below];
      h_[here].topRows(rows) = h;
      z_[here] = z;
    }
    if (m > 1) {
      const MatrixOf<Scalar> inverse = g[below - 1].inverse();
      W_[here].leftCols(cols) = (W_[here].leftCols(cols) * inverse).eval();
      if (m < p) ell_[below].leftCols(cols) = (ell_[below].leftCols(cols) * inverse).eval();
    }
  }
}

template <Real Scalar>
VectorOf<Scalar> GlState<Scalar>::parameters() const {
  VectorOf<Scalar> w(network_.parameters());
  for (Index m = 1; m <= network_.layers(); ++m) network_.augmented(m, w.data()) = W(m);
  return w;
}

template class GlState<float>;
template class GlState<double>;

}  // namespace symport
