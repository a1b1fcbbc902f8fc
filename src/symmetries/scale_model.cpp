// SPDX-License-Identifier: MIT
#include "symmetries/scale_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "symport/core/random.hpp"

namespace symport {

namespace {

constexpr double largest_log = 16.0;  ///< of a scale: nobody wants more
constexpr double preference = 1e-6;   ///< for small |log c|, in parts of the worth
constexpr int max_iterations = 200;

/// What is maximised, with its gradient in log c.
class Landscape {
 public:
  Landscape(const ScaleModel& model, const Worth& worth) : model_(model), worth_(worth) {}

  void set_unit(double unit) { unit_ = unit; }

  double value(const Vector& x) const {
    if (!(x.cwiseAbs().maxCoeff() <= largest_log)) return -infinity;
    const double worth = worth_(model_.grad_sq(x), model_.curvature(x));
    return std::isfinite(worth) ? worth - preference * unit_ * x.squaredNorm() : -infinity;
  }

  Vector gradient(const Vector& x) const {
    const Vector tau = (model_.exponents * x).array().exp();
    const Vector Mtau = model_.M * tau;
    const double J = tau.dot(model_.J), Phi = tau.dot(Mtau);
    const auto [by_J, by_Phi] = partials(J, Phi);
    // dJ/dlog tau_a = tau_a J_a,  dPhi/dlog tau_a = 2 tau_a (M tau)_a
    const Vector by_tau = tau.array() * (by_J * model_.J.array() + 2.0 * by_Phi * Mtau.array());
    return model_.exponents.transpose() * by_tau - 2.0 * preference * unit_ * x;
  }

  /// The worth's partial derivatives, by central differences: it is a smooth function of two
  /// numbers.
  std::pair<double, double> partials(double J, double Phi) const {
    constexpr double step = 1e-5;
    const double by_J =
        (worth_(J * (1 + step), Phi) - worth_(J * (1 - step), Phi)) / (2 * step * J);
    const double by_Phi =
        (worth_(J, Phi * (1 + step)) - worth_(J, Phi * (1 - step))) / (2 * step * Phi);
    return {by_J, by_Phi};
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  const ScaleModel& model_;
  const Worth& worth_;
  double unit_ = 0.0;
};

/// The best points of some half-lines from 0: scales that grow or fall evenly from layer to layer,
/// and jumps at one of them; and, since there may be several local maxima, random points.
std::vector<Vector> best_on_lines(const Landscape& landscape, Index size) {
  std::vector<Vector> all{Vector::Zero(size)};
  for (Index jump = -1; jump < size; ++jump) {
    Vector line(size);
    for (Index m = 0; m < size; ++m) {
      line[m] = jump < 0 ? static_cast<double>(m + 1) / static_cast<double>(size) : m >= jump;
    }
    for (const double sign : {1.0, -1.0}) {
      Vector best = all.front();
      double value = landscape.value(best);
      for (double length = 0.25; length <= 12.0; length += 0.25) {
        const Vector x = sign * length * line;
        const double there = landscape.value(x);
        if (!(there > value)) continue;
        value = there;
        best = x;
      }
      if (!best.isZero(0.0)) all.push_back(best);
    }
  }
  Random random(0);
  for (Index i = 0; i < 12 * (size - 1); ++i) {
    all.push_back(3.0 * random.normal_matrix(size, 1).col(0));
  }
  return all;
}

/// BFGS with backtracking, upwards.
Vector climb(const Landscape& landscape, Vector x) {
  double value = landscape.value(x);
  Vector slope = landscape.gradient(x);
  Matrix inverse = Matrix::Identity(x.size(), x.size()) / std::max(slope.norm(), 1e-300);
  for (int iteration = 0; iteration < max_iterations && slope.allFinite(); ++iteration) {
    Vector direction = inverse * slope;
    if (!(direction.dot(slope) > 0.0)) break;
    const double longest = direction.cwiseAbs().maxCoeff();
    if (longest > 2.0) direction *= 2.0 / longest;
    double part = 1.0, next_value = value;
    Vector next = x;
    for (; part > 1e-6; part *= 0.5) {
      next = x + part * direction;
      next_value = landscape.value(next);
      if (next_value > value) break;
    }
    if (!(next_value > value)) break;
    const Vector next_slope = landscape.gradient(next);
    const Vector s = next - x, y = slope - next_slope;
    const double sy = s.dot(y);
    if (sy > 1e-12 * s.norm() * y.norm()) {
      const Matrix keep = Matrix::Identity(x.size(), x.size()) - s * y.transpose() / sy;
      inverse = (keep * inverse * keep.transpose() + s * s.transpose() / sy).eval();
    }
    const bool done = s.cwiseAbs().maxCoeff() < 1e-9;
    x = next;
    value = next_value;
    slope = next_slope;
    if (done) break;
  }
  return x;
}

}  // namespace

double ScaleModel::grad_sq(const Vector& log_c) const {
  return (exponents * log_c).array().exp().matrix().dot(J);
}

double ScaleModel::curvature(const Vector& log_c) const {
  const Vector tau = (exponents * log_c).array().exp();
  return tau.dot(M * tau);
}

std::optional<Vector> best_scales(const ScaleModel& model, const Worth& worth) {
  const Index size = model.exponents.cols();
  if (size == 0 || !model.J.allFinite() || !model.M.allFinite()) return std::nullopt;
  Landscape landscape(model, worth);
  const std::vector<Vector> starts = best_on_lines(landscape, size);
  const auto worse = [&](const Vector& a, const Vector& b) {
    return landscape.value(a) < landscape.value(b);
  };
  Vector best = *std::max_element(starts.begin(), starts.end(), worse);
  const double value = landscape.value(best);
  if (!std::isfinite(value)) return std::nullopt;
  const double J = model.grad_sq(best), Phi = model.curvature(best);
  if (!(landscape.partials(J, Phi).second != 0.0)) return std::nullopt;
  landscape.set_unit(std::abs(value));
  for (const Vector& start : starts) {
    if (!std::isfinite(landscape.value(start))) continue;
    const Vector x = climb(landscape, start);
    if (worse(best, x)) best = x;
  }
  return best;
}

}  // namespace symport
