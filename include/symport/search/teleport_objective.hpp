// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <optional>
#include <string_view>

#include "symport/search/point_measures.hpp"
#include "symport/symmetries/slope.hpp"

namespace symport {

/// A quantity that a teleport maximises along an orbit.
///
/// An implementation is stateless and asks the measures of a point for what it needs; one that
/// depends on something other than J and Phi gives its derivative in the parameters, which every
/// orbit can follow.
class TeleportObjective {
 public:
  virtual ~TeleportObjective() = default;

  virtual std::string_view name() const = 0;
  /// NaN where it is undefined.
  virtual double value(PointMeasures& at) const = 0;
  /// The derivative of the value.
  virtual Slope slope(PointMeasures& at) const = 0;

  /// Whether the steps that follow have the given learning rate, so that a cap on eta lambda_max
  /// and the loss after the next step say something about them.
  virtual bool at_given_rate() const { return true; }
  /// The cap when none is given; infinity: none.
  virtual double default_cap() const { return std::numeric_limits<double>::infinity(); }
  /// The largest value to believe where the loss is `loss` (NaN: unknown), for objectives that may
  /// promise more than there is to gain. Where there is such a limit, a point must have a value.
  virtual std::optional<double> largest_value(double /*loss*/) const { return std::nullopt; }
};

/// The objectives that have a name in options and files.
enum class ObjectiveKind {
  gradient_norm,       ///< J = |dL/dw|^2, the paper's objective
  predicted_decrease,  ///< D = eta J - eta^2 Phi / 2, for a given learning rate
  decrement,           ///< D* = J^2 / (2 Phi), for steps of length J / Phi
  sharpness,           ///< -lambda_max(H): the flattest point, whatever the next step gains
  weight_norm,         ///< -|w|^2: the smallest weights, which are balanced between the layers
};
std::string_view to_string(ObjectiveKind kind);

const TeleportObjective& teleport_objective(ObjectiveKind kind);
/// The cap when none is given.
double default_cap(ObjectiveKind kind);

}  // namespace symport
