// SPDX-License-Identifier: MIT
#include "symport/symmetries/permutation.hpp"

#include <numeric>

#include "symmetries/isometric_orbit.hpp"
#include "symmetries/network_requirements.hpp"

namespace symport {

namespace {

using Orders = std::vector<std::vector<Index>>;

template <Real Scalar>
void permute_units(const Mlp& network, const Orders& orders, Out<Scalar> w) {
  for (Index m = 1; m < network.layers(); ++m) {
    const std::vector<Index>& order = orders[static_cast<std::size_t>(m - 1)];
    auto rows = network.augmented(m, w.data());
    auto columns = network.weights(m + 1, w.data());
    rows = rows(order, Eigen::all).eval();
    columns = columns(Eigen::all, order).eval();
  }
}

template <Real Scalar>
class PermutationOrbit final : public IsometricOrbit<Scalar> {
 public:
  PermutationOrbit(const Mlp& network, const BasicObjective<Scalar>& objective, In<Scalar> w)
      : IsometricOrbit<Scalar>(objective, w), network_(network) {
    for (Index m = 1; m < network.layers(); ++m) {
      orders_.emplace_back(static_cast<std::size_t>(network.width(m)));
      std::iota(orders_.back().begin(), orders_.back().end(), Index{0});
    }
  }

 private:
  void act(Out<Scalar> w) const override { permute_units(network_, orders_, w); }

  void draw(Random& random) override {
    for (std::vector<Index>& order : orders_) {
      std::iota(order.begin(), order.end(), Index{0});
      random.shuffle(order);
    }
  }

  const Mlp& network_;
  Orders orders_;
};

}  // namespace

template <Real Scalar>
OrbitOrReason<Scalar> PermutationSymmetry<Scalar>::orbit(const BasicObjective<Scalar>& objective,
                                                         In<Scalar> w) const {
  const Mlp& network = require_network<Scalar>(name(), objective, w);
  return std::make_unique<PermutationOrbit<Scalar>>(network, objective, w);
}

template <Real Scalar>
void PermutationSymmetry<Scalar>::act(const Mlp& network, const Orders& orders, Out<Scalar> w) {
  require_elements(network, orders, w.size(), [](const std::vector<Index>& order) {
    return static_cast<Index>(order.size());
  });
  for (const std::vector<Index>& order : orders) {
    std::vector<bool> seen(order.size(), false);
    for (const Index i : order) {
      const bool new_unit =
          i >= 0 && i < static_cast<Index>(seen.size()) && !seen[static_cast<std::size_t>(i)];
      if (!new_unit) {
        throw InvalidArgument("orders", fmt::format("unit {} where it cannot be", i),
                              fmt::format("every number from 0 to {} once", order.size() - 1));
      }
      seen[static_cast<std::size_t>(i)] = true;
    }
  }
  permute_units(network, orders, w);
}

template class PermutationSymmetry<float>;
template class PermutationSymmetry<double>;

}  // namespace symport
