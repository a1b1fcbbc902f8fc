// SPDX-License-Identifier: MIT
#include "symport/objectives/initialization.hpp"

#include <cmath>
#include <string>

#include "symport/core/invalid_argument.hpp"
#include "symport/core/same_name.hpp"

namespace symport {

std::string_view to_string(Initialization initialization) {
  switch (initialization) {
    case Initialization::fan_in:
      return "fan_in";
    case Initialization::unit:
      return "unit";
    case Initialization::he:
      return "he";
    case Initialization::glorot:
      return "glorot";
  }
  return "";
}

Initialization parse_initialization(std::string_view text) {
  for (const Initialization each :
       {Initialization::fan_in, Initialization::unit, Initialization::he, Initialization::glorot}) {
    if (same_name(text, to_string(each))) return each;
  }
  throw InvalidArgument("init", std::string(text), "fan_in, unit, he or glorot");
}

template <Real Scalar>
VectorOf<Scalar> initialize(const Mlp& network, Initialization initialization, Random& random) {
  VectorOf<Scalar> w = VectorOf<Scalar>::Zero(network.parameters());
  for (Index m = 1; m <= network.layers(); ++m) {
    const double in = static_cast<double>(network.width(m - 1));
    const double out = static_cast<double>(network.width(m));
    const auto draw = [&](auto number) {
      auto weights = network.weights(m, w.data());
      for (Index i = 0; i < weights.size(); ++i) weights.data()[i] = static_cast<Scalar>(number());
    };
    const auto draw_with_biases = [&](auto number) {
      auto all = network.augmented(m, w.data());
      for (Index i = 0; i < all.size(); ++i) all.data()[i] = static_cast<Scalar>(number());
    };
    switch (initialization) {
      case Initialization::fan_in:
        draw_with_biases([&] { return random.uniform(-1.0, 1.0) / std::sqrt(in); });
        break;
      case Initialization::unit:
        draw_with_biases([&] { return random.uniform(); });
        break;
      case Initialization::he:
        draw([&] { return random.normal() * std::sqrt(2.0 / in); });
        break;
      case Initialization::glorot:
        draw([&] { return random.uniform(-1.0, 1.0) * std::sqrt(6.0 / (in + out)); });
        break;
    }
  }
  return w;
}

template VectorOf<float> initialize<float>(const Mlp&, Initialization, Random&);
template VectorOf<double> initialize<double>(const Mlp&, Initialization, Random&);

}  // namespace symport
