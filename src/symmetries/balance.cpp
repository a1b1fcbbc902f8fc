// SPDX-License-Identifier: MIT
#include "symport/symmetries/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>

#include "core/dense.hpp"
#include "symmetries/group_matrix.hpp"
#include "symmetries/slot_action.hpp"

namespace symport {

namespace {

/// One group's element, or the reason why it stays.
struct Step {
  Matrix g, inverse;
  std::string reason{};
  double length = 0.0;  ///< how far from the identity
};

Step stays(std::string reason) { return {{}, {}, std::move(reason)}; }

/// Where f(t) = sum of n_c e^(2ct) is smallest, for charges of both signs. f is convex, its
/// derivative increasing; with two charges a > 0 > -b this is (S10).
double smallest_at(const std::map<double, double>& norms) {
  double up = 0.0, down = 0.0;  // the part of -f'(0)/2 that goes either way
  for (const auto& [charge, norm] : norms) (charge > 0.0 ? up : down) += std::abs(charge) * norm;
  if (norms.size() == 2) {
    const double a = norms.rbegin()->first, b = -norms.begin()->first;
    return (std::log(down) - std::log(up)) / (2.0 * (a + b));
  }
  // log of the falling part over the rising one decreases in t; its root, by bisection.
  const auto slope = [&](double t) {
    double rising = 0.0, falling = 0.0;
    for (const auto& [charge, norm] : norms) {
      const double part = std::abs(charge) * norm * std::exp(2.0 * charge * t);
      (charge > 0.0 ? rising : falling) += part;
    }
    return std::log(falling) - std::log(rising);
  };
  double low = -1.0, high = 1.0;
  while (slope(low) < 0.0 && low > -1e3) low *= 2.0;
  while (slope(high) > 0.0 && high < 1e3) high *= 2.0;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (slope(middle) > 0.0 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

/// The squared norms of coordinate i of the group, by charge; those that are zero left out.
std::vector<std::map<double, double>> norms_of(const SlotAction& action, std::size_t k,
                                               const Vector& w) {
  std::vector<std::map<double, double>> norms(static_cast<std::size_t>(action.groups()[k].size));
  for (const SlotPlace& place : action.places(k)) {
    if (place.exponent == 0.0) continue;
    const Matrix squares = slot_product(place, w.data(), w.data(), true);
    for (Index i = 0; i < squares.rows(); ++i) {
      if (squares(i, 0) > 0.0) norms[static_cast<std::size_t>(i)][place.exponent] += squares(i, 0);
    }
  }
  return norms;
}

Step scaling_step(const SlotAction& action, std::size_t k, const Vector& w, GaugeTarget target) {
  const auto norms = norms_of(action, k, w);
  Vector logs = Vector::Zero(std::ssize(norms));
  bool any = false;
  for (Index i = 0; i < logs.size(); ++i) {
    const std::map<double, double>& of = norms[static_cast<std::size_t>(i)];
    if (target == GaugeTarget::orthonormal) {
      const auto direct = of.find(1.0);
      if (direct == of.end()) continue;
      logs[i] = -0.5 * std::log(direct->second);
    } else {
      if (of.empty() || of.begin()->first > 0.0 || of.rbegin()->first < 0.0) continue;
      logs[i] = smallest_at(of);
    }
    any = true;
  }
  if (!any) {
    return stays(target == GaugeTarget::balance
                     ? "the squared norm has no minimum: all weights that are not zero have "
                       "charges of one sign"
                     : "there is no weight of charge 1 that is not zero");
  }
  return {logs.array().exp(), (-logs).array().exp(), {}, logs.cwiseAbs().maxCoeff()};
}

/// A^power of a symmetric matrix; nothing when it is singular to rounding.
std::optional<Matrix> symmetric_power(const Matrix& A, double power) {
  const SymmetricEigen eigen = symmetric_eigen(0.5 * (A + A.transpose()));
  const double largest = eigen.values[eigen.values.size() - 1];
  const double floor =
      static_cast<double>(A.rows()) * std::numeric_limits<double>::epsilon() * largest;
  if (!(eigen.values[0] > floor)) return std::nullopt;
  const Vector powers = eigen.values.array().pow(power);
  return Matrix(eigen.vectors * powers.asDiagonal() * eigen.vectors.transpose());
}

Step general_linear_step(const SlotAction& action, std::size_t k, const Vector& w,
                         GaugeTarget target) {
  const Index n = action.groups()[k].size;
  Matrix P = Matrix::Zero(n, n), C = P;  // the Gram matrices of the slots with g, and with g^-T
  for (const SlotPlace& place : action.places(k)) {
    (place.exponent > 0.0 ? P : C) += slot_product(place, w.data(), w.data(), false);
  }
  const auto root = symmetric_power(P, 0.5), inverse_root = symmetric_power(P, -0.5);
  if (!root) return stays("the slots with rho = g have dependent rows: there is no such element");
  if (target == GaugeTarget::orthonormal) {
    return {*inverse_root, *root, {}, (*inverse_root - Matrix::Identity(n, n)).norm()};
  }
  // M = g'g solves M P M = C, (S11).
  const auto middle = symmetric_power(*root * C * *root, 0.5);
  if (!middle)
    return stays("the slots with rho = g^-T have dependent rows: there is no smallest norm");
  const Matrix M = *inverse_root * *middle * *inverse_root;
  const auto g = symmetric_power(M, 0.5), inverse = symmetric_power(M, -0.5);
  if (!g) return stays("the balanced element is singular to rounding");
  return {*g, *inverse, {}, (*g - Matrix::Identity(n, n)).norm()};
}

/// Whether some tensor has slots of this group on two axes: its norm is no sum over slots then.
bool meets_itself(const SlotGroup& group) {
  std::map<std::string, Index> axes;
  for (const Slot& slot : group.slots) {
    const auto [at, fresh] = axes.emplace(slot.tensor, slot.axis);
    if (!fresh && at->second != slot.axis) return true;
  }
  return false;
}

Step step_of(const SlotAction& action, std::size_t k, const Vector& w, GaugeTarget target) {
  const SlotGroup& group = action.groups()[k];
  if (is_compact(group.kind)) {
    return stays(fmt::format("the group {} does not change norms", to_string(group.kind)));
  }
  if (meets_itself(group)) return stays("a tensor has slots of it on two axes");
  return group.kind == GroupKind::scaling ? scaling_step(action, k, w, target)
                                          : general_linear_step(action, k, w, target);
}

void round_to_powers_of_two(const std::vector<SlotGroup>& groups, GroupElement& element) {
  for (std::size_t k = 0; k < groups.size(); ++k) {
    if (groups[k].kind != GroupKind::scaling) continue;
    for (Index i = 0; i < element.g[k].rows(); ++i) {
      const int power = static_cast<int>(std::lround(std::log2(element.g[k](i, 0))));
      element.g[k](i, 0) = std::ldexp(1.0, power);
      element.inverse[k](i, 0) = std::ldexp(1.0, -power);
    }
  }
}

}  // namespace

std::string_view to_string(GaugeTarget target) {
  return target == GaugeTarget::balance ? "balance" : "orthonormal";
}

GaugeMove gauge_move(const ParameterLayout& layout, const std::vector<SlotGroup>& groups,
                     In<double> w, const GaugeOptions& options) {
  const SlotAction action(layout, groups);
  if (w.size() != action.parameters()) {
    throw std::logic_error(fmt::format("{} numbers where the layout has {} parameters", w.size(),
                                       action.parameters()));
  }
  Vector moved = w;
  GaugeMove move{.element = action.identity(), .left_alone = {}};
  // Norms to be made smallest need sweeps; rows are orthonormal after one in the order of the list.
  const Index sweeps = options.target == GaugeTarget::balance ? options.max_sweeps : 1;
  for (move.settled = false; !move.settled && move.sweeps < sweeps; ++move.sweeps) {
    double longest = 0.0;
    move.left_alone.clear();
    for (std::size_t k = 0; k < groups.size(); ++k) {
      const Step step = step_of(action, k, moved, options.target);
      if (!step.reason.empty()) {
        move.left_alone.push_back({k, step.reason});
        continue;
      }
      GroupElement one = action.identity();
      one.g[k] = step.g;
      one.inverse[k] = step.inverse;
      action.apply(SlotAction::Part::action, k, one, moved);
      move.element = action.compose(one, move.element);
      longest = std::max(longest, step.length);
    }
    move.settled = longest <= options.tolerance || sweeps == 1;
  }
  if (options.powers_of_two) round_to_powers_of_two(groups, move.element);
  move.condition = action.condition(move.element);
  return move;
}

}  // namespace symport
