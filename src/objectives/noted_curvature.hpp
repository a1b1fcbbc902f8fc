// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "symport/objectives/local_curvature.hpp"

namespace symport {

/// A local curvature whose work somebody is told of, in gradients, as it is done.
template <Real Scalar>
class NotedCurvature final : public LocalCurvature<Scalar> {
 public:
  NotedCurvature(std::unique_ptr<LocalCurvature<Scalar>> inner,
                 std::function<void(double gradients)> tell)
      : inner_(std::move(inner)), tell_(std::move(tell)) {
    note();
  }
  double largest_eigenvalue() override {
    const double largest = inner_->largest_eigenvalue();
    note();
    return largest;
  }
  double next_loss(double learning_rate) override {
    const double loss = inner_->next_loss(learning_rate);
    note();
    return loss;
  }
  double evaluations() const override { return inner_->evaluations(); }

 private:
  void note() {
    tell_(inner_->evaluations() - noted_);
    noted_ = inner_->evaluations();
  }

  std::unique_ptr<LocalCurvature<Scalar>> inner_;
  std::function<void(double)> tell_;
  double noted_ = 0.0;
};

}  // namespace symport
