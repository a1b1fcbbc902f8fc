// SPDX-License-Identifier: MIT
#include "symport/objectives/activation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "objectives/activation_functions.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/same_name.hpp"

// The entries of the loop that follows do not depend on each other. clang takes no hint here: it
// warns where it does not vectorise, as at -O1.
#ifdef __clang__
#define SYMPORT_INDEPENDENT_ENTRIES
#else
#define SYMPORT_INDEPENDENT_ENTRIES _Pragma("GCC ivdep")
#endif

namespace symport {

namespace {

using namespace activations;
using Kind = Activation::Kind;

/// Calls `f` with the function object of an activation.
template <class F>
void visit(const Activation& activation, const F& f) {
  const double p = activation.parameter();
  switch (activation.kind()) {
    case Kind::linear:
      return f(Linear{});
    case Kind::leaky_relu:
      return f(LeakyRelu{p});
    case Kind::relu:
      return f(LeakyRelu{0.0});
    case Kind::tanh:
      return f(Tanh{});
    case Kind::sigmoid:
      return f(Sigmoid{});
    case Kind::asinh:
      return f(Asinh{});
    case Kind::tanh_extended:
      return f(Extended<Tanh>{{}, -1.0, 1.0, p});
    case Kind::sigmoid_extended:
      return f(Extended<Sigmoid>{{}, 0.0, 1.0, p});
    case Kind::gelu:
      return f(Gelu{});
  }
}

/// `f` has its parameters by value: a store to `out` cannot change them. Entries do not depend on
/// each other, also where `out` is `z` (ivdep).
template <class Scalar, class F>
void map_entries(MatrixIn<Scalar> z, MatrixOut<Scalar>& out, const F f) {
  const Index rows = z.rows();
  for (Index j = 0; j < z.cols(); ++j) {
    const Scalar* from = z.data() + j * z.outerStride();
    Scalar* to = out.data() + j * out.outerStride();
    SYMPORT_INDEPENDENT_ENTRIES
    for (Index i = 0; i < rows; ++i) to[i] = f(from[i]);
  }
}

struct Entry {
  std::string_view name;
  Kind kind;
};
constexpr std::array<Entry, 9> entries{{{"linear", Kind::linear},
                                        {"leaky_relu", Kind::leaky_relu},
                                        {"relu", Kind::relu},
                                        {"tanh", Kind::tanh},
                                        {"sigmoid", Kind::sigmoid},
                                        {"asinh", Kind::asinh},
                                        {"tanh_extended", Kind::tanh_extended},
                                        {"sigmoid_extended", Kind::sigmoid_extended},
                                        {"gelu", Kind::gelu}}};
constexpr std::string_view allowed_activations =
    "linear, leaky_relu[:a], relu, tanh, sigmoid, asinh, tanh_extended[:N], sigmoid_extended[:N] "
    "or "
    "gelu";

bool extended(Kind kind) { return kind == Kind::tanh_extended || kind == Kind::sigmoid_extended; }

}  // namespace

Activation::Activation(Kind kind, double parameter) : kind_(kind), parameter_(parameter) {
  const auto reject = [&](const char* allowed) {
    throw InvalidArgument("activation", fmt::format("{}", parameter), allowed);
  };
  if (kind == Kind::leaky_relu) {
    if (parameter == 0.0) parameter_ = 0.1;
    if (!(parameter_ > 0.0 && std::isfinite(parameter_))) reject("a slope a > 0 of leaky_relu:a");
  } else if (extended(kind)) {
    if (parameter == 0.0) parameter_ = 10.0;
    if (!(parameter_ >= 1.0 && parameter_ <= 30.0)) reject("N from 1 to 30 of an extension");
  } else if (parameter != 0.0) {
    reject("a parameter only for leaky_relu and the extensions");
  }
}

Activation Activation::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto* entry = std::find_if(entries.begin(), entries.end(),
                                   [&](const Entry& e) { return same_name(e.name, name); });
  if (entry == entries.end()) {
    throw InvalidArgument("activation", std::string(text), std::string(allowed_activations));
  }
  if (colon == std::string_view::npos) return Activation(entry->kind);
  const std::string_view digits = text.substr(colon + 1);
  double parameter = 0.0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), parameter);
  if (error != std::errc{} || end != digits.data() + digits.size() || parameter == 0.0) {
    throw InvalidArgument("activation", std::string(text),
                          "a number other than 0 after the colon, as in leaky_relu:0.1");
  }
  return Activation(entry->kind, parameter);
}

std::string Activation::name() const {
  const auto* entry =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.kind == kind_; });
  const bool with_parameter = kind_ == Kind::leaky_relu || extended(kind_);
  return with_parameter ? fmt::format("{}:{}", entry->name, parameter_) : std::string(entry->name);
}

bool Activation::bijective() const {
  return kind_ == Kind::linear || kind_ == Kind::leaky_relu || kind_ == Kind::asinh ||
         extended(kind_);
}

bool Activation::positively_homogeneous() const {
  return kind_ == Kind::linear || kind_ == Kind::leaky_relu || kind_ == Kind::relu;
}

bool Activation::odd() const {
  return kind_ == Kind::linear || kind_ == Kind::tanh || kind_ == Kind::asinh ||
         kind_ == Kind::tanh_extended;
}

template <Real Scalar>
void Activation::value(MatrixIn<Scalar> z, MatrixOut<Scalar> out) const {
  visit(*this, [&](const auto& sigma) {
    map_entries<Scalar>(z, out, [sigma](Scalar x) { return sigma.value(x); });
  });
}

template <Real Scalar>
void Activation::derivative(int order, MatrixIn<Scalar> z, MatrixOut<Scalar> out) const {
  if (order < 1 || order > 3) throw std::logic_error("Activation::derivative: order is 1, 2 or 3");
  visit(*this, [&](const auto& sigma) {
    if (order == 1) map_entries<Scalar>(z, out, [sigma](Scalar x) { return sigma.first(x); });
    if (order == 2) map_entries<Scalar>(z, out, [sigma](Scalar x) { return sigma.second(x); });
    if (order == 3) map_entries<Scalar>(z, out, [sigma](Scalar x) { return sigma.third(x); });
  });
}

template <Real Scalar>
void Activation::scale_by_slope(MatrixIn<Scalar> z, MatrixOut<Scalar> x) const {
  const Index rows = z.rows();
  visit(*this, [&](const auto sigma) {
    for (Index j = 0; j < z.cols(); ++j) {
      const Scalar* at = z.data() + j * z.outerStride();
      Scalar* to = x.data() + j * x.outerStride();
      SYMPORT_INDEPENDENT_ENTRIES
      for (Index i = 0; i < rows; ++i) to[i] *= sigma.first(at[i]);
    }
  });
}

template <Real Scalar>
void Activation::inverse(MatrixIn<Scalar> h, MatrixOut<Scalar> out) const {
  if (!bijective()) throw std::logic_error("Activation::inverse: " + name() + " has no inverse");
  visit(*this, [&](const auto& sigma) {
    if constexpr (requires { sigma.inverse(Scalar()); }) {
      map_entries<Scalar>(h, out, [sigma](Scalar y) { return sigma.inverse(y); });
    }
  });
}

template void Activation::value<float>(MatrixIn<float>, MatrixOut<float>) const;
template void Activation::value<double>(MatrixIn<double>, MatrixOut<double>) const;
template void Activation::derivative<float>(int, MatrixIn<float>, MatrixOut<float>) const;
template void Activation::derivative<double>(int, MatrixIn<double>, MatrixOut<double>) const;
template void Activation::scale_by_slope<float>(MatrixIn<float>, MatrixOut<float>) const;
template void Activation::scale_by_slope<double>(MatrixIn<double>, MatrixOut<double>) const;
template void Activation::inverse<float>(MatrixIn<float>, MatrixOut<float>) const;
template void Activation::inverse<double>(MatrixIn<double>, MatrixOut<double>) const;

}  // namespace symport
