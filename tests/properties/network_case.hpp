// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include <optional>
#include <string>
#include <vector>

#include "symport/core/random.hpp"
#include "symport/objectives/mlp_objective.hpp"
#include "symport/search/criterion.hpp"

namespace symport::testing {

/// A whole number from low to high, each as likely; shrinks towards low.
inline int drawn(int low, int high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high + 1));
}
template <class Item>
Item drawn_from(const std::vector<Item>& items) {
  return items[static_cast<std::size_t>(drawn(0, static_cast<int>(items.size()) - 1))];
}
/// 10^low to 10^high; shrinks towards 1.
inline double drawn_scale(int low, int high) {
  const int tenths = drawn(0, 10 * std::max(high, -low));
  const bool negative = low < 0 && (high <= 0 || drawn(0, 1) == 1);
  return std::pow(10.0,
                  std::clamp((negative ? -tenths : tenths) / 10.0, double(low), double(high)));
}

/// A network, a batch, weights and a teleport, all random.
struct NetworkCase {
  std::string symmetry, activation, loss, search, optimizer, data, weights;
  std::vector<Index> widths;
  Index samples = 1;
  bool single = false, biases = false, partial = false, prepared = false, unbounded = false;
  double weight_scale = 1.0, layer_contrast = 1.0, input_scale = 1.0, target_scale = 1.0;
  double learning_rate = 1e-3, bound = std::numeric_limits<double>::infinity();
  double search_rate = 0.1, kappa = 0.0, tolerance = 0.0, nearness = 1e-3;
  std::optional<double> cap;
  std::optional<Index> max_rank;
  ObjectiveKind objective = ObjectiveKind::predicted_decrease;
  int state = 0;
  std::uint64_t seed = 0;

  std::string name() const {
    return symmetry + (partial ? " partial" : "") + (unbounded ? " unbounded" : "") +
           (single ? ", float" : ", double");
  }
  /// Whether the search takes only what its criterion prefers to the start.
  bool prefers() const {
    return search == "auto" || search == "ascent" || search == "random" ||
           (search == "closed" && kappa == 0.0);
  }
  std::string text() const {
    return fmt::format(
        "{} {} activation {} loss {} widths {} samples {} biases {} data {} (nearness {}) weights "
        "{} scale {} contrast {} inputs {} targets {} rate {} objective {} bound {} cap {} search "
        "{} rate {} kappa {} max_rank {} tolerance {} optimizer {} prepared {} state {} seed {}",
        symmetry, single ? "float" : "double", activation, loss, fmt::join(widths, ","), samples,
        biases, data, nearness, weights, weight_scale, layer_contrast, input_scale, target_scale,
        learning_rate, to_string(objective), bound, cap.value_or(-1), search, search_rate, kappa,
        max_rank.value_or(-1), tolerance, optimizer, prepared, state, seed);
  }
};

inline NetworkCase draw_network_case(const std::string& symmetry) {
  NetworkCase c;
  c.symmetry = symmetry;
  c.seed = static_cast<std::uint64_t>(
      *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40)));
  c.single = drawn(0, 1) == 1;
  c.biases = drawn(0, 1) == 1;
  const bool bound_to_batch = symmetry == "gl" || symmetry == "paper";
  using Names = std::vector<std::string>;
  // Now and then one that does not suit the symmetry.
  const Names any{"linear", "leaky_relu",    "leaky_relu:0.01",  "relu", "tanh", "sigmoid",
                  "asinh",  "tanh_extended", "sigmoid_extended", "gelu"};
  const Names suited =
      symmetry == "rescale"     ? Names{"leaky_relu", "relu", "linear", "leaky_relu:0.01"}
      : symmetry == "linear_gl" ? Names{"linear"}
      : symmetry == "sign_flip" ? Names{"tanh", "linear", "asinh", "tanh_extended"}
      : symmetry == "permutation"
          ? any
          : Names{"leaky_relu",       "linear",          "asinh",         "tanh_extended",
                  "sigmoid_extended", "leaky_relu:0.01", "leaky_relu:30", "tanh_extended:1"};
  c.activation = drawn_from(drawn(0, 30) == 30 ? any : suited);

  // Widths: for a symmetry bound to the batch around what the batch needs, else anything.
  c.samples = drawn(1, 9);
  const int hidden = drawn(1, 3);
  const auto need = static_cast<int>(c.samples) - (c.biases ? 1 : 0);
  for (int m = 0; m <= hidden; ++m) {
    const bool below_a_moved_layer = m < hidden && bound_to_batch;
    const int spare = drawn_from<int>({0, 0, 1, 2, 5, 0, 1, 3, 4, -1});  // -1: one above the limit
    c.widths.push_back(below_a_moved_layer ? std::max(1, need + spare) : drawn(1, 9));
  }
  c.widths.push_back(drawn(1, 5));
  c.partial = symmetry == "gl" && drawn(0, 4) == 4;

  c.loss =
      drawn_from<std::string>({"half_sum_squares:sum", "cross_entropy:mean", "mean_squares:mean",
                               "half_sum_squares:mean", "cross_entropy:sum", "mean_squares:sum"});
  c.data = drawn_from<std::string>({"normal", "normal", "normal", "zero pixels", "near copies",
                                    "one copy", "copies", "zero samples", "zero", "positive"});
  c.nearness = drawn_scale(-12, 0);
  c.weights = drawn_from<std::string>({"normal", "normal", "normal", "normal", "at the minimum",
                                       "near the minimum", "saturated", "dead units", "zero",
                                       "zero last layer"});
  // Half of the cases are of ordinary size.
  if (drawn(0, 1) == 1) {
    c.weight_scale = drawn_scale(-6, 6);
    c.layer_contrast = drawn_scale(-6, 6);
    c.input_scale = drawn_scale(-6, 6);
    c.target_scale = drawn_scale(-6, 6);
  }
  c.learning_rate = drawn_scale(-6, 1);
  c.objective = drawn_from<ObjectiveKind>(
      {ObjectiveKind::predicted_decrease, ObjectiveKind::gradient_norm, ObjectiveKind::decrement});
  const int cap = drawn(0, 2);
  if (cap == 1) c.cap = std::numeric_limits<double>::infinity();
  if (cap == 2) c.cap = drawn_from<double>({1.0, 0.1, 10.0});
  if (drawn(0, 3) == 3) c.bound = drawn_from<double>({1.0, 0.1, 1.9});
  const bool closed = symmetry == "rescale" || symmetry == "linear_gl";
  c.search = drawn_from(closed ? Names{"closed", "auto", "ascent", "random", "any element", "fixed"}
                        : symmetry == "gl"    ? Names{"auto", "ascent", "fixed", "ascent"}
                        : symmetry == "paper" ? Names{"fixed", "ascent"}
                                              : Names{"random", "any element", "ascent"});
  c.search_rate = drawn_scale(-9, 1);
  if (c.search == "closed" && drawn(0, 1) == 1) c.kappa = 1.0 + drawn_scale(-3, 6);
  if (symmetry == "gl") c.max_rank = drawn_from<std::optional<Index>>({std::nullopt, 0, 1, 3});
  // The paper's action keeps nothing; with a tolerance it must, or be refused.
  if (symmetry == "paper") c.tolerance = drawn(0, 2) == 0 ? 0.0 : c.single ? 1e-4 : 1e-8;
  c.optimizer = drawn_from<std::string>({"gd", "gd", "momentum", "adam", "gd auto"});
  c.prepared = drawn(0, 1) == 1;
  c.state = drawn(0, 2);
  return c;
}

/// A linear network of ordinary size whose gradient is to grow as it can: no cap and no bound hold
/// the weights back.
inline NetworkCase draw_unbounded_case(const std::string& symmetry) {
  NetworkCase c = draw_network_case(symmetry);
  c.unbounded = true;
  c.activation = "linear";
  c.objective = ObjectiveKind::gradient_norm;
  c.cap = std::numeric_limits<double>::infinity();
  c.bound = std::numeric_limits<double>::infinity();
  c.weight_scale = c.layer_contrast = c.input_scale = c.target_scale = 1.0;
  return c;
}

/// The batch of a case, in double; a float case rounds it.
struct Batch {
  Matrix X, Y;
  std::vector<int> classes;
};

inline Batch make_batch(const NetworkCase& c, Random& random) {
  const Index features = c.widths.front(), outputs = c.widths.back(), n = c.samples;
  Batch batch{random.normal_matrix(features, n), random.normal_matrix(outputs, n), {}};
  for (Index i = 0; i < n; ++i) batch.classes.push_back(static_cast<int>(random.below(outputs)));
  Matrix& X = batch.X;
  if (c.data == "zero") X.setZero();
  if (c.data == "positive") X = X.cwiseAbs();
  if (c.data == "zero pixels") {
    for (Index k = 0; k < features; k += 2) X.row(k).setZero();
  }
  if (c.data == "zero samples") X.col(random.below(n)).setZero();
  if (c.data == "one copy") X.col(n - 1) = X.col(0);
  if (c.data == "copies") X.colwise() = Vector(X.col(0));
  if (c.data == "near copies") {
    X = c.nearness * X;
    X.colwise() += random.normal_matrix(features, 1).col(0);
  }
  X *= c.input_scale;
  batch.Y *= c.target_scale;
  return batch;
}

inline Vector make_weights(const NetworkCase& c, const Mlp& network, Random& random) {
  Vector w = random.normal_matrix(network.parameters(), 1);
  for (Index m = 1; m <= network.layers(); ++m) {
    auto W = network.augmented<double>(m, w.data());
    W /= std::sqrt(static_cast<double>(W.cols()));
    W *= m % 2 == 1 ? c.layer_contrast : 1.0 / c.layer_contrast;
    if (c.weights == "dead units" && m < network.layers()) W.row(0).setZero();
    if (c.weights == "zero last layer" && m == network.layers()) W.setZero();
  }
  if (c.weights == "zero") w.setZero();
  if (c.weights == "saturated") w *= 30.0;
  return c.weight_scale * w;
}

}  // namespace symport::testing
