// SPDX-License-Identifier: MIT
#include "network.hpp"

#include <torch/autograd.h>
#include <torch/linalg.h>
#include <torch/optim.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace {

constexpr double slope = 0.1;

torch::Tensor read_tensor(const std::string& path, torch::IntArrayRef shape,
                          torch::ScalarType type) {
  torch::Tensor tensor = torch::empty(shape, type);
  std::ifstream file(path, std::ios::binary);
  file.read(static_cast<char*>(tensor.data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
  if (!file) throw std::runtime_error(path + ": too short or missing");
  return tensor;
}

torch::Tensor sigma(const torch::Tensor& z) { return torch::leaky_relu(z, slope); }
torch::Tensor sigma_inverse(const torch::Tensor& h) { return torch::leaky_relu(h, 1.0 / slope); }

Tensors parameters(const Tensors& weights) {
  Tensors copies;
  for (const torch::Tensor& W : weights) copies.push_back(W.clone().requires_grad_());
  return copies;
}

}  // namespace

Problem read_problem(const std::string& directory, const std::vector<std::int64_t>& widths,
                     std::int64_t samples, bool classes, torch::ScalarType type) {
  Problem problem;
  for (std::size_t m = 1; m < widths.size(); ++m) {
    problem.weights.push_back(
        read_tensor(directory + "/W" + std::to_string(m), {widths[m], widths[m - 1]}, type));
  }
  problem.X = read_tensor(directory + "/X", {samples, widths.front()}, type);
  problem.target = classes ? read_tensor(directory + "/y", {samples}, torch::kInt64)
                           : read_tensor(directory + "/Y", {samples, widths.back()}, type);
  return problem;
}

torch::Tensor loss(const Tensors& weights, const torch::Tensor& X, const torch::Tensor& target) {
  torch::Tensor h = X;
  for (std::size_t m = 0; m < weights.size(); ++m) {
    h = torch::linear(h, weights[m]);
    if (m + 1 < weights.size()) h = sigma(h);
  }
  return target.scalar_type() == torch::kInt64 ? torch::cross_entropy_loss(h, target)
                                               : 0.5 * (h - target).square().sum();
}

double sgd_step(Tensors& weights, const torch::Tensor& X, const torch::Tensor& target,
                double rate) {
  const torch::Tensor value = loss(weights, X, target);
  const Tensors gradient = torch::autograd::grad({value}, weights);
  torch::NoGradGuard guard;
  for (std::size_t m = 0; m < weights.size(); ++m) weights[m].add_(gradient[m], -rate);
  return value.item<double>();
}

double optimizer_steps(const std::string& name, const Problem& problem, int steps, double rate) {
  const Tensors weights = parameters(problem.weights);
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  if (name == "adagrad") {
    optimizer =
        std::make_unique<torch::optim::Adagrad>(weights, torch::optim::AdagradOptions(rate));
  } else {
    optimizer = std::make_unique<torch::optim::Adam>(weights, torch::optim::AdamOptions(rate));
  }
  double last = 0.0;
  for (int i = 0; i < steps; ++i) {
    optimizer->zero_grad();
    const torch::Tensor value = loss(weights, problem.X, problem.target);
    value.backward();
    optimizer->step();
    last = value.item<double>();
  }
  return last;
}

Teleport::Teleport(const Problem& problem)
    : problem_(problem),
      weights_(problem.weights),
      inputs_inverse_(torch::linalg_pinv(problem.X)) {}

namespace {

States forward(const Tensors& weights, const torch::Tensor& X) {
  States states;
  states.h.push_back(X);
  for (std::size_t m = 0; m + 1 < weights.size(); ++m) {
    states.z.push_back(torch::linear(states.h.back(), weights[m]));
    states.h.push_back(sigma(states.z.back()));
  }
  return states;
}

/// W'_m = (W_m + (z'_m - z_m) l_(m-1)) g_(m-1)^-1 with g_m = I + T_m (transposed: rows are
/// samples).
Tensors moved(const Tensors& weights, const States& states, const Tensors& inverses,
              const Tensors& T) {
  Tensors result;
  torch::Tensor undo;
  for (std::size_t m = 0; m < weights.size(); ++m) {
    torch::Tensor W = weights[m];
    torch::Tensor g;
    if (m < T.size()) {
      g = torch::eye(T[m].size(0), T[m].options()) + T[m];
      const torch::Tensor z = sigma_inverse(torch::matmul(states.h[m + 1], g.t()));
      W = W + torch::matmul((z - states.z[m]).t(), inverses[m].t());
    }
    if (undo.defined()) W = torch::matmul(W, undo);
    result.push_back(W);
    undo = g.defined() ? torch::linalg_inv(g) : torch::Tensor();
  }
  return result;
}

}  // namespace

Ascent Teleport::evaluate(double rate) {
  states_ = forward(weights_, problem_.X);
  inverses_ = {inputs_inverse_};
  Tensors T;
  for (std::size_t m = 0; m + 1 < weights_.size(); ++m) {
    if (m > 0) inverses_.push_back(torch::linalg_pinv(states_.h[m]));
    const std::int64_t d = weights_[m].size(0);
    T.push_back(torch::zeros({d, d}, weights_[m].options()).requires_grad_());
  }
  const Tensors W = moved(weights_, states_, inverses_, T);
  const Tensors gradient =
      torch::autograd::grad({loss(W, problem_.X, problem_.target)}, W, {}, true, true);
  torch::Tensor J = torch::zeros({}, gradient[0].options());
  for (const torch::Tensor& G : gradient) J = J + G.square().sum();
  torch::Tensor value = J;
  if (rate > 0.0) {
    // J differentiated in W is 2 H g.
    const Tensors Hg = torch::autograd::grad({J}, W, {}, true, true);
    torch::Tensor Phi = torch::zeros({}, J.options());
    for (std::size_t m = 0; m < W.size(); ++m) Phi = Phi + 0.5 * (gradient[m] * Hg[m]).sum();
    value = rate * J - 0.5 * rate * rate * Phi;
  }
  return {value.item<double>(), torch::autograd::grad({value}, T)};
}

double Teleport::step(double rate, double length) {
  const Ascent ascent = evaluate(rate);
  torch::NoGradGuard guard;
  double squares = 0.0;
  for (const torch::Tensor& G : ascent.gradient) squares += G.square().sum().item<double>();
  Tensors T;
  for (const torch::Tensor& G : ascent.gradient) T.push_back(G * (length / std::sqrt(squares)));
  weights_ = moved(weights_, states_, inverses_, T);
  return ascent.value;
}
