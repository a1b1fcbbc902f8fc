// SPDX-License-Identifier: MIT
#include "symport/symmetries/paper_action.hpp"

#include "symmetries/network_requirements.hpp"
#include "symmetries/paper_orbit.hpp"

namespace symport {

template <Real Scalar>
OrbitOrReason<Scalar> PaperAction<Scalar>::orbit(const BasicObjective<Scalar>& objective,
                                                 In<Scalar> w) const {
  const MlpObjective<Scalar>& mlp = require_mlp(name(), objective);
  if (mlp.network().layers() < 2) {
    throw InvalidArgument("layers", "a network without hidden layers", "one or more");
  }
  if (!mlp.network().activation().bijective()) {
    refuse_without_inverse(name(), mlp.network().activation());
  }
  return std::make_unique<PaperOrbit<Scalar>>(objective, mlp, w);
}

template class PaperAction<float>;
template class PaperAction<double>;

}  // namespace symport
