// SPDX-License-Identifier: MIT
#include "rosenbrock.hpp"

#include <torch/autograd.h>
#include <torch/types.h>

#include <cmath>
#include <random>

namespace {

using torch::Tensor;

constexpr int steps = 1000, period = 100, offset = 99, ascent_steps = 10;
constexpr double learning_rate = 1e-3, ascent_rate = 0.1, pi = 3.14159265358979323846;

Tensor value(const Tensor& x) {
  return 100 * (x[0].square() - x[1]).square() + (x[0] - 1).square();
}

/// x turned by an angle in the coordinates (10 (x1^2 - x2), x1 - 1).
Tensor turned(const Tensor& x, const Tensor& angle) {
  const Tensor u = 10 * (x[0].square() - x[1]), v = x[0] - 1;
  const Tensor c = angle.cos(), s = angle.sin();
  const Tensor u_new = c * u - s * v, v_new = s * u + c * v;
  return torch::stack({v_new + 1, (v_new + 1).square() - u_new / 10});
}

}  // namespace

double rosenbrock_run() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.0, pi);
  Tensor x = torch::tensor({-1.0, -1.0}, torch::kFloat64).requires_grad_();
  for (int t = 0; t < steps; ++t) {
    if (t % period == offset) {
      const Tensor start = x.detach();
      Tensor angle = torch::tensor(uniform(random), torch::kFloat64).requires_grad_();
      for (int k = 0; k < ascent_steps; ++k) {
        const Tensor there = turned(start, angle);
        const Tensor gradient = torch::autograd::grad({value(there)}, {there}, {}, true, true)[0];
        const Tensor ascent = torch::autograd::grad({gradient.square().sum()}, {angle})[0];
        torch::NoGradGuard guard;
        angle.add_(ascent, ascent_rate);
      }
      torch::NoGradGuard guard;
      x.copy_(turned(start, angle));
    }
    const Tensor gradient = torch::autograd::grad({value(x)}, {x})[0];
    torch::NoGradGuard guard;
    x.add_(gradient, -learning_rate);
  }
  return value(x).item<double>();
}
