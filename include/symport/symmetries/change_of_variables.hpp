// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "symport/core/dual.hpp"
#include "symport/core/types.hpp"

namespace symport {

/// A bijection u = h(w) of R^n, smooth both ways, to coordinates in which the loss is |u|^2.
class ChangeOfVariables {
 public:
  virtual ~ChangeOfVariables() = default;
  virtual Index dimension() const = 0;
  /// u <- h(w)
  virtual void to(In<double> w, Out<double> u) const = 0;
  /// w <- h^-1(u)
  virtual void from(In<double> u, Out<double> w) const = 0;
  /// result <- Dh(w)' covector
  virtual void pull(In<double> w, In<double> covector, Out<double> result) const = 0;
  /// result <- Dh^-1(u)' covector
  virtual void pull_inverse(In<double> u, In<double> covector, Out<double> result) const = 0;
};

/// u = M w + b with M invertible.
class AffineVariables final : public ChangeOfVariables {
 public:
  /// Throws InvalidArgument unless M is square and invertible and b fits.
  AffineVariables(Matrix M, Vector b);

  Index dimension() const override { return M_.rows(); }
  void to(In<double> w, Out<double> u) const override;
  void from(In<double> u, Out<double> w) const override;
  void pull(In<double> w, In<double> covector, Out<double> result) const override;
  void pull_inverse(In<double> u, In<double> covector, Out<double> result) const override;

 private:
  Matrix M_, inverse_;
  Vector b_;
};

/// (u1, u2) = (10 (x1^2 - x2), x1 - 1) in each pair: the coordinates of Rosenbrock's function.
class RosenbrockVariables final : public ChangeOfVariables {
 public:
  explicit RosenbrockVariables(Index pairs) : pairs_(pairs) {}

  Index dimension() const override { return 2 * pairs_; }
  void to(In<double> w, Out<double> u) const override;
  void from(In<double> u, Out<double> w) const override;
  void pull(In<double> w, In<double> covector, Out<double> result) const override;
  void pull_inverse(In<double> u, In<double> covector, Out<double> result) const override;

 private:
  Index pairs_;
};

/// A user's own h and h^-1: callables that take an Eigen vector of any number type and return one;
/// their Jacobians come from dual numbers.
template <class Forward, class Inverse>
class GenericVariables final : public ChangeOfVariables {
 public:
  GenericVariables(Index dimension, Forward h, Inverse h_inverse)
      : dimension_(dimension), h_(std::move(h)), h_inverse_(std::move(h_inverse)) {}

  Index dimension() const override { return dimension_; }
  void to(In<double> w, Out<double> u) const override { u = h_(Vector(w)); }
  void from(In<double> u, Out<double> w) const override { w = h_inverse_(Vector(u)); }
  void pull(In<double> w, In<double> covector, Out<double> result) const override {
    pull_through(h_, w, covector, result);
  }
  void pull_inverse(In<double> u, In<double> covector, Out<double> result) const override {
    pull_through(h_inverse_, u, covector, result);
  }

 private:
  template <class Map>
  void pull_through(const Map& map, In<double> at, In<double> covector, Out<double> result) const {
    VectorOf<Dual<double>> x = at.template cast<Dual<double>>();
    for (Index i = 0; i < dimension_; ++i) {
      x[i].derivative = 1.0;
      const VectorOf<Dual<double>> image = map(x);
      x[i].derivative = 0.0;
      result[i] = 0.0;
      for (Index j = 0; j < dimension_; ++j) result[i] += covector[j] * image[j].derivative;
    }
  }

  Index dimension_;
  Forward h_;
  Inverse h_inverse_;
};

}  // namespace symport
