// SPDX-License-Identifier: MIT
#include "symport/symmetries/level_set.hpp"

#include <fmt/format.h>

#include <cmath>

#include "symmetries/level_set_orbit.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/mlp_objective.hpp"

namespace symport {

namespace {

/// How far below the level of the start a point may be, as a part of it.
template <Real Scalar>
constexpr double level_depth = std::same_as<Scalar, double> ? 1e-11 : 1e-5;
constexpr int most_returns = 8;

}  // namespace

template <Real Scalar>
LevelSet<Scalar>::LevelSet(const LevelSetOptions& options) : options_(options) {
  const auto require = [](bool good, const char* field, double value, const char* allowed) {
    if (!good) throw InvalidArgument(field, fmt::format("{}", value), allowed);
  };
  require(options.max_steps >= 1, "max_steps", static_cast<double>(options.max_steps),
          "a whole number >= 1");
  require(options.first_length > 0 && std::isfinite(options.first_length), "first_length",
          options.first_length, "a finite number > 0");
  require(options.max_halvings >= 0, "max_halvings", static_cast<double>(options.max_halvings),
          "a whole number >= 0");
  require(options.gain > 0 && options.gain < 1, "gain", options.gain, "a number between 0 and 1");
  require(options.stationary > 0 && options.stationary < 1, "stationary", options.stationary,
          "a number between 0 and 1");
}

template <Real Scalar>
OrbitOrReason<Scalar> LevelSet<Scalar>::orbit(const BasicObjective<Scalar>& objective,
                                              In<Scalar> w) const {
  return std::make_unique<LevelSetOrbit<Scalar>>(options_, objective, w);
}

template <Real Scalar>
LevelSetOrbit<Scalar>::LevelSetOrbit(const LevelSetOptions& options,
                                     const BasicObjective<Scalar>& objective, In<Scalar> start)
    : BasicOrbit<Scalar>(objective), options_(options) {
  start_ = measured(start);
  const double size = static_cast<double>(start_.w.norm());
  // At the origin, how far away a minimum of zero would be on a slope like this.
  scale_ = size > 0.0 ? size : std::abs(start_.loss) / std::sqrt(start_.grad_sq);
  base_ = current_ = start_;
  direction_ = VectorType::Zero(start.size());
  length_ = options.first_length;
}

template <Real Scalar>
Scope LevelSetOrbit<Scalar>::scope() const {
  const MlpObjective<Scalar>* network = this->objective().mlp();
  if (network == nullptr) return {};
  return {.data = Scope::Data::batch, .samples = network->samples(), .of = network->samples()};
}

template <Real Scalar>
typename LevelSetOrbit<Scalar>::Point LevelSetOrbit<Scalar>::measured(VectorType w) {
  Point point{std::move(w), VectorType(this->objective().dimension()), 0.0, 0.0, std::nullopt};
  point.loss = this->objective().gradient(point.w, point.gradient);
  this->charge(1.0);
  point.grad_sq = point.gradient.template cast<double>().squaredNorm();
  return point;
}

template <Real Scalar>
const VectorOf<Scalar>& LevelSetOrbit<Scalar>::hessian_gradient(Point& point) {
  if (!point.hessian_gradient) {
    point.hessian_gradient.emplace(point.w.size());
    this->objective().hessian_vector(point.w, point.gradient, *point.hessian_gradient);
    this->charge(2.0);
  }
  return *point.hessian_gradient;
}

template <Real Scalar>
double LevelSetOrbit<Scalar>::curvature() {
  return current_.gradient.template cast<double>().dot(
      hessian_gradient(current_).template cast<double>());
}

template <Real Scalar>
std::optional<typename LevelSetOrbit<Scalar>::Point> LevelSetOrbit<Scalar>::returned(VectorType w) {
  const double below = level_depth<Scalar> * std::abs(start_.loss);
  for (int step = 0; step <= most_returns; ++step) {
    Point point = measured(std::move(w));
    if (!std::isfinite(point.loss) || !(point.grad_sq > 0.0) || !std::isfinite(point.grad_sq)) {
      return std::nullopt;
    }
    if (point.loss <= start_.loss && point.loss >= start_.loss - below) return point;
    const double excess = point.loss - (start_.loss - 0.5 * below);
    w = point.w - static_cast<Scalar>(excess / point.grad_sq) * point.gradient;
  }
  return std::nullopt;
}

template <Real Scalar>
Vector LevelSetOrbit<Scalar>::tangential(const Point& point, Vector v) {
  const Vector g = point.gradient.template cast<double>();
  v -= g.dot(v) / point.grad_sq * g;
  return v;
}

template <Real Scalar>
double LevelSetOrbit<Scalar>::aim(const Slope& slope) {
  base_ = current_;
  const auto& objective = this->objective();
  Vector covector = slope.covector ? *slope.covector : Vector::Zero(base_.w.size());
  // dJ/dw = 2 H g;  dPhi/dw = 2 H (H g) + d/de H(w + e g) g
  if (slope.grad_sq != 0.0 || slope.curvature != 0.0) {
    covector += 2.0 * slope.grad_sq * hessian_gradient(base_).template cast<double>();
  }
  if (slope.curvature != 0.0) {
    VectorType HHg(base_.w.size()), third(base_.w.size());
    objective.hessian_vector(base_.w, hessian_gradient(base_), HHg);
    objective.third_derivative(base_.w, base_.gradient, third);
    this->charge(6.0);
    covector += slope.curvature * (2.0 * HHg + third).template cast<double>();
  }
  const Vector tangent = tangential(base_, covector);
  const double norm = tangent.norm();
  // What rounding leaves of a covector along the gradient is no direction.
  if (!(norm > 1e-12 * covector.norm()) || !std::isfinite(norm)) {
    direction_.setZero();
    return 0.0;
  }
  direction_ = (tangent / norm).template cast<Scalar>();
  return scale_ * norm;
}

template <Real Scalar>
void LevelSetOrbit<Scalar>::place(const Point& point) {
  current_ = point;
  this->point_changed();
}

template <Real Scalar>
bool LevelSetOrbit<Scalar>::move(double length) {
  if (length != 0.0) {
    if (auto point = returned(base_.w + static_cast<Scalar>(length * scale_) * direction_)) {
      place(*point);
      return true;
    }
  }
  place(base_);
  return length == 0.0;
}

template <Real Scalar>
void LevelSetOrbit<Scalar>::restart() {
  base_ = start_;
  place(start_);
}

template <Real Scalar>
bool LevelSetOrbit<Scalar>::extend() {
  if (path_.empty()) path_.push_back(start_);
  if (path_ended_ || std::ssize(path_) > options_.max_steps) return false;
  path_ended_ = true;  // unless a step is found
  Point& from = path_.back();
  const Vector q = hessian_gradient(from).template cast<double>() / from.grad_sq;
  const Vector tangent = tangential(from, q);
  const double norm = tangent.norm();
  if (!(norm > options_.stationary * q.norm()) || !std::isfinite(norm)) return false;
  for (Index halving = 0; halving <= options_.max_halvings; ++halving) {
    const double length = length_ * scale_;
    auto point = returned(from.w + (length / norm * tangent).template cast<Scalar>());
    // The merit function is log |dL/dw|: the constraint holds at both ends.
    if (point && 0.5 * std::log(point->grad_sq / from.grad_sq) >= options_.gain * length * norm) {
      if (halving == 0) length_ *= 2.0;
      path_.push_back(std::move(*point));
      path_ended_ = false;
      return true;
    }
    length_ *= 0.5;
  }
  return false;
}

template <Real Scalar>
bool LevelSetOrbit<Scalar>::go_to(double kappa) {
  const double largest = kappa * kappa * start_.grad_sq;
  if (path_.empty()) path_.push_back(start_);
  while (path_.back().grad_sq <= largest && extend()) {
  }
  std::size_t last = 0;
  for (std::size_t i = 1; i < path_.size() && path_[i].grad_sq <= largest; ++i) last = i;
  if (path_[last].w != current_.w) place(path_[last]);
  base_ = current_;
  return true;
}

template <Real Scalar>
std::vector<Candidate> LevelSetOrbit<Scalar>::candidates(const Worth&) {
  return {{.name = "path on the level set", .family = true, .go = [this](double kappa) {
             return go_to(kappa);
           }}};
}

template class LevelSetOrbit<float>;
template class LevelSetOrbit<double>;
template class LevelSet<float>;
template class LevelSet<double>;

}  // namespace symport
