// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/objectives.hpp"
#include "symport/core/parameter_layout.hpp"
#include "symport/symmetries/slot_symmetry.hpp"

namespace symport::testing {

/// A loss with a symmetry that is a list of slots.
struct SlotModel {
  std::string name;
  ParameterLayout layout;
  std::vector<SlotGroup> groups;
  std::shared_ptr<const Objective> objective;

  SlotSymmetry<double> symmetry() const { return {layout, groups, name}; }
};

/// Makes the loss from a callable of (a function name -> matrix of any number type).
template <class Loss>
SlotModel slot_model(std::string name, ParameterLayout layout, std::vector<SlotGroup> groups,
                     Loss loss) {
  auto objective = generic(layout.size(), [layout, loss](const auto& x) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return loss([&](const char* block) -> MatrixOf<T> {
      const ParameterBlock& b = layout.block(block);
      return Eigen::Map<const MatrixOf<T>>(x.data() + b.offset, b.rows, b.cols);
    });
  });
  return {std::move(name), std::move(layout), std::move(groups), std::move(objective)};
}

/// A fixed matrix of data as the number type of `like`.
template <class T>
MatrixOf<T> slot_data(Index rows, Index cols, std::uint64_t seed) {
  return Random(seed).normal_matrix(rows, cols).cast<T>();
}

/// How far the outputs are from fixed random targets.
template <class T>
T slot_loss(const MatrixOf<T>& outputs) {
  return (outputs - slot_data<T>(outputs.rows(), outputs.cols(), 99)).squaredNorm();
}

/// A B. Eigen's own products of dual numbers take seconds to compile.
template <class T>
MatrixOf<T> times(const MatrixOf<T>& A, const MatrixOf<T>& B) {
  MatrixOf<T> C(A.rows(), B.cols());
  for (Index j = 0; j < C.cols(); ++j) {
    for (Index i = 0; i < C.rows(); ++i) {
      T sum = 0.0 * A(i, 0);
      for (Index k = 0; k < A.cols(); ++k) sum += A(i, k) * B(k, j);
      C(i, j) = sum;
    }
  }
  return C;
}

template <class T, class F>
MatrixOf<T> mapped(MatrixOf<T> z, const F& f) {
  for (Index j = 0; j < z.cols(); ++j) {
    for (Index i = 0; i < z.rows(); ++i) z(i, j) = f(z(i, j));
  }
  return z;
}
inline constexpr auto leaky = [](const auto& x) { return x > 0.0 ? x : 0.1 * x; };
inline constexpr auto relu_squared = [](const auto& x) { return x > 0.0 ? x * x : 0.0 * x; };
inline constexpr auto silu = [](const auto& x) {
  using std::exp;
  return x / (1.0 + exp(-x));
};
inline constexpr auto odd = [](const auto& x) {
  using std::tanh;
  return tanh(x);
};

/// Channels x (positions of a kernel) of one input, each column the window of a position.
template <class T>
MatrixOf<T> windows(const MatrixOf<T>& image, Index width) {
  const Index positions = image.cols() - width + 1;
  MatrixOf<T> result(image.rows() * width, positions);
  for (Index t = 0; t < positions; ++t) {
    for (Index k = 0; k < width; ++k) {
      result.block(k * image.rows(), t, image.rows(), 1) = image.col(t + k);
    }
  }
  return result;
}

/// Two convolutions in one dimension, pooling by the mean of two, flattened channel by channel as
/// PyTorch does, and a linear layer. Kernels are out x in x width.
inline SlotModel convolution_model() {
  ParameterLayout layout;
  layout.add("K1", {3, 2, 3}).add("b1", 3).add("K2", {4, 3, 2}).add("b2", 4).add("V", 2, 8);
  return slot_model(
      "convolutions", layout,
      {{GroupKind::scaling, 3, {{"K1"}, {"b1"}, {"K2", 1, Representation::dual}}},
       {GroupKind::scaling,
        4,
        {{"K2"},
         {"b2"},
         {.tensor = "V", .axis = 1, .representation = Representation::dual, .repeat = 2}}}},
      [](const auto& block) {
        using T = typename decltype(block("K1"))::Scalar;
        MatrixOf<T> outputs(2, 3);
        for (Index sample = 0; sample < 3; ++sample) {
          const MatrixOf<T> image = slot_data<T>(2, 7, 10 + static_cast<std::uint64_t>(sample));
          MatrixOf<T> z = times(block("K1"), windows<T>(image, 3));
          for (Index t = 0; t < z.cols(); ++t) z.col(t) += block("b1");
          MatrixOf<T> y = times(block("K2"), windows<T>(mapped<T>(z, leaky), 2));
          for (Index t = 0; t < y.cols(); ++t) y.col(t) += block("b2");
          const MatrixOf<T> h = mapped<T>(y, leaky);
          MatrixOf<T> flat(8, 1);
          for (Index c = 0; c < 4; ++c) {
            for (Index p = 0; p < 2; ++p) {
              flat(2 * c + p, 0) = 0.5 * (h(c, 2 * p) + h(c, 2 * p + 1));
            }
          }
          outputs.col(sample) = times(block("V"), flat);
        }
        return slot_loss<T>(outputs);
      });
}

/// down (silu(gate x) * up x)
inline SlotModel gated_model() {
  ParameterLayout layout;
  layout.add("gate", 4, 3).add("up", 4, 3).add("down", 2, 4);
  return slot_model(
      "SwiGLU", layout, {{GroupKind::scaling, 4, {{"up"}, {"down", 1, Representation::dual}}}},
      [](const auto& block) {
        using T = typename decltype(block("up"))::Scalar;
        const MatrixOf<T> x = slot_data<T>(3, 4, 1);
        const MatrixOf<T> h =
            mapped<T>(times(block("gate"), x), silu).cwiseProduct(times(block("up"), x));
        return slot_loss<T>(times(block("down"), h));
      });
}

/// Squared ReLU: what goes in by s comes out by s^2.
inline SlotModel squared_relu_model() {
  ParameterLayout layout;
  layout.add("W1", 4, 3).add("b1", 4).add("W2", 2, 4);
  return slot_model("squared ReLU", layout,
                    {{GroupKind::scaling,
                      4,
                      {{"W1"}, {"b1"}, {"W2", 1, Representation::power, /*charge=*/-2.0}}}},
                    [](const auto& block) {
                      using T = typename decltype(block("W1"))::Scalar;
                      MatrixOf<T> z = times(block("W1"), slot_data<T>(3, 5, 2));
                      for (Index t = 0; t < z.cols(); ++t) z.col(t) += block("b1");
                      return slot_loss<T>(times(block("W2"), mapped<T>(z, relu_squared)));
                    });
}

/// Two heads of attention in one tensor each: scores by Q and K, values by V and O.
inline SlotModel attention_model() {
  ParameterLayout layout;
  layout.add("Q", 4, 3).add("K", 4, 3).add("V", 4, 3).add("O", 2, 4);
  std::vector<SlotGroup> groups;
  for (const Index head : {0, 1}) {
    const auto range = [&](const char* tensor, Index axis, Representation rho) {
      return Slot{.tensor = tensor,
                  .axis = axis,
                  .representation = rho,
                  .start = 2 * head,
                  .stop = 2 * head + 2};
    };
    groups.push_back(
        {GroupKind::general_linear,
         2,
         {range("K", 0, Representation::direct), range("Q", 0, Representation::dual)}});
    groups.push_back(
        {GroupKind::general_linear,
         2,
         {range("V", 0, Representation::direct), range("O", 1, Representation::dual)}});
  }
  return slot_model("attention", layout, groups, [](const auto& block) {
    using T = typename decltype(block("Q"))::Scalar;
    const MatrixOf<T> x = slot_data<T>(3, 3, 3);
    const auto exponential = [](const T& a) {
      using std::exp;
      return exp(a);
    };
    MatrixOf<T> values(4, 3);
    for (const Index head : {0, 1}) {
      const MatrixOf<T> q = times<T>(block("Q").middleRows(2 * head, 2), x);
      const MatrixOf<T> k = times<T>(block("K").middleRows(2 * head, 2), x);
      const MatrixOf<T> v = times<T>(block("V").middleRows(2 * head, 2), x);
      MatrixOf<T> weights = mapped<T>(times<T>(k.transpose(), q), exponential);
      for (Index t = 0; t < 3; ++t) {
        T sum = weights(0, t) + weights(1, t) + weights(2, t);
        for (Index s = 0; s < 3; ++s) weights(s, t) /= sum;
      }
      values.middleRows(2 * head, 2) = times(v, weights);
    }
    return slot_loss<T>(times(block("O"), values));
  });
}

/// A stream of unit length, written by E and read by R: any rotation of it is invisible.
inline SlotModel stream_model() {
  ParameterLayout layout;
  layout.add("E", 3, 4).add("b", 3).add("R", 2, 3);
  return slot_model("residual stream", layout,
                    {{GroupKind::orthogonal, 3, {{"E"}, {"b"}, {"R", 1, Representation::dual}}}},
                    [](const auto& block) {
                      using T = typename decltype(block("E"))::Scalar;
                      using std::sqrt;
                      MatrixOf<T> stream = times(block("E"), slot_data<T>(4, 3, 4));
                      for (Index t = 0; t < 3; ++t) {
                        stream.col(t) += block("b");
                        const T length = sqrt(stream.col(t).squaredNorm());
                        for (Index i = 0; i < 3; ++i) stream(i, t) /= length;
                      }
                      return slot_loss<T>(times(block("R"), stream));
                    });
}

/// One group on both axes of a tensor: u'A v under (A, v, u) -> (g A g^-1, g v, g^-T u).
inline SlotModel conjugation_model() {
  ParameterLayout layout;
  layout.add("A", 3, 3).add("v", 3).add("u", 3);
  return slot_model(
      "conjugation", layout,
      {{GroupKind::general_linear,
        3,
        {{"A"}, {"A", 1, Representation::dual}, {"v"}, {"u", 0, Representation::dual}}}},
      [](const auto& block) {
        using T = typename decltype(block("A"))::Scalar;
        const MatrixOf<T> A = block("A"), v = block("v"), u = block("u");
        const T once = times<T>(u.transpose(), times(A, v))(0, 0);
        const T twice = times<T>(u.transpose(), times(A, times(A, v)))(0, 0);
        return pow(once - 1.0, 2) + pow(twice + 2.0, 2) + pow(A.trace() - 0.5, 2);
      });
}

/// Odd units: signs, and permutations of other ones in the next layer; rescaling further up.
inline SlotModel mixed_model() {
  ParameterLayout layout;
  layout.add("W1", 3, 2).add("W2", 4, 3).add("W3", 3, 4).add("W4", 2, 3);
  return slot_model("a product of three groups", layout,
                    {{GroupKind::signs, 3, {{"W1"}, {"W2", 1, Representation::dual}}},
                     {GroupKind::permutations, 4, {{"W2"}, {"W3", 1, Representation::dual}}},
                     {GroupKind::scaling, 3, {{"W3"}, {"W4", 1, Representation::dual}}}},
                    [](const auto& block) {
                      using T = typename decltype(block("W1"))::Scalar;
                      MatrixOf<T> h = mapped<T>(times(block("W1"), slot_data<T>(2, 4, 5)), odd);
                      h = mapped<T>(times(block("W2"), h), silu);
                      h = mapped<T>(times(block("W3"), h), leaky);
                      return slot_loss<T>(times(block("W4"), h));
                    });
}

/// Low-rank adaptation: (W + B A) x, GL(2) in between.
inline SlotModel adapter_model() {
  ParameterLayout layout;
  layout.add("W", 3, 4).add("A", 2, 4).add("B", 3, 2);
  return slot_model("LoRA", layout,
                    {{GroupKind::general_linear, 2, {{"A"}, {"B", 1, Representation::dual}}}},
                    [](const auto& block) {
                      using T = typename decltype(block("W"))::Scalar;
                      const MatrixOf<T> W = block("W") + times(block("B"), block("A"));
                      return slot_loss<T>(times(W, slot_data<T>(4, 5, 6)));
                    });
}

/// A new symmetry that is a list of slots is a new row.
inline std::vector<SlotModel> slot_models() {
  return {convolution_model(), gated_model(),       squared_relu_model(), attention_model(),
          stream_model(),      conjugation_model(), mixed_model(),        adapter_model()};
}

}  // namespace symport::testing
