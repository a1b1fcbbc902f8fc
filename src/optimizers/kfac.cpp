// SPDX-License-Identifier: MIT
#include "symport/optimizers/kfac.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/cholesky.hpp"
#include "core/position.hpp"
#include "optimizers/model_targets.hpp"
#include "optimizers/option_checks.hpp"
#include "symport/core/gemm.hpp"
#include "symport/core/random.hpp"

namespace symport {

namespace {

/// The numbers at the beginning of `factors`.
struct KfacNumber {
  enum : Index {
    made,            ///< steps, as far as they matter to the averages
    since_inverses,  ///< steps
    drawn,           ///< steps that drew targets: the stream of the next one
    slope,           ///< <U, d(mean loss)/dW>
    place,           ///< two numbers, of where the last step ended
    place_too,
    count
  };
};

/// Steps between two inverses where they cost more than the batch.
constexpr Index usual_refresh = 10;

/// Of a backward pass without the products that form the gradient.
constexpr double kfac_pass_cost = 1.0 / 3.0;

/// The four matrices of a layer inside `factors`.
template <Real Scalar>
struct KfacLayer {
  Index inputs, outputs;  ///< orders of A and G
  Scalar* first;
  using Map = Eigen::Map<MatrixOf<Scalar>>;
  Map A() const { return {first, inputs, inputs}; }
  Map G() const { return {first + inputs * inputs, outputs, outputs}; }
  Map A_inverse() const { return {first + inputs * inputs + outputs * outputs, inputs, inputs}; }
  Map G_inverse() const {
    return {first + 2 * inputs * inputs + outputs * outputs, outputs, outputs};
  }
  Index size() const { return 2 * (inputs * inputs + outputs * outputs); }
  /// Both inverses cost no more than what is done with the n samples.
  bool cheap_inverses(Index n) const {
    const double a = static_cast<double>(inputs), g = static_cast<double>(outputs);
    return a * a * a + g * g * g <= static_cast<double>(n) * (a + g) * (a + g);
  }
};

template <Real Scalar>
std::vector<KfacLayer<Scalar>> kfac_layers(const Mlp& network, Scalar* first) {
  std::vector<KfacLayer<Scalar>> layers;
  first += KfacNumber::count;
  for (Index m = 1; m <= network.layers(); ++m) {
    layers.push_back({network.augmented_width(m - 1), network.width(m), first});
    first += layers.back().size();
  }
  return layers;
}

/// average <- e average + (1 - e) product / n
template <Real Scalar>
void mix(Eigen::Map<MatrixOf<Scalar>> average, double e, Index n, const MatrixOf<Scalar>& product) {
  const auto share = static_cast<Scalar>((1.0 - e) / static_cast<double>(n));
  if (e == 0.0) {
    average = share * product;
  } else {
    average = static_cast<Scalar>(e) * average + share * product;
  }
}

/// Two whole numbers below 2^20 that hardly any two vectors share, entries and order alike.
template <Real Scalar>
std::array<Scalar, 2> fingerprint(In<Scalar> w) {
  using Bits = std::conditional_t<std::same_as<Scalar, float>, std::uint32_t, std::uint64_t>;
  std::uint64_t sum = 0;
  for (Index i = 0; i < w.size(); ++i) {
    const auto odd = 0x9E3779B97F4A7C15u + 2u * static_cast<std::uint64_t>(i);
    std::uint64_t bits = std::bit_cast<Bits>(w[i]) * odd;
    sum += bits ^ (bits >> 32);
  }
  sum *= 0xBF58476D1CE4E5B9u;
  return {static_cast<Scalar>(sum >> 44), static_cast<Scalar>((sum >> 24) & 0xFFFFFu)};
}

/// inverse <- (A + shift I)^-1. Should rounding have made the sum indefinite, the shift grows until
/// it is not. Nothing changes where A is not finite.
template <Real Scalar>
void invert_shifted(const Eigen::Map<MatrixOf<Scalar>>& A, double shift,
                    Eigen::Map<MatrixOf<Scalar>> inverse) {
  using Limits = std::numeric_limits<Scalar>;
  const double rounding =
      10.0 * static_cast<double>(Limits::epsilon()) * static_cast<double>(A.diagonal().maxCoeff());
  shift = std::max({shift, rounding, static_cast<double>(Limits::min())});
  MatrixOf<Scalar> sum;
  for (; std::isfinite(static_cast<Scalar>(shift)); shift *= 10.0) {
    sum = A;
    sum.diagonal().array() += static_cast<Scalar>(shift);
    if (!cholesky<Scalar>(sum)) continue;
    invert_cholesky<Scalar>(sum);
    inverse = sum;
    return;
  }
}

}  // namespace

std::string_view to_string(Fisher fisher) {
  switch (fisher) {
    case Fisher::sampled:
      return "sampled";
    case Fisher::exact:
      return "exact";
    case Fisher::empirical:
      return "empirical";
  }
  return "unknown";
}

template <Real Scalar>
Kfac<Scalar>::Kfac(Mlp network, const KfacOptions& options)
    : network_(std::move(network)), options_(options) {
  require_not_negative("damping", options.damping);
  require_fraction("decay", options.decay);
  require_not_negative("refresh", static_cast<double>(options.refresh));
  require_fraction("momentum", options.momentum);
  require_not_negative("kl_clip", options.kl_clip);
  factors_size_ = KfacNumber::count;
  for (const auto& layer : kfac_layers<Scalar>(network_, nullptr)) factors_size_ += layer.size();
}

template <Real Scalar>
OptimizerState<Scalar> Kfac<Scalar>::init(Index dimension) const {
  if (dimension != network_.parameters()) {
    throw InvalidArgument("dimension", fmt::format("{}", dimension),
                          fmt::format("{}, that of the network", network_.parameters()));
  }
  OptimizerState<Scalar> state;
  state.add("velocity", StateKind::tangent, dimension);
  state.add("factors", StateKind::scalar, factors_size_);
  return state;
}

template <Real Scalar>
double Kfac<Scalar>::more_passes() const {
  switch (options_.fisher) {
    case Fisher::sampled:
      return kfac_pass_cost;
    case Fisher::exact:
      return kfac_pass_cost * static_cast<double>(network_.width(network_.layers()));
    case Fisher::empirical:
      break;
  }
  return 0.0;
}

template <Real Scalar>
double Kfac<Scalar>::preview_evaluations(Index) const {
  return 1.0 + more_passes();
}

template <Real Scalar>
void Kfac<Scalar>::output_factors(const MlpObjective<Scalar>& mlp, In<Scalar> w, Index step,
                                  const MlpStates<Scalar>& states,
                                  std::vector<MatrixOf<Scalar>>& sums) const {
  const Index p = network_.layers(), n = mlp.samples();
  const Loss& loss = mlp.loss();
  MatrixOf<Scalar> delta, below, product;
  const auto add = [&](Index m, const MatrixOf<Scalar>& of) {
    product.resize(of.rows(), of.rows());
    row_gram<Scalar>(of, product);
    MatrixOf<Scalar>& sum = sums[at(m)];
    if (sum.size() == 0) {
      sum = product;
    } else {
      sum += product;
    }
  };
  if (options_.fisher == Fisher::empirical) {
    const Scalar to_sample =
        loss.reduction() == Loss::Reduction::mean ? static_cast<Scalar>(n) : Scalar(1);
    for (Index m = 1; m <= p; ++m) {
      add(m, states.delta[at(m)]);
      sums[at(m)] *= to_sample * to_sample;
    }
    return;
  }
  const auto pass = [&] {
    for (Index m = p; m >= 1; --m) {
      add(m, delta);
      if (m == 1) break;
      below.resize(network_.width(m - 1), n);
      multiply<Scalar>(1, true, network_.weights(m, w.data()), false, delta, 0, below);
      network_.activation().template scale_by_slope<Scalar>(states.z[at(m - 1)], below);
      delta.swap(below);
    }
  };
  const MatrixOf<Scalar>& z = states.z[at(p)];
  if (options_.fisher == Fisher::sampled) {
    Random random(options_.seed, static_cast<std::uint64_t>(step));
    sample_delta<Scalar>(loss, z, random, delta);
    pass();
    return;
  }
  MatrixOf<Scalar> outputs = z;
  if (loss.categorical()) softmax<Scalar>(z, outputs);
  for (Index k = 0; k < z.rows(); ++k) {
    exact_delta<Scalar>(loss, outputs, k, delta);
    pass();
  }
}

template <Real Scalar>
const MlpObjective<Scalar>& Kfac<Scalar>::network_of(
    const BasicObjective<Scalar>& objective) const {
  const MlpObjective<Scalar>* mlp = objective.mlp();
  if (!mlp || mlp->network().widths() != network_.widths() ||
      mlp->network().biases() != network_.biases()) {
    throw InvalidArgument("objective", mlp ? "another network" : "not a network",
                          "the network that this K-FAC was made for");
  }
  return *mlp;
}

template <Real Scalar>
void Kfac<Scalar>::find_direction(const MlpObjective<Scalar>& mlp, In<Scalar> w,
                                  const MlpStates<Scalar>& states, VectorOf<Scalar>& factors,
                                  Out<Scalar> u) const {
  const Index p = network_.layers(), n = mlp.samples();
  std::vector<MatrixOf<Scalar>> sums(at(p) + 1);
  output_factors(mlp, w, static_cast<Index>(factors[KfacNumber::drawn]), states, sums);
  factors[KfacNumber::drawn] += Scalar(1);

  // Somebody has moved the parameters: what was gathered belongs to other coordinates.
  const auto [place, place_too] = fingerprint<Scalar>(w);
  if (factors[KfacNumber::place] != place || factors[KfacNumber::place_too] != place_too) {
    factors[KfacNumber::made] = factors[KfacNumber::since_inverses] = Scalar(0);
  }
  const bool automatic = options_.refresh == 0;
  const auto refresh = static_cast<Scalar>(automatic ? usual_refresh : options_.refresh);
  const double t = static_cast<double>(factors[KfacNumber::made]) + 1.0;
  const double e = std::min(1.0 - 1.0 / t, options_.decay);
  factors[KfacNumber::since_inverses] += Scalar(1);
  // Where both have reached their limits, more steps make no difference.
  if (1.0 - 1.0 / t < options_.decay || factors[KfacNumber::made] < Scalar(2) * refresh) {
    factors[KfacNumber::made] += Scalar(1);
  }
  // In the beginning there are new inverses when there is twice as much to know as at the last
  // ones.
  const bool due =
      factors[KfacNumber::since_inverses] >=
      std::min(factors[KfacNumber::made] - factors[KfacNumber::since_inverses], refresh);
  if (due) factors[KfacNumber::since_inverses] = Scalar(0);
  factors[KfacNumber::slope] = Scalar(0);

  const Scalar to_mean =
      Scalar(1) /
      (mlp.loss().reduction() == Loss::Reduction::mean ? Scalar(1) : static_cast<Scalar>(n));
  MatrixOf<Scalar> product, left, right;
  const auto layers = kfac_layers<Scalar>(network_, factors.data());
  for (Index m = 1; m <= p; ++m) {
    const KfacLayer<Scalar>& layer = layers[at(m - 1)];
    const MatrixOf<Scalar>&h = mlp.h(m - 1, states), &delta = states.delta[at(m)];
    const Index a = layer.inputs, g = layer.outputs;
    product.resize(a, a);
    row_gram<Scalar>(h, product);
    mix<Scalar>(layer.A(), e, n, product);
    mix<Scalar>(layer.G(), e, n, sums[at(m)]);
    if (due || (automatic && layer.cheap_inverses(n))) {
      const double mean_a = static_cast<double>(layer.A().trace()) / static_cast<double>(a);
      const double mean_g = static_cast<double>(layer.G().trace()) / static_cast<double>(g);
      double pi = std::sqrt(mean_a / mean_g);
      // A layer without inputs or without effect has no ratio.
      if (!(pi > 0.0 && std::isfinite(pi))) pi = 1.0;
      const double root = std::sqrt(options_.damping);
      invert_shifted<Scalar>(layer.A(), pi * root, layer.A_inverse());
      invert_shifted<Scalar>(layer.G(), root / pi, layer.G_inverse());
    }
    auto U = network_.augmented(m, u.data());
    if (n * (a * a + g * g) < a * g * (a + g)) {  // (G^-1 delta) (A^-1 h)'
      left.resize(g, n);
      right.resize(a, n);
      multiply<Scalar>(to_mean, false, layer.G_inverse(), false, delta, 0, left);
      multiply<Scalar>(1, false, layer.A_inverse(), false, h, 0, right);
      multiply<Scalar>(1, false, left, true, right, 0, U);
    } else {  // G^-1 (delta h') A^-1
      left.resize(g, a);
      right.resize(g, a);
      multiply<Scalar>(to_mean, false, delta, true, h, 0, left);
      multiply<Scalar>(1, false, layer.G_inverse(), false, left, 0, right);
      multiply<Scalar>(1, false, right, false, layer.A_inverse(), 0, U);
    }
    if (options_.kl_clip > 0.0) {  // <U, delta h'> = <delta, U h>
      left.resize(g, n);
      multiply<Scalar>(to_mean, false, U, false, h, 0, left);
      factors[KfacNumber::slope] += left.cwiseProduct(delta).sum();
    }
  }
}

template <Real Scalar>
void Kfac<Scalar>::apply(In<Scalar> u, double learning_rate, OptimizerState<Scalar>& state,
                         Out<Scalar> w) const {
  VectorOf<Scalar>& velocity = state["velocity"];
  double nu = 1.0;
  if (options_.kl_clip > 0.0) {
    const double change =
        learning_rate * learning_rate * static_cast<double>(state["factors"][KfacNumber::slope]);
    if (change > options_.kl_clip) nu = std::sqrt(options_.kl_clip / change);
  }
  velocity = static_cast<Scalar>(options_.momentum) * velocity + static_cast<Scalar>(nu) * u;
  w -= static_cast<Scalar>(learning_rate) * velocity;
  const auto [place, place_too] = fingerprint<Scalar>(w);
  state["factors"][KfacNumber::place] = place;
  state["factors"][KfacNumber::place_too] = place_too;
  ++state.count;
}

template <Real Scalar>
StepOutcome Kfac<Scalar>::step(const BasicObjective<Scalar>& objective, MeasuredPoint<Scalar>& here,
                               double learning_rate, OptimizerState<Scalar>& state,
                               Out<Scalar> w) const {
  VectorOf<Scalar> u(w.size());
  find_direction(network_of(objective), w, here.states, state["factors"], u);
  objective.note_work(more_passes());
  apply(u, learning_rate, state, w);
  return {true, learning_rate, more_passes()};
}

template <Real Scalar>
double Kfac<Scalar>::minibatch_step(const BatchObjective<Scalar>& objective, double learning_rate,
                                    OptimizerState<Scalar>& state, Out<Scalar> w,
                                    double* evaluations) const {
  const MlpObjective<Scalar>& mlp = network_of(objective);
  MlpStates<Scalar> states;
  const double loss = mlp.backpropagate(w, states);
  VectorOf<Scalar> u(w.size());
  find_direction(mlp, w, states, state["factors"], u);
  apply(u, learning_rate, state, w);
  if (evaluations) *evaluations = 1.0 + more_passes();
  return loss;
}

template class Kfac<float>;
template class Kfac<double>;

}  // namespace symport
