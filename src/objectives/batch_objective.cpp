// SPDX-License-Identifier: MIT
#include "symport/objectives/batch_objective.hpp"

#include <limits>

namespace symport {

template <Real Scalar>
Score BatchObjective<Scalar>::score(In<Scalar> w) const {
  return {this->value(w), std::numeric_limits<double>::quiet_NaN()};
}

template <Real Scalar>
Score BatchObjective<Scalar>::score(In<Scalar> w, Out<Scalar> gradient) const {
  return {this->gradient(w, gradient), std::numeric_limits<double>::quiet_NaN()};
}

template <Real Scalar>
double BatchObjective<Scalar>::gradient_step(Out<Scalar> w, double learning_rate) const {
  VectorOf<Scalar> gradient(w.size());
  const double loss = this->gradient(w, gradient);
  w -= static_cast<Scalar>(learning_rate) * gradient;
  return loss;
}

template <Real Scalar>
double BatchObjective<Scalar>::gradient_ranges(
    In<Scalar> w, const std::function<void(Index, In<Scalar>)>& use) const {
  VectorOf<Scalar> gradient(w.size());
  const double loss = this->gradient(w, gradient);
  use(0, gradient);
  return loss;
}

template class BatchObjective<float>;
template class BatchObjective<double>;

}  // namespace symport
