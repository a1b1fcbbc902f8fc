// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "symport/core/types.hpp"

namespace symport {

/// Where the kernel of a white gauge comes from.
enum class GaugeKernel {
  batch,    ///< the samples of the step itself
  average,  ///< a running average over the steps so far
};
std::string_view to_string(GaugeKernel kernel);

/// Which weight matrices of a network step in their white gauge.
enum class GaugeLayers { all, last };
std::string_view to_string(GaugeLayers layers);

struct WhiteGaugeOptions {
  GaugeLayers layers = GaugeLayers::all;
  /// lambda in units of the mean of the eigenvalues that can be non-zero. Larger is safer and
  /// nearer to plain gradient descent. Unset: `WhiteGauge::usual`.
  std::optional<double> damping = std::nullopt;
  GaugeKernel kernel = GaugeKernel::batch;
  double decay = 0.95;  ///< of the running average, per step
  Index refresh = 10;   ///< steps between two inverses of the running average
};

/// The white gauges of an objective's parameters: the metric in which a round trip takes its step
/// (docs/mathematics/round_trips.md).
///
/// A round trip teleports to the gauge where the features that a weight matrix sees are white,
/// takes a gradient step there, and comes back: w <- w - theta u, u = P dL/dw with P symmetric and
/// positive definite. theta has no unit: for squared errors, theta = 1 in one layer is Newton's
/// step on the outputs.
///
/// What a gauge remembers between steps is owned by the caller: zeros at first, then passed to
/// every call, which advances it by one step.
template <Real Scalar>
class WhiteGauge {
 public:
  virtual ~WhiteGauge() = default;

  struct Usual {
    double theta = 0.0;
    double damping = 0.0;
  };
  /// What to use where nothing else is known.
  virtual Usual usual() const = 0;
  /// How many numbers are remembered. Throws InvalidArgument for an option out of range.
  virtual Index memory_size(const WhiteGaugeOptions& options) const = 0;

  /// Calls use(first, range) for consecutive pieces of u at w, as `BatchObjective::gradient_ranges`
  /// does for dL/dw; returns L(w). Costs two thirds of a gradient before the pieces.
  virtual double white_ranges(
      In<Scalar> w, const WhiteGaugeOptions& options, Out<Scalar> memory,
      const std::function<void(Index first, In<Scalar> range)>& use) const = 0;
  /// w <- w - theta u; returns L before the step.
  virtual double white_step(Out<Scalar> w, double theta, const WhiteGaugeOptions& options,
                            Out<Scalar> memory) const = 0;

  /// direction <- u at w and, unless it is null, *gradient <- dL/dw; returns L(w).
  virtual double white_direction(In<Scalar> w, const WhiteGaugeOptions& options, Out<Scalar> memory,
                                 Out<Scalar> direction, Out<Scalar>* gradient) const = 0;
};

}  // namespace symport
