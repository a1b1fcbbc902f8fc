// SPDX-License-Identifier: MIT
#include "symport/symmetries/sign_flip.hpp"

#include "symmetries/hidden_units.hpp"
#include "symmetries/network_requirements.hpp"

namespace symport {

namespace {

void require_odd(const Activation& activation) {
  if (activation.odd()) return;
  throw InvalidArgument(
      "activation", activation.name(),
      "linear, tanh, asinh or tanh_extended for the symmetry sign_flip: sigma(-x) = "
      "-sigma(x) must hold");
}

}  // namespace

template <Real Scalar>
OrbitOrReason<Scalar> SignFlipSymmetry<Scalar>::orbit(const BasicObjective<Scalar>& objective,
                                                      In<Scalar> w) const {
  const Mlp& network = require_network<Scalar>(name(), objective, w);
  require_odd(network.activation());
  return hidden_unit_orbit<Scalar>(network, GroupKind::signs, objective, w);
}

template <Real Scalar>
void SignFlipSymmetry<Scalar>::act(const Mlp& network, const std::vector<Vector>& signs,
                                   Out<Scalar> w) {
  require_odd(network.activation());
  act_on_hidden_units<Scalar>(network, GroupKind::signs, GroupMatrices(signs.begin(), signs.end()),
                              w);
}

template class SignFlipSymmetry<float>;
template class SignFlipSymmetry<double>;

}  // namespace symport
