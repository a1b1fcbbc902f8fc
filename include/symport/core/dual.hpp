// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <concepts>

namespace symport {

/// A number with a derivative: value + derivative * e, e^2 = 0. Nested (`Dual<Dual<double>>`) it
/// carries second derivatives, and so on. Works inside Eigen matrices.
///
/// Comparisons look only at the value, so branches follow the same path as plain numbers.
template <class T>
struct Dual {
  T value{};
  T derivative{};

  Dual() = default;
  Dual(double v) : value(v) {}  // NOLINT: a number is a dual number
  Dual(T v, T d) : value(std::move(v)), derivative(std::move(d)) {}
  explicit Dual(T v) requires(!std::same_as<T, double>) : value(std::move(v)) {}

  Dual operator-() const { return {-value, -derivative}; }
  Dual& operator+=(const Dual& b) { return *this = *this + b; }
  Dual& operator-=(const Dual& b) { return *this = *this - b; }
  Dual& operator*=(const Dual& b) { return *this = *this * b; }
  Dual& operator/=(const Dual& b) { return *this = *this / b; }

  friend Dual operator+(const Dual& a, const Dual& b) {
    return {a.value + b.value, a.derivative + b.derivative};
  }
  friend Dual operator-(const Dual& a, const Dual& b) {
    return {a.value - b.value, a.derivative - b.derivative};
  }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.derivative * b.value + a.value * b.derivative};
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const T quotient = a.value / b.value;
    return {quotient, (a.derivative - quotient * b.derivative) / b.value};
  }
  friend bool operator==(const Dual& a, const Dual& b) { return a.value == b.value; }
  friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  friend bool operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  friend bool operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }

  friend Dual sqrt(const Dual& a) {
    using std::sqrt;
    const T root = sqrt(a.value);
    return {root, a.derivative / (2.0 * root)};
  }
  friend Dual exp(const Dual& a) {
    using std::exp;
    const T e = exp(a.value);
    return {e, a.derivative * e};
  }
  friend Dual log(const Dual& a) {
    using std::log;
    return {log(a.value), a.derivative / a.value};
  }
  friend Dual sin(const Dual& a) {
    using std::cos, std::sin;
    return {sin(a.value), a.derivative * cos(a.value)};
  }
  friend Dual cos(const Dual& a) {
    using std::cos, std::sin;
    return {cos(a.value), -(a.derivative * sin(a.value))};
  }
  friend Dual tanh(const Dual& a) {
    using std::tanh;
    const T t = tanh(a.value);
    return {t, a.derivative * (1.0 - t * t)};
  }
  friend Dual asinh(const Dual& a) {
    using std::asinh, std::sqrt;
    return {asinh(a.value), a.derivative / sqrt(a.value * a.value + 1.0)};
  }
  friend Dual abs(const Dual& a) { return a.value < T(0.0) ? -a : a; }
  /// Constant exponents only.
  friend Dual pow(const Dual& a, double exponent) {
    using std::pow;
    if (exponent == 0.0) return Dual(1.0);
    return {pow(a.value, exponent), a.derivative * (exponent * pow(a.value, exponent - 1.0))};
  }
};

}  // namespace symport

namespace Eigen {

template <class T>
struct NumTraits<symport::Dual<T>> : GenericNumTraits<symport::Dual<T>> {
  using Real = symport::Dual<T>;
  using NonInteger = symport::Dual<T>;
  using Nested = symport::Dual<T>;
  using Literal = symport::Dual<T>;
  enum {
    IsInteger = 0,
    IsSigned = 1,
    IsComplex = 0,
    RequireInitialization = 1,
    ReadCost = 2,
    AddCost = 2,
    MulCost = 6
  };
};

/// Allows matrices of doubles and of dual numbers in one sum, and a matrix of doubles to the left
/// of one of dual numbers in a product. (To the right of one it must be `cast` first.)
template <class T, class BinaryOp>
struct ScalarBinaryOpTraits<symport::Dual<T>, double, BinaryOp> {
  using ReturnType = symport::Dual<T>;
};
template <class T, class BinaryOp>
struct ScalarBinaryOpTraits<double, symport::Dual<T>, BinaryOp> {
  using ReturnType = symport::Dual<T>;
};

}  // namespace Eigen
