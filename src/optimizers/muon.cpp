// SPDX-License-Identifier: MIT
#include "symport/optimizers/muon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "optimizers/option_checks.hpp"
#include "symport/core/gemm.hpp"
#include "symport/optimizers/adamw.hpp"

namespace symport {

namespace {

/// Keller Jordan's: as steep at 0 as five steps allow.
constexpr double newton_schulz_a = 3.4445, newton_schulz_b = -4.7750, newton_schulz_c = 2.0315;
constexpr int newton_schulz_steps = 5;
static_assert(newton_schulz_steps % 2 == 1, "the last step ends in X, the first begins outside");
constexpr double smallest_norm = 1e-7;

double scale_of(MuonScale scale, Index rows, Index cols) {
  const auto m = static_cast<double>(rows), n = static_cast<double>(cols);
  return scale == MuonScale::original ? std::sqrt(std::max(1.0, m / n))
                                      : 0.2 * std::sqrt(std::max(m, n));
}

}  // namespace

std::string_view to_string(MuonScale scale) {
  return scale == MuonScale::original ? "original" : "match_rms_adamw";
}

template <Real Scalar>
Muon<Scalar>::Muon(const ParameterLayout& layout, const MuonOptions& options,
                   std::shared_ptr<const FirstOrderOptimizer<Scalar>> rest)
    : options_(options), rest_(std::move(rest)), dimension_(layout.size()) {
  require_fraction("momentum", options.momentum);
  require_not_negative("weight_decay", options.weight_decay);
  require_not_negative("rest_rate", options.rest_rate);
  if (!rest_) rest_ = std::make_shared<AdamW<Scalar>>();
  if (!rest_->entry_by_entry()) {
    throw InvalidArgument("rest", fmt::format("{}", rest_->name()),
                          "a rule that steps entry by entry, such as adamw or momentum");
  }
  for (const ParameterBlock& block : layout.blocks()) {
    slots_.push_back({block.offset, block.rows, block.cols, block.rows > 1 && block.cols > 1});
  }
  average_ = rest_->init(dimension_).buffers.size();
  if (options.others) {
    for (const std::string& name : *options.others) {
      try {
        slots_[slot_at(layout.block(name).offset)].matrix = false;
      } catch (const InvalidArgument& error) {
        throw InvalidArgument("others", error.detail());
      }
    }
  } else {
    const auto last =
        std::find_if(slots_.rbegin(), slots_.rend(), [](auto& s) { return s.matrix; });
    if (last != slots_.rend()) last->matrix = false;
  }
  for (const Slot& slot : slots_) {
    const Index order = std::min(slot.rows, slot.cols);
    if (slot.matrix) work_size_ = std::max(work_size_, slot.size() + 2 * order * order);
  }
}

template <Real Scalar>
std::size_t Muon<Scalar>::slot_at(Index first) const {
  // Slots without entries come before the one that begins where they do.
  const auto after =
      std::upper_bound(slots_.begin(), slots_.end(), first,
                       [](Index place, const Slot& slot) { return place < slot.offset; });
  if (after == slots_.begin() || std::prev(after)->offset != first) {
    throw std::logic_error(fmt::format("Muon: no slot of the layout begins at {}", first));
  }
  return static_cast<std::size_t>(std::prev(after) - slots_.begin());
}

template <Real Scalar>
double Muon<Scalar>::decoupled_decay(Index first) const {
  return slots_[slot_at(first)].matrix ? options_.weight_decay
                                       : options_.rest_rate * rest_->decoupled_decay(first);
}

template <Real Scalar>
OptimizerState<Scalar> Muon<Scalar>::init(Index dimension) const {
  if (dimension != dimension_) {
    throw InvalidArgument("dimension", fmt::format("{}", dimension),
                          fmt::format("{}, that of the layout", dimension_));
  }
  OptimizerState<Scalar> state = rest_->init(dimension);
  state.add("average", StateKind::cotangent, dimension);
  return state;
}

template <Real Scalar>
void Muon<Scalar>::orthogonalize(const Slot& slot, VectorOf<Scalar>& work, Out<Scalar> X) const {
  constexpr auto a = static_cast<Scalar>(newton_schulz_a), b = static_cast<Scalar>(newton_schulz_b),
                 c = static_cast<Scalar>(newton_schulz_c);
  using MatrixMap = Eigen::Map<MatrixOf<Scalar>>;
  const bool wide = slot.rows <= slot.cols;
  const Index order = std::min(slot.rows, slot.cols);
  Scalar *from = work.data(), *to = X.data();
  MatrixMap K(from + slot.size(), order, order), P(K.data() + K.size(), order, order);
  work.head(X.size()) = X / std::max(X.norm(), static_cast<Scalar>(smallest_norm));
  for (int step = 0; step < newton_schulz_steps; ++step) {
    const MatrixMap now(from, slot.rows, slot.cols);
    MatrixMap next(to, slot.rows, slot.cols);
    if (wide) {
      row_gram<Scalar>(now, K);
    } else {
      gram<Scalar>(now, K);
    }
    row_gram<Scalar>(K, P);  // K^2, as K is symmetric
    P = b * K + c * P;
    P.diagonal().array() += a;
    if (wide) {
      multiply<Scalar>(1, false, P, false, now, 0, next);
    } else {
      multiply<Scalar>(1, false, now, false, P, 0, next);
    }
    std::swap(from, to);
  }
}

template <Real Scalar>
void Muon<Scalar>::update(In<Scalar> w, In<Scalar> gradient, double learning_rate,
                          const StateRange<Scalar>& state, Out<Scalar> u) const {
  const auto mu = static_cast<Scalar>(options_.momentum);
  const auto decay = static_cast<Scalar>(learning_rate * options_.weight_decay);
  typename Workspaces<VectorOf<Scalar>>::Loan work(workspaces_);
  work->resize(work_size_);
  std::size_t i = slot_at(state.first());
  for (Index done = 0; done < state.size(); ++i) {
    const Slot& slot = slots_.at(i);
    const Index size = slot.size();
    if (done + size > state.size()) {
      throw std::logic_error(fmt::format("Muon: {} entries from {} on are not whole slots",
                                         state.size(), state.first()));
    }
    const auto g = gradient.segment(done, size), from = w.segment(done, size);
    auto step = u.segment(done, size);
    const StateRange<Scalar> range = state.part(done, size);
    done += size;
    if (!slot.matrix) {
      rest_->update(from, g, options_.rest_rate * learning_rate, range, step);
      continue;
    }
    auto B = range[average_];
    B = mu * B + (1 - mu) * g;
    if (options_.nesterov) {
      step = mu * B + (1 - mu) * g;
    } else {
      step = B;
    }
    orthogonalize(slot, *work, step);
    const double scale = scale_of(options_.scale, slot.rows, slot.cols);
    step = static_cast<Scalar>(learning_rate * scale) * step + decay * from;
  }
}

template <Real Scalar>
void Muon<Scalar>::bound_moments(const StateRange<Scalar>& state) const {
  rest_->bound_moments(state);  // what it remembers of Muon's matrices is zero
}

template class Muon<float>;
template class Muon<double>;

}  // namespace symport
