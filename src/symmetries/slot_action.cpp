// SPDX-License-Identifier: MIT
#include "symmetries/slot_action.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>

#include "core/dense.hpp"
#include "symmetries/group_matrix.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

SlotAction::SlotAction(const ParameterLayout& layout, std::vector<SlotGroup> groups)
    : parameters_(layout.size()), groups_(std::move(groups)) {
  for (const SlotGroup& group : groups_) {
    if (group.size < 1 || group.slots.empty()) {
      throw InvalidArgument("groups",
                            fmt::format("size {} with {} slots", group.size, group.slots.size()),
                            "a size >= 1 and one or more slots");
    }
    std::vector<SlotPlace>& places = places_.emplace_back();
    for (const Slot& slot : group.slots) {
      places.push_back(place_of(layout, group.kind, group.size, slot));
    }
  }
  mark_shared(layout);
}

/// Slots on different axes of a tensor commute, those on the same entries of one axis need not:
/// they are refused.
void SlotAction::mark_shared(const ParameterLayout& layout) {
  struct Range {
    Index axis, start, stop;
    SlotPlace* place;
  };
  std::map<std::string, std::vector<Range>> tensors;
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    for (std::size_t i = 0; i < groups_[k].slots.size(); ++i) {
      const Slot& slot = groups_[k].slots[i];
      const Index size = layout.block(slot.tensor).shape[static_cast<std::size_t>(slot.axis)];
      tensors[slot.tensor].push_back(
          {slot.axis, slot.start, slot.stop.value_or(size), &places_[k][i]});
    }
  }
  for (auto& [name, ranges] : tensors) {
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
      return std::pair(a.axis, a.start) < std::pair(b.axis, b.start);
    });
    const bool shared = ranges.front().axis != ranges.back().axis;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      ranges[i].place->shared = shared;
      if (i == 0) continue;
      const Range &last = ranges[i - 1], &next = ranges[i];
      if (next.axis == last.axis && next.start < last.stop) {
        throw InvalidArgument("slot " + name,
                              fmt::format("entry {} of axis {} twice", next.start, next.axis),
                              "each entry of an axis in one slot");
      }
    }
  }
}

bool SlotAction::compact() const {
  return std::all_of(groups_.begin(), groups_.end(),
                     [](const SlotGroup& group) { return is_compact(group.kind); });
}

bool SlotAction::monomial() const {
  return std::none_of(groups_.begin(), groups_.end(),
                      [](const SlotGroup& group) { return is_dense(group.kind); });
}

GroupElement SlotAction::identity() const {
  GroupElement e;
  for (const SlotGroup& group : groups_) e.g.push_back(group_identity(group));
  e.inverse = e.g;
  return e;
}

GroupElement SlotAction::element(GroupMatrices g) const {
  if (g.size() != groups_.size()) {
    throw std::logic_error(fmt::format("{} matrices for {} groups", g.size(), groups_.size()));
  }
  GroupElement e{std::move(g), {}};
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    e.inverse.push_back(group_inverse(groups_[k], e.g[k]));
  }
  return e;
}

GroupElement SlotAction::compose(const GroupElement& a, const GroupElement& b) const {
  GroupElement product;
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    product.g.push_back(group_product(groups_[k].kind, a.g[k], b.g[k]));
    product.inverse.push_back(group_product(groups_[k].kind, b.inverse[k], a.inverse[k]));
  }
  return product;
}

GroupElement SlotAction::exponential(const GroupMatrices& T) const {
  GroupElement e;
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    e.g.push_back(group_exponential(groups_[k], T[k]));
    e.inverse.push_back(group_exponential(groups_[k], -T[k]));
  }
  return e;
}

GroupElement SlotAction::random_element(Random& random, double spread) const {
  GroupMatrices T = algebra_zero();
  double length = 0.0;
  GroupElement drawn = identity();
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    const SlotGroup& group = groups_[k];
    if (is_compact(group.kind)) {
      drawn.g[k] = uniform_element(group, random);
      drawn.inverse[k] = group_inverse(group, drawn.g[k]);
    } else {
      T[k] = random.normal_matrix(T[k].rows(), T[k].cols());
      if (group.kind == GroupKind::general_linear) length += T[k].squaredNorm();
    }
  }
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    if (is_compact(groups_[k].kind)) continue;
    T[k] *= spread;
    if (groups_[k].kind == GroupKind::general_linear) T[k] /= std::sqrt(length);
    drawn.g[k] = group_exponential(groups_[k], T[k]);
    drawn.inverse[k] = group_exponential(groups_[k], -T[k]);
  }
  return drawn;
}

template <Real Scalar>
bool SlotAction::usable(const GroupElement& g) const {
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    if (!g.g[k].allFinite() || !g.inverse[k].allFinite()) return false;
    if (groups_[k].kind != GroupKind::scaling) continue;
    for (const SlotPlace& place : places_[k]) {
      const double power = 2.0 * std::abs(place.exponent);
      for (const GroupMatrices* side : {&g.g, &g.inverse}) {
        const VectorOf<Scalar> squares =
            (*side)[k].reshaped().array().pow(power).template cast<Scalar>();
        if (!squares.allFinite() || squares.minCoeff() < std::numeric_limits<Scalar>::min()) {
          return false;
        }
      }
    }
  }
  return true;
}

double SlotAction::condition(const GroupElement& g) const {
  if (compact()) return 1.0;
  double largest = 0.0, smallest = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    Vector stretch = Vector::Ones(1);
    if (groups_[k].kind == GroupKind::scaling) stretch = g.g[k];
    if (groups_[k].kind == GroupKind::general_linear) stretch = singular_values(g.g[k]).values;
    largest = std::max(largest, stretch.maxCoeff());
    smallest = std::min(smallest, stretch.minCoeff());
  }
  return largest / smallest;
}

GroupMatrices SlotAction::algebra_zero() const {
  GroupMatrices T;
  for (const SlotGroup& group : groups_) T.push_back(symport::algebra_zero(group));
  return T;
}

double SlotAction::inner(const GroupMatrices& S, const GroupMatrices& T) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    sum += algebra_inner(groups_[k].kind, S[k], T[k]);
  }
  return sum;
}

namespace {

using Part = SlotAction::Part;

/// What a slot applies of g in GL or O.
Matrix dense_part(Part part, bool dual, const Matrix& g, const Matrix& inverse) {
  switch (part) {
    case Part::action:
      return dual ? Matrix(inverse.transpose()) : g;
    case Part::cotangent:
      return dual ? g : Matrix(inverse.transpose());
    case Part::pull:
      return dual ? Matrix(g.transpose() * g) : Matrix(inverse * inverse.transpose());
    case Part::squares:
      break;
  }
  throw std::logic_error("squares of covectors do not move under GL and O");
}

/// The exponent of s in what a slot applies.
double scaling_exponent(Part part, double exponent) {
  switch (part) {
    case Part::action:
      return exponent;
    case Part::cotangent:
      return -exponent;
    case Part::squares:
    case Part::pull:
      break;
  }
  return -2.0 * exponent;
}

/// s^power for power > 0, exact to rounding where it is a first or second one.
Vector powers(const Matrix& s, double power) {
  if (power == 1.0) return s;
  if (power == 2.0) return s.cwiseAbs2();
  return s.array().pow(power);
}

}  // namespace

template <class Number>
void SlotAction::apply_at(const SlotPlace& place, Part part, std::size_t k, const GroupElement& g,
                          Number* w) const {
  switch (groups_[k].kind) {
    case GroupKind::general_linear:
    case GroupKind::orthogonal:
      apply_matrix<Number>(
          place,
          dense_part(part, place.exponent < 0.0, g.g[k], g.inverse[k]).template cast<Number>(), w);
      return;
    case GroupKind::scaling: {
      // Slots with opposite exponents see the same rounded s, one as a factor and one as a divisor,
      // so that products of them stay what they were.
      const double exponent = scaling_exponent(part, place.exponent);
      apply_diagonal<Number>(place, powers(g.g[k], std::abs(exponent)).template cast<Number>(),
                             exponent < 0.0, w);
      return;
    }
    case GroupKind::signs:
      if (part == Part::squares || part == Part::pull) return;
      apply_diagonal<Number>(place, Vector(g.g[k]).template cast<Number>(), false, w);
      return;
    case GroupKind::permutations:
      if (part != Part::pull) apply_order<Number>(place, order_of(g.g[k]), w);
      return;
  }
}

template <Real Scalar>
void SlotAction::apply(Part part, const GroupElement& g, Out<Scalar> w) const {
  if (w.size() != parameters_) {
    throw std::logic_error(
        fmt::format("{} numbers where the layout has {} parameters", w.size(), parameters_));
  }
  if constexpr (std::same_as<Scalar, float>) {
    if (!monomial()) {
      Vector in_double = w.template cast<double>();
      apply<double>(part, g, in_double);
      w = in_double.template cast<float>();
      return;
    }
  }
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    for (const SlotPlace& place : places_[k]) apply_at<Scalar>(place, part, k, g, w.data());
  }
}

void SlotAction::apply(Part part, std::size_t k, const GroupElement& g, Out<double> w) const {
  for (const SlotPlace& place : places_[k]) apply_at<double>(place, part, k, g, w.data());
}

void SlotAction::apply_to_shared(Part part, const GroupElement& g, Out<double> w) const {
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    for (const SlotPlace& place : places_[k]) {
      if (place.shared) apply_at<double>(place, part, k, g, w.data());
    }
  }
}

Matrix SlotAction::noether(std::size_t k, In<double> w, In<double> covector) const {
  const bool diagonal = !is_dense(groups_[k].kind);
  Matrix N = Matrix::Zero(groups_[k].size, diagonal ? 1 : groups_[k].size);
  for (const SlotPlace& place : places_[k]) {
    const Matrix C = slot_product(place, covector.data(), w.data(), diagonal);
    if (diagonal) {
      N += place.exponent * C;
    } else if (place.exponent > 0.0) {
      N += C;
    } else {
      N -= C.transpose();
    }
  }
  return N;
}

GroupMatrices SlotAction::pull_back(In<double> w, In<double> covector) const {
  GroupMatrices S = algebra_zero();
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    if (is_continuous(groups_[k].kind)) {
      S[k] = algebra_part(groups_[k].kind, noether(k, w, covector));
    }
  }
  return S;
}

double SlotAction::noether_residual(In<double> w, In<double> gradient) const {
  double worst = 0.0;
  for (std::size_t k = 0; k < groups_.size(); ++k) {
    const GroupKind kind = groups_[k].kind;
    if (!is_continuous(kind)) continue;
    double scale = 0.0;
    for (const SlotPlace& place : places_[k]) {
      const Matrix C = slot_product(place, gradient.data(), w.data(), !is_dense(kind));
      scale += std::abs(place.exponent) * algebra_part(kind, C).norm();
    }
    const double slope = algebra_part(kind, noether(k, w, gradient)).norm();
    if (slope > 0.0) worst = std::max(worst, slope / scale);
  }
  return worst;
}

template bool SlotAction::usable<float>(const GroupElement&) const;
template bool SlotAction::usable<double>(const GroupElement&) const;
template void SlotAction::apply<float>(Part, const GroupElement&, Out<float>) const;
template void SlotAction::apply<double>(Part, const GroupElement&, Out<double>) const;

}  // namespace symport
