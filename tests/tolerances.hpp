// SPDX-License-Identifier: MIT
#pragma once

/// Every tolerance of the tests, by name. All are relative unless said otherwise.
namespace symport::tolerance {

/// Two ways to compute one number in double: a few dozen roundings apart.
inline constexpr double rounding = 1e-12;
/// The same after a long or ill-conditioned computation.
inline constexpr double accumulated = 1e-9;
/// A derivative against a fourth-order central difference.
inline constexpr double difference = 1e-7;

/// Golden numbers: trajectories of gradient descent; actions, losses, squared gradients and their
/// derivatives in the angle.
inline constexpr double golden_trajectory = 1e-10;
inline constexpr double golden_action = 1e-9;

/// The largest drift of the loss over all accepted teleports in double.
inline constexpr double drift = 1e-10;
/// The same in runs that end at a minimum: twenty times what rounding the start does to the loss,
/// where a thousand times are 1e-8. A teleport out of a valley makes the gradient fifty times
/// larger, and with it what rounding does to the loss.
inline constexpr double drift_near_a_minimum = 2e-10;
/// Points and values that a numerical search found, against the exact ones. A maximum is flat: the
/// value is known to more digits than the place.
inline constexpr double found_value = 1e-10;
inline constexpr double found_place = 1e-6;

/// Fifty optimizer steps in float against double.
inline constexpr double single_precision = 1e-4;
/// Sampled means, in standard deviations of the sample mean.
inline constexpr double sigmas = 4.5;

}  // namespace symport::tolerance
