// SPDX-License-Identifier: MIT
#include "symport/symmetries/orbit.hpp"

namespace symport {

std::vector<Candidate> Orbit::candidates(const Worth&) { return {}; }

bool Orbit::randomize(Random&, double) { return false; }

template <Real Scalar>
bool BasicOrbit<Scalar>::transport(Out<Scalar>, StateKind kind) const {
  return kind == StateKind::scalar;
}

template <Real Scalar>
void BasicOrbit<Scalar>::current_gradient(In<Scalar> w, Out<Scalar> gradient) {
  objective().gradient(w, gradient);
  charge(1.0);
}

template <Real Scalar>
std::unique_ptr<LocalCurvature<Scalar>> BasicOrbit<Scalar>::local_curvature() {
  VectorOf<Scalar> w(objective().dimension());
  commit(w);
  return objective().local_curvature(w, {});
}

template <Real Scalar>
void BasicOrbit<Scalar>::charge_states(double gradients) {
  charge(gradients);
  objective_.note_work(gradients);
}

template class BasicOrbit<float>;
template class BasicOrbit<double>;

}  // namespace symport
