// SPDX-License-Identifier: MIT
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

// What the program is asked to do with networks. As in PyTorch, rows are samples and a layer is x
// W'.

using Tensors = std::vector<torch::Tensor>;

struct Problem {
  Tensors weights;       ///< W_m, out x in
  torch::Tensor X;       ///< samples x features
  torch::Tensor target;  ///< classes, or numbers (samples x outputs)

  bool classes() const { return target.scalar_type() == torch::kInt64; }
};

/// Reads DIR/W1, W2, ... (row-major), X and y or Y as they are in memory.
Problem read_problem(const std::string& directory, const std::vector<std::int64_t>& widths,
                     std::int64_t samples, bool classes, torch::ScalarType type);

torch::Tensor loss(const Tensors& weights, const torch::Tensor& X, const torch::Tensor& target);

/// One step of plain SGD; returns the loss before it.
double sgd_step(Tensors& weights, const torch::Tensor& X, const torch::Tensor& target, double rate);
/// Steps of torch::optim's AdaGrad or Adam; returns the loss before the last one.
double optimizer_steps(const std::string& name, const Problem& problem, int steps, double rate);

/// h_0 ... h_(p-1) and z_1 ... z_(p-1) of a batch.
struct States {
  Tensors h, z;
};

/// Objectives of a teleport: J = |dL/dw|^2 (rate = 0), or rate J - rate^2/2 Phi.
struct Ascent {
  double value = 0.0;
  Tensors gradient;  ///< in T_m, at g_m = I + T_m = I
};
class Teleport {
 public:
  /// Keeps the left inverse of the inputs, which no step changes.
  explicit Teleport(const Problem& problem);
  /// Objective and its gradient at the weights (requires three derivatives of the loss if rate >
  /// 0).
  Ascent evaluate(double rate);
  /// One ascent step of the given scale-free length; returns the objective before it.
  double step(double rate, double length);
  const Tensors& weights() const { return weights_; }

 private:
  const Problem& problem_;
  Tensors weights_;
  torch::Tensor inputs_inverse_;
  States states_;     ///< at the last evaluation
  Tensors inverses_;  ///< of h_0 ... h_(p-2) there
};
