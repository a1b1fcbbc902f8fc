// SPDX-License-Identifier: MIT
#include "symport/symmetries/sign_flip.hpp"

#include <cmath>

#include "symmetries/isometric_orbit.hpp"
#include "symmetries/network_requirements.hpp"
#include "symmetries/scale_units.hpp"

namespace symport {

namespace {

void require_odd(const Activation& activation) {
  if (activation.odd()) return;
  throw InvalidArgument(
      "activation", activation.name(),
      "linear, tanh, asinh or tanh_extended for the symmetry sign_flip: sigma(-x) = "
      "-sigma(x) must hold");
}

template <Real Scalar>
class SignFlipOrbit final : public IsometricOrbit<Scalar> {
 public:
  SignFlipOrbit(const Mlp& network, const BasicObjective<Scalar>& objective, In<Scalar> w)
      : IsometricOrbit<Scalar>(objective, w), network_(network) {
    for (Index m = 1; m < network.layers(); ++m) signs_.push_back(Vector::Ones(network.width(m)));
  }

 private:
  // x / -1 = x * -1, so this flips rows and columns alike.
  void act(Out<Scalar> w) const override { scale_units<Scalar>(network_, signs_, w, w); }

  void draw(Random& random) override {
    for (Vector& s : signs_) {
      for (double& sign : s) sign = random.below(2) == 0 ? 1.0 : -1.0;
    }
  }

  const Mlp& network_;
  std::vector<Vector> signs_;
};

}  // namespace

template <Real Scalar>
OrbitOrReason<Scalar> SignFlipSymmetry<Scalar>::orbit(const BasicObjective<Scalar>& objective,
                                                      In<Scalar> w) const {
  const Mlp& network = require_network<Scalar>(name(), objective, w);
  require_odd(network.activation());
  return std::make_unique<SignFlipOrbit<Scalar>>(network, objective, w);
}

template <Real Scalar>
void SignFlipSymmetry<Scalar>::act(const Mlp& network, const std::vector<Vector>& signs,
                                   Out<Scalar> w) {
  require_odd(network.activation());
  require_elements(network, signs, w.size(), [](const Vector& s) { return s.size(); });
  for (const Vector& s : signs) {
    for (const double sign : s) {
      if (std::abs(sign) != 1.0) throw InvalidArgument("signs", fmt::format("{}", sign), "-1 or 1");
    }
  }
  scale_units<Scalar>(network, signs, w, w);
}

template class SignFlipSymmetry<float>;
template class SignFlipSymmetry<double>;

}  // namespace symport
