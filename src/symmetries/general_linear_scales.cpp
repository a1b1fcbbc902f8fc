// SPDX-License-Identifier: MIT
// Layer scales for the white gauge: (W3) and (W5) of docs/mathematics/white_gauge.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "core/position.hpp"
#include "symmetries/general_linear_orbit.hpp"
#include "symport/core/gemm.hpp"

namespace symport {

namespace {

/// How much each further candidate lowers the last layer's share of the step.
constexpr double shortening = 2.0;
constexpr int shorter_candidates = 5;

// Where the activation is not homogeneous, the model is good near its point only.
constexpr int model_rounds = 8;
constexpr double model_radius = 1.5;  ///< of log c, at first

// Trials of scales by the next loss, and the part of the cap that the last layer may use.
constexpr int max_trials = 20;
constexpr double used_cap = 0.95;

/// The largest eigenvalue of the loss's Hessian in the outputs, over all samples, by power
/// iterations on all of them at once.
template <Real Scalar>
double output_curvature(const Loss& loss, const MatrixOf<Scalar>& Z,
                        const MatrixOf<Scalar>& start) {
  MatrixOf<Scalar> v = start, Hv(Z.rows(), Z.cols());
  // Outputs that are right to rounding have no gradient to start from.
  v.array() += v.cwiseAbs().maxCoeff() * Scalar(1e-3) + std::numeric_limits<Scalar>::min();
  v.row(0) *= Scalar(-1);
  double largest = 0.0;
  for (int i = 0; i < 20; ++i) {
    v.colwise().normalize();
    loss.template hessian_product<Scalar>(Z, v, Hv);
    largest = static_cast<double>(v.cwiseProduct(Hv).colwise().sum().maxCoeff());
    v = Hv;
    if (!(v.colwise().squaredNorm().minCoeff() > Scalar(0))) break;
  }
  return largest;
}

/// Whether every step finds its own length.
bool free_rate(const Worth& worth) { return worth.rate(1.0, 2.0) != worth.rate(1.0, 1.0); }

/// Trials of points x, the best of which is kept: for functions that cost something.
class Trials {
 public:
  explicit Trials(std::function<double(const Vector&)> loss) : loss_(std::move(loss)) {}

  /// Whether x is the best so far.
  bool offer(const Vector& x) {
    ++count_;
    const double value = loss_(x);
    if (!(value < value_)) return false;
    value_ = value;
    best_ = x;
    return true;
  }
  bool any() const { return best_.size() > 0; }
  bool exhausted() const { return count_ >= max_trials; }
  const Vector& best() const { return best_; }
  double value() const { return value_; }
  double at(const Vector& x) {
    ++count_;
    return loss_(x);
  }

 private:
  std::function<double(const Vector&)> loss_;
  Vector best_;
  double value_ = std::numeric_limits<double>::infinity();
  int count_ = 0;
};

}  // namespace

template <Real Scalar>
double GeneralLinearOrbit<Scalar>::rescaled_next_loss(const std::vector<double>& c, double rate) {
  const Point& x = current();
  const bool biases = mlp().network().biases();
  const auto scale = [&](Index m) { return m == 0 || m == layers() ? 1.0 : c[at(m - 1)]; };
  // (W5), with z and h in units of c_m: change = h - (states at x)
  MatrixOf<Scalar> z, h, change, overlap = x.K[0];
  for (Index m = 1; m <= layers(); ++m) {
    const double of_weights = std::pow(scale(m - 1) / scale(m), 2);
    const double of_biases = std::pow(scale(m), -2);
    z = x.z[at(m)];
    if (m > 1) {
      MatrixOf<Scalar> scratch(samples_, samples_);
      weights_.times(m, x, change, 1, z, scratch);
      overlap.resize(samples_, samples_);
      multiply<Scalar>(static_cast<Scalar>(of_weights), true, x.h[at(m - 1)], false, h, 0, overlap);
      if (biases) overlap.array() += static_cast<Scalar>(of_biases);
    } else {
      overlap *= static_cast<Scalar>(of_weights);
    }
    multiply<Scalar>(static_cast<Scalar>(-rate), false, x.delta[at(m)], false, overlap, 1, z);
    if (m == layers()) break;
    h.resize(width(m), samples_);
    mlp().network().activation().template value<Scalar>(z, h);
    change = h - x.h[at(m)];
  }
  charge_products();
  return mlp().loss().template value<Scalar>(z, mlp().targets());
}

template <Real Scalar>
std::vector<Vector> GeneralLinearOrbit<Scalar>::first_scales(const Worth& worth,
                                                             const ScaleModel& model,
                                                             double largest) const {
  const Index size = model.exponents.cols(), last = size - 1;
  std::vector<Vector> all;
  if (const std::optional<Vector> best = best_scales(model, worth)) all.push_back(*best);
  // The last layer's own Newton step on the outputs; with a free rate, anything that dominates.
  const Index top = model.J.size() - (mlp().network().biases() ? 2 : 1);
  const Vector none = Vector::Zero(size);
  const double J = model.grad_sq(none), Phi = model.curvature(none);
  const double newton = 0.5 * std::log(model.J[top] / (worth.rate(J, Phi) * model.M(top, top)));
  std::vector<double> tops{newton};
  if (free_rate(worth)) tops = {std::log(10.0), std::log(100.0), std::log(1000.0)};
  for (double& log_c : tops) {
    if (!std::isfinite(log_c)) continue;
    log_c = std::min(log_c, largest);
    Vector even(size);
    for (Index m = 0; m < size; ++m) {
      even[m] = log_c * static_cast<double>(m + 1) / static_cast<double>(size);
    }
    all.push_back(even);
    if (size != layers() - 1 || size < 2) continue;
    // tau_m J_m the same for all layers but the last: the least sum of them for their product.
    double sum = -2.0 * log_c;
    std::vector<double> log_J;
    for (Index a = 0; a < top; ++a) {
      if (model.exponents(a, last) > 0.0) continue;  // the biases of the last layer
      const bool weights = a == 0 || !mlp().network().biases() || a % 2 == 1;
      if (weights) log_J.push_back(std::log(model.J[a]));
    }
    for (const double value : log_J) sum += value;
    Vector balanced(size);
    double log_scale = 0.0;
    for (Index m = 0; m < size; ++m) {
      log_scale -= 0.5 * (sum / static_cast<double>(size) - log_J[at(m)]);
      balanced[m] = log_scale;
    }
    if (balanced.allFinite()) all.push_back(balanced);
  }
  for (Vector& x : all) x[last] = std::min(x[last], largest);
  return all;
}

template <Real Scalar>
std::optional<Vector> GeneralLinearOrbit<Scalar>::scales_by_next_loss(const Worth& worth,
                                                                      const ScaleModel& model) {
  const Index last = model.exponents.cols() - 1;
  const std::size_t top = at(layers());
  // In the white gauge lambda_max of the last layer alone is c^2 times that of the outputs.
  const double curvature =
      output_curvature<Scalar>(mlp().loss(), current().z[top], current().delta[top]);
  const double largest = weights_.moved(layers() - 1)
                             ? 0.5 * std::log(used_cap * worth.largest_curvature() / curvature)
                             : std::numeric_limits<double>::infinity();
  Trials trials([&](const Vector& log_c) {
    const double rate = worth.rate(model.grad_sq(log_c), model.curvature(log_c));
    if (!(rate > 0.0 && std::isfinite(rate) && log_c[last] <= largest)) return std::nan("");
    return rescaled_next_loss(all_scales(log_c), rate);
  });
  for (const Vector& x : first_scales(worth, model, largest)) trials.offer(x);
  if (!trials.any()) return std::nullopt;
  // The lower layers by a compass search, then the last one by parabolas in tau = c^2.
  for (double step = 0.7; step > 0.3 && last > 0; step *= 0.5) {
    for (Index m = 0; m < last && !trials.exhausted(); ++m) {
      for (const double sign : {1.0, -1.0}) {
        Vector x = trials.best();
        x[m] += sign * step;
        if (trials.offer(x)) break;
      }
    }
  }
  for (double step = 0.05; step > 1e-3 && !trials.exhausted(); step *= 0.2) {
    const Vector x = trials.best();
    Vector above = x, below = x;
    above[last] = std::min(x[last] + step, largest);
    below[last] = x[last] - step;
    const double t0 = std::exp(2.0 * x[last]), here = trials.value();
    const double t1 = std::exp(2.0 * above[last]), up = trials.at(above);
    const double t2 = std::exp(2.0 * below[last]), down = trials.at(below);
    // The parabola through three points has its minimum where its divided differences say.
    const double first = (up - here) / (t1 - t0), second = (down - here) / (t2 - t0);
    const double bend = (first - second) / (t1 - t2);
    const double tau = t0 - 0.5 * (first - bend * (t1 - t0)) / bend;
    if (!(bend > 0.0 && tau > 0.0 && std::isfinite(tau))) break;
    Vector next = x;
    next[last] = std::min(0.5 * std::log(tau), largest);
    if (!trials.offer(next)) break;
  }
  return trials.best();
}

template <Real Scalar>
std::optional<Vector> GeneralLinearOrbit<Scalar>::scales_by_model(const Worth& worth,
                                                                  const ScaleModel& model) {
  std::optional<Vector> best = best_scales(model, worth);
  if (!best) return best;
  // The model is made anew at every better point, and believed within a radius.
  Vector log_c = Vector::Zero(best->size());
  double value = worth(grad_sq(), curvature()), radius = model_radius;
  for (int round = 0; round < model_rounds && radius > 0.05; ++round) {
    const double longest = best->cwiseAbs().maxCoeff();
    if (!(longest > 0.02)) break;
    const Vector next = log_c + *best * std::min(1.0, radius / longest);
    const double there = go_white(all_scales(next)) ? worth(grad_sq(), curvature()) : std::nan("");
    if (there > value || (std::isnan(value) && std::isfinite(there))) {
      value = there;
      log_c = next;
      best = best_scales(scale_model(), worth);
      if (!best) break;
    } else {
      radius = 0.25 * std::min(radius, longest);
    }
  }
  return log_c;
}

template <Real Scalar>
std::optional<Vector> GeneralLinearOrbit<Scalar>::white_scales(const Worth& worth) {
  Index scales = 0;
  for (Index m = 1; m < layers(); ++m) scales += weights_.moved(m) ? 1 : 0;
  const Vector none = Vector::Zero(scales);
  if (!go_white(all_scales(none))) return std::nullopt;
  const ScaleModel model = scale_model();
  // A worth that does not mind curvature has no best scales.
  if (!best_scales(model, worth)) return std::nullopt;
  const bool exact = mlp().network().activation().positively_homogeneous() &&
                     !std::isnan(worth.rate(model.grad_sq(none), model.curvature(none)));
  return exact ? scales_by_next_loss(worth, model) : scales_by_model(worth, model);
}

template <Real Scalar>
std::vector<Candidate> GeneralLinearOrbit<Scalar>::candidates(const Worth& worth) {
  // Scales are computed when a search goes to the first of these.
  struct Chosen {
    bool known = false;
    std::optional<Vector> log_c;
  };
  const auto chosen = std::make_shared<Chosen>();
  const auto go = [this, worth, chosen](double shorter, double damping) {
    if (!chosen->known) *chosen = {true, white_scales(worth)};
    if (!chosen->log_c) return false;
    Vector log_c = *chosen->log_c;
    for (Index m = 0; m < log_c.size(); ++m) {
      log_c[m] -=
          0.5 * std::log(shorter) * static_cast<double>(m + 1) / static_cast<double>(log_c.size());
    }
    return go_white(all_scales(log_c), {.damping = damping, .floor = white_floor<Scalar>});
  };
  std::vector<Candidate> all{{"white gauge", false, [go](double) { return go(1.0, 0.0); }}};
  if (free_rate(worth)) {
    // Scales hardly matter to a step that finds its own length. A gauge that is less white promises
    // less, which (D9) may ask for: for cross-entropy Newton's step promises more than there is.
    for (const double damping : {0.01, 0.1, 1.0}) {
      all.push_back({fmt::format("white gauge, damping {}", damping), false,
                     [go, damping](double) { return go(1.0, damping); }, true});
    }
    return all;
  }
  for (int i = 1; i <= shorter_candidates; ++i) {
    const double shorter = std::pow(shortening, i);
    all.push_back({"white gauge with shorter steps than the best", false,
                   [go, shorter](double) { return go(shorter, 0.0); }, true});
  }
  return all;
}

template std::vector<Candidate> GeneralLinearOrbit<float>::candidates(const Worth&);
template std::vector<Candidate> GeneralLinearOrbit<double>::candidates(const Worth&);

}  // namespace symport
