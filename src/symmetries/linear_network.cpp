// SPDX-License-Identifier: MIT
#include "symport/symmetries/linear_network.hpp"

#include "symmetries/hidden_units.hpp"
#include "symmetries/network_requirements.hpp"

namespace symport {

namespace {

void require_linear(const Activation& activation) {
  if (activation.kind() == Activation::Kind::linear) return;
  throw InvalidArgument("activation", activation.name(),
                        "linear for the symmetry linear_gl: a matrix does not commute with another "
                        "activation (gl does it on one batch)");
}

}  // namespace

template <Real Scalar>
OrbitOrReason<Scalar> LinearNetworkSymmetry<Scalar>::orbit(const BasicObjective<Scalar>& objective,
                                                           In<Scalar> w) const {
  const Mlp& network = require_network<Scalar>(name(), objective, w);
  require_linear(network.activation());
  return hidden_unit_orbit<Scalar>(network, GroupKind::general_linear, objective, w);
}

template <Real Scalar>
void LinearNetworkSymmetry<Scalar>::act(const Mlp& network, const std::vector<Matrix>& g,
                                        Out<Scalar> w) {
  require_linear(network.activation());
  act_on_hidden_units<Scalar>(network, GroupKind::general_linear, g, w);
}

template class LinearNetworkSymmetry<float>;
template class LinearNetworkSymmetry<double>;

}  // namespace symport
