// SPDX-License-Identifier: MIT
#include "symport/optimizers/lbfgs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "optimizers/line_trial.hpp"
#include "optimizers/option_checks.hpp"

namespace symport {

namespace {

constexpr double narrow_bracket = 0.1;
/// Parameters and transported parameters are the same point within this.
constexpr double same_place = 1e-6;

/// The numbers in the buffer `pairs`.
struct PairCounter {
  enum : Index { kept, newest, count };
};

template <Real Scalar>
Index pairs_of(const OptimizerState<Scalar>& state) {
  return static_cast<Index>(state["pairs"][PairCounter::kept]);
}

template <Real Scalar>
void drop_pairs(OptimizerState<Scalar>& state) {
  state["pairs"][PairCounter::kept] = Scalar(0);
}

}  // namespace

template <Real Scalar>
Lbfgs<Scalar>::Lbfgs(const LbfgsOptions& options) : options_(options) {
  const auto require = [](bool good, const char* field, double value, const char* allowed) {
    if (!good) throw InvalidArgument(field, fmt::format("{}", value), allowed);
  };
  require(options.memory >= 1, "memory", static_cast<double>(options.memory),
          "a whole number >= 1");
  require(options.sufficient_decrease > 0 && options.sufficient_decrease < 0.5,
          "sufficient_decrease", options.sufficient_decrease, "a number between 0 and 0.5");
  require(options.curvature > options.sufficient_decrease && options.curvature < 1, "curvature",
          options.curvature, "a number between sufficient_decrease and 1");
  require(options.max_trials >= 1, "max_trials", static_cast<double>(options.max_trials),
          "a whole number >= 1");
  require_positive("first_length", options.first_length);
}

template <Real Scalar>
OptimizerState<Scalar> Lbfgs<Scalar>::init(Index dimension) const {
  OptimizerState<Scalar> state;
  state.add("steps", StateKind::tangent, options_.memory * dimension);
  state.add("differences", StateKind::cotangent, options_.memory * dimension);
  state.add("point", StateKind::point, dimension);
  state.add("pairs", StateKind::scalar, PairCounter::count);
  return state;
}

template <Real Scalar>
VectorOf<Scalar> Lbfgs<Scalar>::direction(const OptimizerState<Scalar>& state,
                                          In<Scalar> gradient) const {
  const Index n = gradient.size(), pairs = pairs_of(state);
  const auto newest = static_cast<Index>(state["pairs"][PairCounter::newest]);
  // Number i of the pairs, from the newest.
  const auto in = [&](const VectorOf<Scalar>& ring, Index i) {
    return ring.segment((newest + options_.memory - i) % options_.memory * n, n);
  };
  const VectorOf<Scalar>&s = state["steps"], &y = state["differences"];
  VectorOf<Scalar> d = -gradient;
  VectorOf<Scalar> alpha(pairs), product(pairs);
  for (Index i = 0; i < pairs; ++i) {
    const auto si = in(s, i), yi = in(y, i);
    product[i] = si.dot(yi);
    alpha[i] = si.dot(d) / product[i];
    d -= alpha[i] * yi;
  }
  if (pairs > 0) d *= product[0] / in(y, 0).squaredNorm();
  for (Index i = pairs - 1; i >= 0; --i) {
    const auto si = in(s, i), yi = in(y, i);
    d += (alpha[i] - yi.dot(d) / product[i]) * si;
  }
  return d;
}

template <Real Scalar>
void Lbfgs<Scalar>::remember(In<Scalar> s, In<Scalar> y, OptimizerState<Scalar>& state) const {
  const double product = static_cast<double>(s.dot(y));
  const double size = static_cast<double>(s.norm()) * static_cast<double>(y.norm());
  const double epsilon = static_cast<double>(std::numeric_limits<Scalar>::epsilon());
  if (!(product > epsilon * size && std::isfinite(size))) return;
  VectorOf<Scalar>& counter = state["pairs"];
  const auto newest = (static_cast<Index>(counter[PairCounter::newest]) + 1) % options_.memory;
  const Index n = s.size(), kept = std::min(pairs_of(state) + 1, options_.memory);
  state["steps"].segment(newest * n, n) = s;
  state["differences"].segment(newest * n, n) = y;
  counter[PairCounter::newest] = static_cast<Scalar>(newest);
  counter[PairCounter::kept] = static_cast<Scalar>(kept);
}

template <Real Scalar>
StepOutcome Lbfgs<Scalar>::step(const BasicObjective<Scalar>& objective,
                                MeasuredPoint<Scalar>& here, double, OptimizerState<Scalar>& state,
                                Out<Scalar> w) const {
  const VectorOf<Scalar>& gradient = here.gradient;
  const double norm = static_cast<double>(gradient.norm());
  if (!(norm > 0.0) || !std::isfinite(norm)) return {false, 0.0, 0.0};
  VectorOf<Scalar>& point = state["point"];
  // Somebody has moved the parameters and not the pairs.
  const double moved = static_cast<double>((w - point).norm());
  if (moved > same_place * static_cast<double>(w.norm())) drop_pairs(state);
  double evaluations = 0.0;
  while (true) {
    const bool plain = pairs_of(state) == 0;
    const VectorOf<Scalar> d = direction(state, gradient);
    const double slope = static_cast<double>(gradient.dot(d));
    if (slope < 0.0 && std::isfinite(slope)) {
      LineTrial<Scalar> line(objective, w, d);
      const WolfeOutcome found =
          wolfe_search([&](double t) { return line(t); }, {0.0, here.loss, slope},
                       plain ? options_.first_length / norm : 1.0,
                       {.decrease = options_.sufficient_decrease,
                        .slope = options_.curvature,
                        .width = narrow_bracket,
                        .max_trials = options_.max_trials});
      evaluations += static_cast<double>(found.trials);
      if (found.moved) {
        evaluations += line.go_to(found.best.t);
        remember(line.w() - w, line.gradient() - gradient, state);
        const double length = static_cast<double>((line.w() - w).norm());
        w = line.w();
        point = w;
        line.give(here);
        ++state.count;
        return {true, length / norm, evaluations - 1.0, true};
      }
    }
    if (plain) return {false, 0.0, evaluations};
    drop_pairs(state);
  }
}

template class Lbfgs<float>;
template class Lbfgs<double>;

}  // namespace symport
