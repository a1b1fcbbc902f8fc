// SPDX-License-Identifier: MIT
#include "symmetries/slot_orbit.hpp"

#include <cmath>
#include <utility>

#include "core/dense.hpp"
#include "symmetries/group_matrix.hpp"

namespace symport {

namespace {

using Part = SlotAction::Part;

/// The element within [1/kappa, kappa] for which the gradients in the slots of a group become
/// largest, from their Gram matrices: (F11) with N = sum over direct slots - sum over dual ones.
std::pair<Matrix, Matrix> best_matrix(const Matrix& N, double kappa) {
  const SymmetricEigen eigen = symmetric_eigen(N);
  const Matrix& V = eigen.vectors;
  const Vector scales =
      (eigen.values.array() > 0.0)
          .select(Vector::Constant(V.rows(), 1.0 / kappa), Vector::Constant(V.rows(), kappa));
  return {V * scales.asDiagonal() * V.transpose(),
          V * scales.cwiseInverse().asDiagonal() * V.transpose()};
}

/// A sum of powers of s is convex in log s, so largest at an end. The upper one where both are, and
/// 1 without a gradient.
Vector best_ends(const std::vector<SlotPlace>& places, const std::vector<Matrix>& squares,
                 double kappa) {
  Vector above = Vector::Zero(places.front().n), below = above;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double factor = std::pow(kappa, -2.0 * places[i].exponent);
    above += factor * squares[i];
    below += squares[i] / factor;
  }
  Vector scales(above.size());
  for (Index j = 0; j < scales.size(); ++j) {
    if (above[j] == 0.0 && below[j] == 0.0) {
      scales[j] = 1.0;
    } else {
      scales[j] = above[j] >= below[j] ? kappa : 1.0 / kappa;
    }
  }
  return scales;
}

}  // namespace

template <Real Scalar>
SlotOrbit<Scalar>::SlotOrbit(std::shared_ptr<const SlotAction> action,
                             const BasicObjective<Scalar>& objective, In<Scalar> start)
    : LinearOrbit<Scalar>(objective, start),
      action_(std::move(action)),
      element_(action_->identity()),
      base_(element_),
      direction_(action_->algebra_zero()) {}

template <Real Scalar>
SlotOrbit<Scalar>::SlotOrbit(std::shared_ptr<const SlotAction> action,
                             const BasicObjective<Scalar>& objective, In<Scalar> start,
                             VectorOf<Scalar> start_gradient)
    : SlotOrbit(std::move(action), objective, start) {
  this->set_start_gradient(std::move(start_gradient));
}

template <Real Scalar>
void SlotOrbit<Scalar>::act(Out<Scalar> w) const {
  action_->apply<Scalar>(Part::action, element_, w);
}

template <Real Scalar>
void SlotOrbit<Scalar>::act_on_covector(Out<Scalar> covector) const {
  action_->apply<Scalar>(Part::cotangent, element_, covector);
}

template <Real Scalar>
bool SlotOrbit<Scalar>::act_on_squares(Out<Scalar> squares) const {
  if (!action_->monomial()) return false;
  action_->apply<Scalar>(Part::squares, element_, squares);
  return true;
}

template <Real Scalar>
void SlotOrbit<Scalar>::pull_to_start(Out<Scalar> covector) const {
  if (!action_->compact()) action_->apply<Scalar>(Part::pull, element_, covector);
}

template <Real Scalar>
void SlotOrbit<Scalar>::need_gram_matrices() {
  if (energies_) return;
  Energies made;
  const Vector G = this->start_gradient().template cast<double>();
  Vector covered = Vector::Zero(G.size()), shared = covered;
  for (std::size_t k = 0; k < action_->groups().size(); ++k) {
    const bool diagonal = action_->groups()[k].kind == GroupKind::scaling;
    std::vector<Matrix>& grams = made.grams.emplace_back();
    for (const SlotPlace& place : action_->places(k)) {
      grams.push_back(place.shared ? Matrix() : slot_product(place, G.data(), G.data(), diagonal));
      fill_ones(place, (place.shared ? shared : covered).data());
    }
  }
  made.shared = G.cwiseProduct(shared);
  made.constant = G.cwiseProduct(Vector::Ones(G.size()) - covered.cwiseMax(shared)).squaredNorm();
  energies_ = std::move(made);
}

template <Real Scalar>
double SlotOrbit<Scalar>::grad_sq() {
  if (action_->compact()) return LinearOrbit<Scalar>::grad_sq();
  if (grad_sq_) return *grad_sq_;
  need_gram_matrices();
  double sum = energies_->constant;
  for (std::size_t k = 0; k < action_->groups().size(); ++k) {
    const auto& places = action_->places(k);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i].shared) continue;
      const Matrix& C = energies_->grams[k][i];
      switch (action_->groups()[k].kind) {
        case GroupKind::scaling:
          sum += C.reshaped().dot(
              element_.g[k].reshaped().array().pow(-2.0 * places[i].exponent).matrix());
          break;
        case GroupKind::general_linear: {  // tr(rho^-T C rho^-1)
          const Matrix rho =
              places[i].exponent > 0.0 ? Matrix(element_.inverse[k].transpose()) : element_.g[k];
          sum += (rho * C).cwiseProduct(rho).sum();
          break;
        }
        case GroupKind::orthogonal:
        case GroupKind::signs:
        case GroupKind::permutations:
          sum += C.trace();
          break;
      }
    }
  }
  Vector shared = energies_->shared;
  action_->apply_to_shared(Part::cotangent, element_, shared);
  grad_sq_ = sum + shared.squaredNorm();
  return *grad_sq_;
}

template <Real Scalar>
Vector SlotOrbit<Scalar>::current(const VectorOf<Scalar>& covector) const {
  Vector moved = covector.template cast<double>();
  action_->apply<double>(Part::cotangent, element_, moved);
  return moved;
}

template <Real Scalar>
void SlotOrbit<Scalar>::add_gradient_directions(const Slope& slope) {
  const Vector G = current(this->start_gradient());
  Vector Q;
  if (slope.curvature != 0.0) Q = current(this->pulled_hessian_gradient());
  for (std::size_t k = 0; k < direction_.size(); ++k) {
    const GroupKind kind = action_->groups()[k].kind;
    if (is_compact(kind)) continue;
    if (slope.grad_sq != 0.0) {
      direction_[k] -= 2.0 * slope.grad_sq * algebra_part(kind, action_->noether(k, G, G));
    }
    if (slope.curvature != 0.0) {
      direction_[k] -= 2.0 * slope.curvature *
                       algebra_part(kind, action_->noether(k, Q, G) + action_->noether(k, G, Q));
    }
  }
}

template <Real Scalar>
double SlotOrbit<Scalar>::aim(const Slope& slope) {
  base_ = element_;
  direction_ = action_->algebra_zero();
  const bool follows = slope.grad_sq != 0.0 || slope.curvature != 0.0;
  if (follows && !action_->compact()) add_gradient_directions(slope);
  if (slope.covector) {
    Vector w = this->start().template cast<double>();
    action_->apply<double>(Part::action, element_, w);
    const GroupMatrices S = action_->pull_back(w, *slope.covector);
    for (std::size_t k = 0; k < S.size(); ++k) direction_[k] += S[k];
  }
  const double norm = std::sqrt(action_->inner(direction_, direction_));
  const bool usable = norm > 0.0 && std::isfinite(norm);
  if (!usable) direction_ = action_->algebra_zero();
  for (Matrix& T : direction_) {
    if (usable) T /= norm;
  }
  return usable ? norm : 0.0;
}

template <Real Scalar>
bool SlotOrbit<Scalar>::place(GroupElement g) {
  const bool usable = action_->usable<Scalar>(g);
  element_ = usable ? std::move(g) : base_;
  if (action_->compact()) {
    this->point_changed();  // J and Phi are kept
  } else {
    this->element_changed();
  }
  grad_sq_.reset();
  return usable;
}

template <Real Scalar>
bool SlotOrbit<Scalar>::move(double length) {
  if (length == 0.0) return place(base_);
  GroupMatrices T = direction_;
  bool moves = false;
  for (Matrix& t : T) {
    moves = moves || !t.isZero(0.0);
    t *= length;
  }
  if (moves) return place(action_->compose(action_->exponential(T), base_));
  place(base_);
  return false;
}

template <Real Scalar>
bool SlotOrbit<Scalar>::randomize(Random& random, double spread) {
  if (!place(action_->random_element(random, spread))) return false;
  base_ = element_;
  return true;
}

template <Real Scalar>
void SlotOrbit<Scalar>::restart() {
  base_ = action_->identity();
  place(base_);
}

template <Real Scalar>
bool SlotOrbit<Scalar>::go_to_ends(double kappa) {
  GroupElement best = action_->identity();
  Vector G = this->start_gradient().template cast<double>();
  for (std::size_t k = 0; k < best.g.size(); ++k) {
    const SlotGroup& group = action_->groups()[k];
    if (group.kind == GroupKind::general_linear) {
      std::tie(best.g[k], best.inverse[k]) = best_matrix(action_->noether(k, G, G), kappa);
    } else if (group.kind == GroupKind::scaling) {
      std::vector<Matrix> squares;
      for (const SlotPlace& place : action_->places(k)) {
        squares.push_back(slot_product(place, G.data(), G.data(), true));
      }
      best.g[k] = best_ends(action_->places(k), squares, kappa);
      best.inverse[k] = best.g[k].cwiseInverse();
    } else {
      continue;
    }
    action_->apply(Part::cotangent, k, best, G);
  }
  if (!place(std::move(best))) return false;
  base_ = element_;
  return true;
}

template class SlotOrbit<float>;
template class SlotOrbit<double>;

}  // namespace symport
