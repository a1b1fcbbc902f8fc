// SPDX-License-Identifier: MIT
// A symmetry of one's own, given by its slots alone: a SwiGLU block, down (silu(gate x) * up x), is
// linear in `up` and in `down`, so each hidden unit may be scaled in one and unscaled in the other.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <symport/symport.hpp>
#include <symport/testing/check_symmetry.hpp>

namespace {

using namespace symport;

constexpr Index inputs = 4, units = 6, outputs = 2, samples = 20;

ParameterLayout layout() {
  ParameterLayout names;
  names.add("gate", units, inputs).add("up", units, inputs).add("down", outputs, units);
  return names;
}

/// The squared error of the block on fixed data, for any number type.
struct BlockLoss {
  ParameterLayout names = layout();
  Matrix X = Random(1).normal_matrix(inputs, samples);
  Matrix Y = Random(2).normal_matrix(outputs, samples);

  template <class T>
  T operator()(const VectorOf<T>& w) const {
    using std::exp;
    const auto tensor = [&](const char* name) {
      const ParameterBlock& b = names.block(name);
      return Eigen::Map<const MatrixOf<T>>(w.data() + b.offset, b.rows, b.cols);
    };
    const MatrixOf<T> x = X.cast<T>();
    MatrixOf<T> gate = tensor("gate") * x;
    for (T& z : gate.reshaped()) z = z / (1.0 + exp(-z));
    const MatrixOf<T> hidden = gate.cwiseProduct(MatrixOf<T>(tensor("up") * x));
    const MatrixOf<T> error = tensor("down") * hidden - Y.cast<T>();
    return error.squaredNorm() / static_cast<double>(samples);
  }
};

}  // namespace

int main() {
  const GenericObjective objective(layout().size(), BlockLoss());
  // Unit i: row i of `up` times s_i, column i of `down` divided by s_i.
  const SlotSymmetry<double> symmetry(
      layout(),
      {{GroupKind::scaling,
        units,
        {{.tensor = "up"}, {.tensor = "down", .axis = 1, .representation = Representation::dual}}}},
      "up and down");

  // An uneven start: small numbers in `up`, large ones in `down`.
  Random random(3);
  Vector start = random.normal_matrix(objective.dimension(), 1);
  ParameterLayout::view(layout().block("up"), start.data()) *= 0.05;

  const auto laws = testing::check_symmetry(symmetry, objective, start, random);
  std::cout << "all laws hold: " << (laws ? "yes" : laws.detail) << '\n';

  // silu is not homogeneous: with `gate` instead of `up` it is no symmetry, and the library says
  // so.
  const SlotSymmetry<double> wrong(
      layout(),
      {{GroupKind::scaling,
        units,
        {{.tensor = "gate"},
         {.tensor = "down", .axis = 1, .representation = Representation::dual}}}},
      "gate and down");
  const auto refused = wrong.orbit(objective, start);
  std::cout << (refused ? "accepted" : refused.reason()) << '\n';

  const auto loss_after = [&](const Teleportation<double>& teleport) {
    Vector w = start;
    return train(objective, GradientDescent{}, w,
                 {.max_steps = 100, .learning_rate = 0.01, .teleport = teleport})
        .final_loss;
  };
  const double plain = loss_after({});
  const double teleported = loss_after({.symmetry = &symmetry, .schedule = every(20)});
  std::cout << "loss after 100 steps: " << plain << " without, " << teleported
            << " with a teleport every 20 steps\n";
  return laws && !refused && teleported < plain ? EXIT_SUCCESS : EXIT_FAILURE;
}
