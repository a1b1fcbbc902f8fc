// SPDX-License-Identifier: MIT
// White gauges of slots: (W6) of docs/mathematics/white_gauge.md.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "core/dense.hpp"
#include "symmetries/slot_orbit.hpp"

namespace symport {

namespace {

using Part = SlotAction::Part;

/// Of a Gram matrix, relative to the largest; what is smaller counts as complement of the span, so
/// that a white gauge has at most the inverse root of this as its condition.
constexpr double smallest_eigenvalue = 1e-10;

bool is_linear(const SlotGroup& group) { return group.kind == GroupKind::general_linear; }

/// C^(-1/2) and C^(1/2) on the span of C, as in (W1); nothing for C = 0.
std::optional<std::pair<Matrix, Matrix>> inverse_root(const Matrix& C) {
  const SymmetricEigen eigen = symmetric_eigen(C);
  const double largest = eigen.values.maxCoeff();
  if (!(largest > 0.0 && std::isfinite(largest))) return std::nullopt;
  const auto inside = (eigen.values.array() > smallest_eigenvalue * largest).eval();
  Vector roots = eigen.values.cwiseMax(0.0).cwiseSqrt();
  const double mean =
      std::exp(inside.select(roots.array().log(), 0.0).sum() / static_cast<double>(inside.count()));
  roots = inside.select(roots.array(), mean);
  const Matrix& V = eigen.vectors;
  return std::pair{Matrix(V * roots.cwiseInverse().asDiagonal() * V.transpose()),
                   Matrix(V * roots.asDiagonal() * V.transpose())};
}

}  // namespace

template <Real Scalar>
std::optional<GroupElement> SlotOrbit<Scalar>::white_element(bool direct) const {
  GroupElement white = action_->identity();
  Vector w = this->start().template cast<double>();
  bool any = false;
  // Direct slots from the first group on, dual ones from the last: each group then sees what those
  // before it have made of its tensors.
  const std::size_t count = white.g.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t k = direct ? i : count - 1 - i;
    if (!is_linear(action_->groups()[k])) continue;
    Matrix C = Matrix::Zero(white.g[k].rows(), white.g[k].rows());
    for (const SlotPlace& place : action_->places(k)) {
      if ((place.exponent > 0.0) == direct) C += slot_product(place, w.data(), w.data(), false);
    }
    const auto roots = inverse_root(C);
    if (!roots) continue;
    // A direct slot is multiplied by g, a dual one by g^-T.
    std::tie(white.g[k], white.inverse[k]) =
        direct ? *roots : std::pair{roots->second, roots->first};
    action_->apply(Part::action, k, white, w);
    any = true;
  }
  if (!any || !w.allFinite()) return std::nullopt;
  return white;
}

template <Real Scalar>
bool SlotOrbit<Scalar>::go_scaled(GroupElement g, const Vector& c) {
  Index column = 0;
  for (std::size_t k = 0; k < g.g.size(); ++k) {
    if (!is_linear(action_->groups()[k])) continue;
    g.g[k] *= c[column];
    g.inverse[k] /= c[column];
    ++column;
  }
  if (!place(std::move(g))) return false;
  base_ = element_;
  return true;
}

template <Real Scalar>
ScaleModel SlotOrbit<Scalar>::group_scale_model() {
  // Entries on which all scales act alike are a block: (W2) with c^-2 for a direct slot.
  std::vector<Index> block(static_cast<std::size_t>(action_->parameters()), 0);
  std::vector<std::vector<double>> rows{{}};
  for (std::size_t k = 0; k < action_->groups().size(); ++k) {
    if (!is_linear(action_->groups()[k])) continue;
    Vector exponent = Vector::Zero(action_->parameters());
    for (const SlotPlace& place : action_->places(k)) {
      Vector covered = Vector::Zero(exponent.size());
      fill_ones(place, covered.data());
      exponent -= 2.0 * place.exponent * covered;
    }
    std::map<std::pair<Index, double>, Index> names;
    std::vector<std::vector<double>> refined;
    for (std::size_t i = 0; i < block.size(); ++i) {
      const double value = exponent[static_cast<Index>(i)];
      const auto [found, is_new] =
          names.try_emplace({block[i], value}, static_cast<Index>(refined.size()));
      if (is_new) {
        refined.push_back(rows[static_cast<std::size_t>(block[i])]);
        refined.back().push_back(value);
      }
      block[i] = found->second;
    }
    rows = std::move(refined);
  }
  Matrix exponents(static_cast<Index>(rows.size()), static_cast<Index>(rows.front().size()));
  for (Index a = 0; a < exponents.rows(); ++a) {
    exponents.row(a) =
        Eigen::Map<const Vector>(rows[static_cast<std::size_t>(a)].data(), exponents.cols());
  }
  return this->scale_model(block, std::move(exponents));
}

template <Real Scalar>
std::vector<Candidate> SlotOrbit<Scalar>::candidates(const Worth& worth) {
  if (action_->compact()) return {};
  const auto& groups = action_->groups();
  const Index scales = std::count_if(groups.begin(), groups.end(), is_linear);
  std::vector<Candidate> all;
  for (const bool direct : {true, false}) {
    if (scales == 0) break;
    // Computed when a search goes there.
    const auto chosen = std::make_shared<std::optional<std::pair<GroupElement, Vector>>>();
    const auto go = [this, direct, scales, worth, chosen](double) {
      if (!*chosen) {
        const auto white = white_element(direct);
        if (!white || !go_scaled(*white, Vector::Ones(scales))) return false;
        const std::optional<Vector> log_c = best_scales(group_scale_model(), worth);
        if (!log_c) return false;
        *chosen = {*white, log_c->array().exp()};
      }
      return go_scaled((*chosen)->first, (*chosen)->second);
    };
    all.push_back({direct ? "white gauge" : "white gauge of the other side", false, go});
  }
  all.push_back(
      {"closed form", true, [this](double kappa) { return go_to_ends(kappa); }, scales > 0});
  return all;
}

template std::optional<GroupElement> SlotOrbit<float>::white_element(bool) const;
template std::optional<GroupElement> SlotOrbit<double>::white_element(bool) const;
template std::vector<Candidate> SlotOrbit<float>::candidates(const Worth&);
template std::vector<Candidate> SlotOrbit<double>::candidates(const Worth&);

}  // namespace symport
