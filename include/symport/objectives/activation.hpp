// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "symport/core/types.hpp"

namespace symport {

/// A scalar function that a network applies to every hidden unit, with its derivatives and, where
/// it is a bijection of the real line, its inverse.
///
///   linear            x
///   leaky_relu:a      x > 0 ? x : a x                      a > 0
///   relu              max(x, 0)
///   tanh, sigmoid, asinh
///   tanh_extended:N   tanh(x) + e^(x-N) - e^(-x-N)         strictly increasing onto the reals
///   sigmoid_extended:N   1/(1+e^-x) + e^(x-N) - e^(-x-N)
///   gelu              x P(X <= x), X standard normal
///
/// The extensions follow the paper's idea; its formula (e^(-x+N)) has a sign slip. They are
/// inverted by a Newton iteration inside a bracket, in double for either precision. At a kink the
/// derivative is the one on the left, and higher ones are 0.
class Activation {
 public:
  enum class Kind {
    linear,
    leaky_relu,
    relu,
    tanh,
    sigmoid,
    asinh,
    tanh_extended,
    sigmoid_extended,
    gelu,
  };

  Activation() = default;
  /// `parameter` is a of leaky_relu or N of an extension; 0 means its default (0.1; 10).
  /// Throws InvalidArgument when out of range.
  explicit Activation(Kind kind, double parameter = 0.0);
  /// "leaky_relu:0.1", "tanh". Throws InvalidArgument, listing the known names.
  static Activation parse(std::string_view text);

  /// What `parse` reads, with the parameter.
  std::string name() const;
  Kind kind() const { return kind_; }
  double parameter() const { return parameter_; }

  /// Strictly increasing from the reals onto the reals.
  bool bijective() const;
  /// sigma(s x) = s sigma(x) for s > 0.
  bool positively_homogeneous() const;
  /// sigma(-x) = -sigma(x).
  bool odd() const;
  /// The second and third derivatives are 0 (almost) everywhere.
  bool piecewise_linear() const { return positively_homogeneous(); }

  /// out <- sigma(z). In all of these `out` may be `z` itself.
  template <Real Scalar>
  void value(MatrixIn<Scalar> z, MatrixOut<Scalar> out) const;
  /// out <- the derivative of the given order, 1 to 3, at z.
  template <Real Scalar>
  void derivative(int order, MatrixIn<Scalar> z, MatrixOut<Scalar> out) const;
  /// x <- sigma'(z) * x, entry by entry.
  template <Real Scalar>
  void scale_by_slope(MatrixIn<Scalar> z, MatrixOut<Scalar> x) const;
  /// out <- the z with sigma(z) = h; non-finite entries where none is representable. Throws
  /// std::logic_error unless bijective.
  template <Real Scalar>
  void inverse(MatrixIn<Scalar> h, MatrixOut<Scalar> out) const;

  bool operator==(const Activation&) const = default;

 private:
  Kind kind_ = Kind::linear;
  double parameter_ = 0.0;
};

}  // namespace symport
