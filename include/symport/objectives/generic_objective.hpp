// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include "symport/core/dual.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/objective.hpp"

namespace symport {

/// A loss that takes an Eigen vector of any number type, `const auto& x`, and returns that type.
template <class Loss>
concept LossOfAnyNumber = requires(const Loss& loss, const Vector& x,
                                   const VectorOf<Dual<double>>& dual) {
  { loss(x) } -> std::convertible_to<double>;
  requires std::same_as<std::remove_cvref_t<decltype(loss(dual))>, Dual<double>>;
};

/// For anything else: one error with one message.
template <class Loss>
class GenericObjective {
  static_assert(LossOfAnyNumber<Loss>,
                "GenericObjective: write the loss as a generic lambda, [](const auto& x) { ... }, "
                "that returns the number type of x, and call sin, exp, pow, ... without std::");

 public:
  GenericObjective(Index, Loss) {}
};

/// An objective from a callable that computes the loss alone; every derivative comes from dual
/// numbers and is exact.
///
///   const GenericObjective objective(2, [](const auto& x) {
///     return pow(x[0] - 1.0, 2) + 10.0 * pow(x[1] - x[0] * x[0], 2);
///   });
///
/// The callable takes an Eigen vector of any number type and returns that type; mathematical
/// functions are called without `std::` so that their dual versions are found. A gradient costs n
/// calls (forward mode), so this is for small n.
template <LossOfAnyNumber Loss>
class GenericObjective<Loss> final : public Objective {
 public:
  GenericObjective(Index dimension, Loss loss) : dimension_(dimension), loss_(std::move(loss)) {
    if (dimension < 1) {
      throw InvalidArgument("dimension", std::to_string(dimension), "a whole number >= 1");
    }
  }

  Index dimension() const override { return dimension_; }

  double value(In<double> w) const override { return loss_(Vector(w)); }

  double gradient(In<double> w, Out<double> gradient) const override {
    using D = Dual<double>;
    VectorOf<D> x = w.template cast<D>();
    double loss = 0.0;
    for (Index i = 0; i < dimension_; ++i) {
      x[i].derivative = 1.0;
      const D result = loss_(x);
      x[i].derivative = 0.0;
      gradient[i] = result.derivative;
      loss = result.value;
    }
    return loss;
  }

  void hessian_vector(In<double> w, In<double> v, Out<double> result) const override {
    using D = Dual<double>;
    using DD = Dual<D>;
    VectorOf<DD> x(dimension_);
    for (Index i = 0; i < dimension_; ++i) x[i] = DD(D(w[i], v[i]), D(0.0));
    for (Index i = 0; i < dimension_; ++i) {
      x[i].derivative = D(1.0);
      result[i] = loss_(x).derivative.derivative;
      x[i].derivative = D(0.0);
    }
  }

  void third_derivative(In<double> w, In<double> v, Out<double> result) const override {
    using D = Dual<double>;
    using DD = Dual<D>;
    using DDD = Dual<DD>;
    VectorOf<DDD> x(dimension_);
    for (Index i = 0; i < dimension_; ++i) x[i] = DDD(DD(D(w[i], v[i]), D(v[i])), DD(0.0));
    for (Index i = 0; i < dimension_; ++i) {
      x[i].derivative = DD(1.0);
      result[i] = loss_(x).derivative.derivative.derivative;
      x[i].derivative = DD(0.0);
    }
  }

 private:
  Index dimension_;
  Loss loss_;
};

}  // namespace symport
