// SPDX-License-Identifier: MIT
#include "symport/symmetries/positive_scaling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "objectives/mlp_curvature.hpp"
#include "objectives/noted_curvature.hpp"
#include "objectives/plain_curvature.hpp"
#include "symmetries/hidden_units.hpp"
#include "symmetries/linear_orbit.hpp"
#include "symmetries/network_blocks.hpp"
#include "symmetries/network_requirements.hpp"
#include "symmetries/scale_units.hpp"
#include "symmetries/scaled_curvature.hpp"

namespace symport {

namespace {

void require_homogeneous(const Activation& activation) {
  if (activation.positively_homogeneous()) return;
  throw InvalidArgument(
      "activation", activation.name(),
      "linear, leaky_relu or relu for the symmetry rescale: sigma(s x) = s sigma(x) "
      "must hold for s > 0");
}

template <Real Scalar>
class PositiveScalingOrbit final : public LinearOrbit<Scalar> {
 public:
  /// `mlp` is that of the objective; both must outlive the orbit.
  PositiveScalingOrbit(const BasicObjective<Scalar>& objective, const MlpObjective<Scalar>& mlp,
                       In<Scalar> w)
      : LinearOrbit<Scalar>(objective, w), mlp_(mlp), network_(mlp.network()) {
    for (Index m = 1; m < network_.layers(); ++m) {
      scales_.push_back(Vector::Ones(network_.width(m)));
    }
    base_ = direction_ = scales_;
    for (Vector& d : direction_) d.setZero();
    row_energies_.resize(scales_.size());
  }

  std::optional<double> start_loss() const override { return start_loss_; }

  double grad_sq() override {
    need_energies();
    double sum = last_bias_energy_;
    for (Index m = 1; m < network_.layers(); ++m) {
      sum += (row_energies_[at(m)].array() / scales_[at(m)].array().square()).sum();
    }
    return sum + column_energies_.back().dot(scales_.back().cwiseAbs2());
  }

  double curvature() override {
    if (!curvature_) {
      need_constant_energies();
      curvature_ = states().curvature(this->start());
      this->charge_states(states().cost());
    }
    return *curvature_;
  }

  double aim(const Slope& slope) override {
    base_ = scales_;
    for (Vector& d : direction_) d.setZero();
    if (slope.grad_sq != 0.0) add_gradient_direction(slope.grad_sq);
    if (slope.curvature != 0.0) add_curvature_direction(slope.curvature);
    if (slope.covector) add_covector_direction(*slope.covector);
    double sum = 0.0;
    for (const Vector& d : direction_) sum += d.squaredNorm();
    const double norm = std::sqrt(sum);
    const bool usable = norm > 0.0 && std::isfinite(norm);
    for (Vector& d : direction_) {
      if (usable) {
        d /= norm;
      } else {
        d.setZero();
      }
    }
    return usable ? norm : 0.0;
  }

  bool move(double length) override {
    for (std::size_t l = 0; l < scales_.size(); ++l) {
      scales_[l] = base_[l].array() * (length * direction_[l].array()).exp();
    }
    return stay_inside();
  }

  void commit(Out<Scalar> w) override { scale_units<Scalar>(network_, scales_, this->start(), w); }

  void restart() override {
    for (Vector& s : scales_) s.setOnes();
    base_ = scales_;
    scales_changed();
  }

  bool has_candidates() const override { return true; }
  std::vector<Candidate> candidates(const Worth& worth) override {
    std::vector<Candidate> all{
        {"closed form", true, [this](double kappa) { return go_to_ends(kappa); }}};
    for (const bool units : {true, false}) {
      // Computed when a search goes there.
      const auto chosen = std::make_shared<std::optional<Vector>>();
      const auto go = [this, units, worth, chosen](double) {
        if (!*chosen) {
          if (!go_to_scales(units, {})) return false;
          const std::optional<Vector> log_c = best_scales(layer_model(), worth);
          if (!log_c) return false;
          *chosen = log_c->array().exp();
        }
        return go_to_scales(units, **chosen);
      };
      all.push_back({units ? "white units" : "scaled layers", false, go});
    }
    return all;
  }

  bool randomize(Random& random, double spread) override {
    for (Vector& s : scales_) {
      for (double& scale : s) scale = std::exp(spread * random.normal());
    }
    const bool inside = stay_inside();
    base_ = scales_;
    return inside;
  }

  double condition() const override {
    double largest = 0.0, smallest = std::numeric_limits<double>::infinity();
    for (const Vector& s : scales_) {
      largest = std::max(largest, s.maxCoeff());
      smallest = std::min(smallest, s.minCoeff());
    }
    return largest / smallest;
  }

  std::unique_ptr<LocalCurvature<Scalar>> local_curvature() override {
    if (!MlpHessian<Scalar>::worthwhile(mlp_)) {
      return LinearOrbit<Scalar>::local_curvature();
    }
    const auto plain = [this] {
      VectorOf<Scalar> w(this->start().size());
      commit(w);
      return std::make_unique<PlainCurvature<Scalar>>(
          mlp_, w, [this, w](Out<Scalar> gradient) { this->current_gradient(w, gradient); });
    };
    auto rescaled =
        std::make_unique<MlpCurvature<Scalar>>(MlpHessian<Scalar>(start_hessian(), scales_), plain);
    return std::make_unique<NotedCurvature<Scalar>>(
        std::move(rescaled), [this](double gradients) { this->objective().note_work(gradients); });
  }

 private:
  static std::size_t at(Index m) { return static_cast<std::size_t>(m - 1); }
  /// Which end of [1/kappa, kappa] maximises r/s^2 + c s^2, the gradient of a unit with squared
  /// norms r of its row and c of its column: 1 the upper, -1 the lower, 0 neither (no gradient).
  static int best_end(double r, double c) {
    if (r == 0.0 && c == 0.0) return 0;
    return c >= r ? 1 : -1;
  }

  /// (W3) for scales of the layers.
  ScaleModel layer_model() {
    const std::vector<NetworkBlock> blocks = network_blocks(network_);
    std::vector<bool> scaled(static_cast<std::size_t>(network_.layers()) + 1, true);
    scaled.front() = scaled.back() = false;
    // Without biases blocks are layers, and their products are cheap in factors.
    if (!network_.biases() && MlpHessian<Scalar>::worthwhile(mlp_)) {
      auto [J, M] = MlpHessian<Scalar>(start_hessian(), scales_).gradient_blocks();
      this->charge_states(0.5 * static_cast<double>(network_.layers()));
      return {std::move(J), std::move(M), block_exponents(blocks, scaled)};
    }
    return this->scale_model(block_of_entries(network_, blocks), block_exponents(blocks, scaled));
  }

  /// The diagonal of a white gauge, (W7): every unit's states get the length 1 (`units`), and then
  /// the layers the scales c (empty: 1). Units whose states are 0 keep their scale.
  bool go_to_scales(bool units, const Vector& c) {
    base_ = scales_;
    if (units && unit_lengths_.empty()) {
      MlpStates<Scalar> at_start;
      mlp_.forward(this->start(), at_start);
      this->charge_states(0.5);
      for (Index m = 1; m < network_.layers(); ++m) {
        unit_lengths_.push_back(mlp_.h(m, at_start)
                                    .topRows(network_.width(m))
                                    .template cast<double>()
                                    .rowwise()
                                    .norm());
      }
    }
    for (Index m = 1; m < network_.layers(); ++m) {
      Vector& s = scales_[at(m)];
      s.setOnes();
      if (units) {
        const Vector& length = unit_lengths_[at(m)];
        const double shortest = 1e-3 * length.maxCoeff();
        if (shortest > 0.0) s = length.cwiseMax(shortest).cwiseInverse();
      }
      if (c.size() > 0) s *= c[m - 1];
    }
    const bool inside = stay_inside();
    base_ = scales_;
    return inside;
  }

  /// Every unit to the end of [1/kappa, kappa] that is best for it, bottom-up.
  bool go_to_ends(double kappa) {
    need_constant_energies();
    forget();
    for (Index m = 1; m < network_.layers(); ++m) {
      row_energies_[at(m)] = states().row_energies(m);
      const Vector& r = row_energies_[at(m)];
      const Vector& c = column_energies_[at(m)];
      for (Index i = 0; i < r.size(); ++i) {
        const int end = best_end(r[i], c[i]);
        scales_[at(m)][i] = end == 0 ? 1.0 : end > 0 ? kappa : 1.0 / kappa;
      }
      states().set_scales(m, scales_[at(m)]);
    }
    has_energies_ = true;
    base_ = scales_;
    return true;
  }

  /// After a change of the scales; false when their squares are no numbers, and then they are the
  /// base's again.
  bool stay_inside() {
    const bool inside = std::all_of(scales_.begin(), scales_.end(), [](const Vector& s) {
      const VectorOf<Scalar> squares = s.cwiseAbs2().template cast<Scalar>();
      return squares.allFinite() && squares.minCoeff() >= std::numeric_limits<Scalar>::min();
    });
    if (!inside) scales_ = base_;
    scales_changed();
    return inside;
  }

  void act(Out<Scalar> w) const override { scale_units<Scalar>(network_, scales_, w, w); }
  void act_on_covector(Out<Scalar> covector) const override {
    unscale_units(network_, scales_, covector);
  }
  // The squares of a covector move as it is pulled to the start: both by D^-2 and D^2.
  bool act_on_squares(Out<Scalar> squares) const override {
    pull_to_start(squares);
    return true;
  }
  void pull_to_start(Out<Scalar> covector) const override {
    std::vector<Vector> squares;
    for (const Vector& s : scales_) squares.push_back(s.cwiseAbs2());
    unscale_units(network_, squares, covector);
  }

  /// The states at the start, with the current scales: a gradient without its matrices.
  ScaledCurvature<Scalar>& states() {
    if (!states_) {
      MlpStates<Scalar> at_start;
      start_loss_ = mlp_.backpropagate(this->start(), at_start);
      this->charge_states(0.5);
      states_.emplace(mlp_, std::move(at_start));
      for (Index m = 1; m < network_.layers(); ++m) states_->set_scales(m, scales_[at(m)]);
    }
    return *states_;
  }

  /// In factors, where that is worthwhile.
  const MlpHessian<Scalar>& start_hessian() {
    if (!start_hessian_) start_hessian_.emplace(mlp_, this->start());
    return *start_hessian_;
  }

  void forget() {
    this->element_changed();
    curvature_.reset();
    has_energies_ = false;
  }
  void scales_changed() {
    forget();
    if (!states_) return;
    for (Index m = 1; m < network_.layers(); ++m) states_->set_scales(m, scales_[at(m)]);
  }

  /// What does not depend on the scales.
  void need_constant_energies() {
    if (!column_energies_.empty()) return;
    for (Index m = 1; m < network_.layers(); ++m) {
      column_energies_.push_back(states().column_energies(m, true));
    }
    last_bias_energy_ = states().last_bias_energy();
    // `solve` scales hidden layer 1 by kappa and 1/kappa on the same units for every kappa.
    const Vector r = states().row_energies(1);
    const Vector& c = column_energies_.front();
    std::array<std::vector<Index>, 2> parts;
    for (Index i = 0; i < r.size(); ++i) {
      const int end = best_end(r[i], c[i]);
      if (end != 0) parts[end > 0 ? 0 : 1].push_back(i);
    }
    states().set_parts(std::move(parts));
  }

  void need_energies() {
    need_constant_energies();
    if (has_energies_) return;
    for (Index m = 1; m < network_.layers(); ++m) row_energies_[at(m)] = states().row_energies(m);
    has_energies_ = true;
  }

  void add_gradient_direction(double weight) {
    need_energies();
    for (Index m = 1; m < network_.layers(); ++m) {
      const auto squares = scales_[at(m)].array().square();
      direction_[at(m)].array() += 2.0 * weight *
                                   (states().column_energies(m, false).array() * squares -
                                    row_energies_[at(m)].array() / squares);
    }
  }

  void add_curvature_direction(double weight) {
    add_units<Scalar>(-4.0 * weight,
                      this->pulled_gradient().cwiseProduct(this->pulled_hessian_gradient()));
  }

  /// dw/dlog s_i is row i of [W_m b_m], and column i of W_(m+1) with the other sign.
  void add_covector_direction(const Vector& covector) {
    VectorOf<Scalar> w(covector.size());
    commit(w);
    add_units<double>(1.0, covector.cwiseProduct(w.template cast<double>()));
  }

  /// For every unit: the sum of its row less that of its column.
  template <class Number>
  void add_units(double weight, const VectorOf<Number>& entries) {
    for (Index m = 1; m < network_.layers(); ++m) {
      const auto rows = network_.augmented(m, entries.data());
      const auto columns = network_.weights(m + 1, entries.data());
      direction_[at(m)] -= weight * (columns.template cast<double>().colwise().sum().transpose() -
                                     rows.template cast<double>().rowwise().sum());
    }
  }

  const MlpObjective<Scalar>& mlp_;
  const Mlp& network_;
  std::optional<double> start_loss_;
  // One vector per hidden layer.
  std::vector<Vector> scales_, base_, direction_;
  std::vector<Vector> unit_lengths_;     ///< of the rows of h_m at the start; empty: not known yet
  std::vector<Vector> column_energies_;  ///< c at s = 1
  double last_bias_energy_ = 0.0;
  std::vector<Vector> row_energies_;  ///< r at the current scales of the layer below
  bool has_energies_ = false;
  std::optional<ScaledCurvature<Scalar>> states_;
  std::optional<MlpHessian<Scalar>> start_hessian_;
  std::optional<double> curvature_;
};

}  // namespace

template <Real Scalar>
OrbitOrReason<Scalar> PositiveScalingSymmetry<Scalar>::orbit(
    const BasicObjective<Scalar>& objective, In<Scalar> w) const {
  require_homogeneous(require_network<Scalar>(name(), objective, w).activation());
  return std::make_unique<PositiveScalingOrbit<Scalar>>(objective, *objective.mlp(), w);
}

template <Real Scalar>
void PositiveScalingSymmetry<Scalar>::act(const Mlp& network, const std::vector<Vector>& scales,
                                          Out<Scalar> w) {
  require_homogeneous(network.activation());
  act_on_hidden_units<Scalar>(network, GroupKind::scaling,
                              GroupMatrices(scales.begin(), scales.end()), w);
}

template class PositiveScalingSymmetry<float>;
template class PositiveScalingSymmetry<double>;

}  // namespace symport
