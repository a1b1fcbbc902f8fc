// SPDX-License-Identifier: MIT
#include "symport/symmetries/permutation.hpp"

#include "symmetries/hidden_units.hpp"
#include "symmetries/network_requirements.hpp"

namespace symport {

template <Real Scalar>
OrbitOrReason<Scalar> PermutationSymmetry<Scalar>::orbit(const BasicObjective<Scalar>& objective,
                                                         In<Scalar> w) const {
  const Mlp& network = require_network<Scalar>(name(), objective, w);
  return hidden_unit_orbit<Scalar>(network, GroupKind::permutations, objective, w);
}

template <Real Scalar>
void PermutationSymmetry<Scalar>::act(const Mlp& network,
                                      const std::vector<std::vector<Index>>& orders,
                                      Out<Scalar> w) {
  GroupMatrices g;
  for (const std::vector<Index>& order : orders) {
    g.push_back(Eigen::Map<const VectorOf<Index>>(order.data(), static_cast<Index>(order.size()))
                    .cast<double>());
  }
  act_on_hidden_units<Scalar>(network, GroupKind::permutations, std::move(g), w);
}

template class PermutationSymmetry<float>;
template class PermutationSymmetry<double>;

}  // namespace symport
