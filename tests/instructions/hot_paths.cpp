// SPDX-License-Identifier: MIT
// hot_paths PATH REPETITIONS: does that work on 784-512-512-10 with a batch of 20, float.
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <symport/symport.hpp>

#include "objectives/mlp_hessian.hpp"

int main(int argc, char** argv) {
  using namespace symport;
  if (argc != 3) return 2;
  const std::string_view path = argv[1];
  const int repetitions = std::atoi(argv[2]);

  Random random(1);
  const Mlp network({784, 512, 512, 10}, Activation::parse("leaky_relu:0.1"));
  VectorOf<float> w = initialize<float>(network, Initialization::fan_in, random);
  const MatrixOf<float> X = random.normal_matrix(784, 20).cast<float>();
  std::vector<int> classes;
  for (int i = 0; i < 20; ++i) classes.push_back(i % 10);
  const MlpObjective<float> objective(network, Loss::parse("cross_entropy"), X, classes);
  constexpr double rate = 1e-2;

  if (path == "sgd_step") {
    for (int i = 0; i < repetitions; ++i) objective.gradient_step(w, rate);
  } else if (path == "adam_step") {
    const Adam<float> adam;
    OptimizerState<float> state = adam.init(w.size());
    MeasuredPoint<float> here;
    for (int i = 0; i < repetitions; ++i) {
      adam.measure(objective, w, here);
      adam.step(objective, here, 1e-4, state, w);
    }
  } else if (path == "ascent_gradient_norm" || path == "ascent_predicted_decrease") {
    const bool with_curvature = path == "ascent_predicted_decrease";
    const auto orbit = GeneralLinear<float>().orbit(objective, w);
    for (int i = 0; i < repetitions; ++i) {
      orbit->aim({rate, with_curvature ? -0.5 * rate * rate : 0.0});
      orbit->move(0.05);
      orbit->grad_sq();
      if (with_curvature) orbit->curvature();
    }
  } else if (path == "rescale") {
    const ClosedFormSearch search({.kappa = 1.5});
    for (int i = 0; i < repetitions; ++i) {
      VectorOf<float> moved = w;
      const auto orbit = PositiveScalingSymmetry<float>().orbit(objective, moved);
      teleport<float>(objective, *orbit, search, {.cap = HUGE_VAL}, random, moved);
    }
  } else if (path == "largest_curvature") {
    for (int i = 0; i < repetitions; ++i)
      MlpHessian<float>(objective, w).largest_eigenvalue(12, 0.0);
  } else {
    std::fprintf(stderr, "hot_paths: unknown path '%s'\n", argv[1]);
    return 2;
  }
}
