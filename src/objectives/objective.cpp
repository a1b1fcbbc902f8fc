// SPDX-License-Identifier: MIT
#include "symport/objectives/objective.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/lanczos.hpp"
#include "objectives/plain_curvature.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

/// result <- d/de F(w + e v) at e = 0 by a central difference over e |v| = cbrt(roundoff) *
/// max(1, |w|), where truncation and rounding errors balance.
template <Real Scalar, class Field>
void central_difference(const Field& field, In<Scalar> w, In<Scalar> v, Out<Scalar> result) {
  const Scalar norm = v.norm();
  if (norm == Scalar(0)) {
    result.setZero();
    return;
  }
  const Scalar e = std::cbrt(std::numeric_limits<Scalar>::epsilon()) *
                   std::max(Scalar(1), Scalar(w.norm())) / norm;
  VectorOf<Scalar> minus(w.size());
  field(w + e * v, result);
  field(w - e * v, minus);
  result = (result - minus) / (2 * e);
}

}  // namespace

template <Real Scalar>
void BasicObjective<Scalar>::hessian_vector(In<Scalar> w, In<Scalar> v, Out<Scalar> result) const {
  central_difference<Scalar>([&](In<Scalar> at, Out<Scalar> out) { gradient(at, out); }, w, v,
                             result);
}

template <Real Scalar>
void BasicObjective<Scalar>::third_derivative(In<Scalar> w, In<Scalar> v,
                                              Out<Scalar> result) const {
  central_difference<Scalar>([&](In<Scalar> at, Out<Scalar> out) { hessian_vector(at, v, out); }, w,
                             v, result);
}

template <Real Scalar>
void BasicObjective<Scalar>::weight_inputs(In<Scalar>, const UseInputs<Scalar>&) const {
  throw InvalidArgument("objective", "one that does not say what its weights multiply",
                        "a network, or a model of your own with weight_inputs(), for round trips");
}

template <Real Scalar>
double BasicObjective<Scalar>::curvature(In<Scalar> w, In<Scalar> v) const {
  VectorOf<Scalar> Hv(v.size());
  hessian_vector(w, v, Hv);
  return static_cast<double>(v.dot(Hv));
}

template <Real Scalar>
std::unique_ptr<LocalCurvature<Scalar>> BasicObjective<Scalar>::local_curvature(
    In<Scalar> w, KnownGradient<Scalar> known) const {
  return std::make_unique<PlainCurvature<Scalar>>(*this, w, std::move(known));
}

Matrix hessian(const Objective& objective, In<double> w) {
  const Index n = objective.dimension();
  Matrix H(n, n);
  Vector unit = Vector::Zero(n);
  for (Index j = 0; j < n; ++j) {
    unit[j] = 1.0;
    objective.hessian_vector(w, unit, H.col(j));
    unit[j] = 0.0;
  }
  return 0.5 * (H + H.transpose());
}

namespace {

/// The Krylov space of the Hessian at w, taken as far as it goes.
template <Real Scalar>
Lanczos<Scalar> krylov_space(const BasicObjective<Scalar>& objective, In<Scalar> w,
                             In<Scalar> start, Index iterations) {
  const Index n = objective.dimension();
  Lanczos<Scalar> krylov(n, std::min(iterations, n), [&](const Scalar* q, Scalar* Hq) {
    objective.hessian_vector(w, Eigen::Map<const VectorOf<Scalar>>(q, n),
                             Eigen::Map<VectorOf<Scalar>>(Hq, n));
  });
  if (!krylov.begin(start)) krylov.begin(VectorOf<Scalar>::Ones(n));
  while (krylov.steps() < krylov.capacity()) {
    krylov.step();
    const double small = 10 * std::numeric_limits<Scalar>::epsilon() * krylov.scale();
    if (krylov.steps() < krylov.capacity() && !(krylov.remainder() > small)) krylov.restart();
  }
  return krylov;
}

}  // namespace

template <Real Scalar>
double largest_curvature(const BasicObjective<Scalar>& objective, In<Scalar> w, In<Scalar> start,
                         Index iterations) {
  return krylov_space(objective, w, start, iterations).value();
}

template <Real Scalar>
Eigenpair<Scalar> largest_eigenpair(const BasicObjective<Scalar>& objective, In<Scalar> w,
                                    In<Scalar> start, Index iterations) {
  const Lanczos<Scalar> krylov = krylov_space(objective, w, start, iterations);
  return {krylov.value(), krylov.vector()};
}

template class BasicObjective<float>;
template class BasicObjective<double>;
template double largest_curvature(const BasicObjective<float>&, In<float>, In<float>, Index);
template double largest_curvature(const BasicObjective<double>&, In<double>, In<double>, Index);
template Eigenpair<float> largest_eigenpair(const BasicObjective<float>&, In<float>, In<float>,
                                            Index);
template Eigenpair<double> largest_eigenpair(const BasicObjective<double>&, In<double>, In<double>,
                                             Index);

}  // namespace symport
