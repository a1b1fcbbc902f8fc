// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "symport/objectives/initialization.hpp"
#include "symport/objectives/mlp_objective.hpp"

namespace symport::testing {

template <class Scalar>
MatrixOf<Scalar> random_matrix(Index rows, Index cols, Random& random) {
  return random.normal_matrix(rows, cols).cast<Scalar>();
}

template <class Scalar>
Targets<Scalar> random_targets(const Loss& loss, Index outputs, Index samples, Random& random) {
  if (!loss.categorical()) return random_matrix<Scalar>(outputs, samples, random);
  std::vector<int> classes;
  for (Index i = 0; i < samples; ++i) classes.push_back(static_cast<int>(random.below(outputs)));
  return classes;
}

/// A network with a random batch and random parameters.
template <class Scalar>
struct Problem {
  MlpObjective<Scalar> objective;
  VectorOf<Scalar> w;
};

template <class Scalar>
Problem<Scalar> random_problem(std::vector<Index> widths, const std::string& activation,
                               const std::string& loss, bool biases, Index samples,
                               Random& random) {
  const Mlp network(std::move(widths), Activation::parse(activation), biases);
  const Loss measure = Loss::parse(loss);
  const MatrixOf<Scalar> X = random_matrix<Scalar>(network.width(0), samples, random);
  const Targets<Scalar> targets =
      random_targets<Scalar>(measure, network.width(network.layers()), samples, random);
  VectorOf<Scalar> w = initialize<Scalar>(network, Initialization::glorot, random);
  // Biases start at 0 there; a test should see them.
  w += Scalar(0.1) * random_matrix<Scalar>(w.size(), 1, random).col(0);
  return {MlpObjective<Scalar>(network, measure, X, targets), w};
}

}  // namespace symport::testing
