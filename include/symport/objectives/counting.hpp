// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>

#include "symport/objectives/objective.hpp"

namespace symport {

/// What was asked of an objective. One number for a fair comparison: `gradient_equivalents`.
struct EvaluationCount {
  Index values = 0;
  Index gradients = 0;
  Index hessian_vectors = 0;
  Index third_derivatives = 0;
  Index curvatures = 0;
  double other = 0.0;  ///< of local curvatures and on the states of a network, in gradients

  /// In units of one gradient: a value is half of one, a Hessian-vector product or a curvature
  /// along a direction two, a third derivative along a direction four.
  double gradient_equivalents() const {
    return 0.5 * static_cast<double>(values) + static_cast<double>(gradients) +
           2.0 * static_cast<double>(hessian_vectors + curvatures) +
           4.0 * static_cast<double>(third_derivatives) + other;
  }
};

/// Counts the calls that reach another objective, and the work done directly on its network.
/// Answers, and how they are computed, are those of the other objective. Calls from several threads
/// are all counted.
template <Real Scalar = double>
class CountingObjective final : public BasicObjective<Scalar> {
 public:
  /// `inner` must outlive this object.
  explicit CountingObjective(const BasicObjective<Scalar>& inner) : inner_(inner) {}

  Index dimension() const override { return inner_.dimension(); }
  double value(In<Scalar> w) const override {
    add_one(values_);
    return inner_.value(w);
  }
  double gradient(In<Scalar> w, Out<Scalar> gradient) const override {
    add_one(gradients_);
    return inner_.gradient(w, gradient);
  }
  void hessian_vector(In<Scalar> w, In<Scalar> v, Out<Scalar> result) const override {
    add_one(hessian_vectors_);
    inner_.hessian_vector(w, v, result);
  }
  void third_derivative(In<Scalar> w, In<Scalar> v, Out<Scalar> result) const override {
    add_one(third_derivatives_);
    inner_.third_derivative(w, v, result);
  }
  double curvature(In<Scalar> w, In<Scalar> v) const override {
    add_one(curvatures_);
    return inner_.curvature(w, v);
  }
  std::unique_ptr<LocalCurvature<Scalar>> local_curvature(
      In<Scalar> w, KnownGradient<Scalar> known) const override;
  /// Its users report their work through `note_work`.
  void weight_inputs(In<Scalar> w, const UseInputs<Scalar>& use) const override {
    inner_.weight_inputs(w, use);
  }
  const MlpObjective<Scalar>* mlp() const override { return inner_.mlp(); }
  void note_work(double gradients) const override {
    add_other(gradients);
    inner_.note_work(gradients);
  }

  /// So far. Complete once the threads that called are joined.
  EvaluationCount count() const;
  void reset();

 private:
  static void add_one(std::atomic<Index>& calls) { calls.fetch_add(1, std::memory_order_relaxed); }
  void add_other(double gradients) const;

  const BasicObjective<Scalar>& inner_;
  mutable std::atomic<Index> values_{0}, gradients_{0}, hessian_vectors_{0}, third_derivatives_{0},
      curvatures_{0};
  mutable std::atomic<double> other_{0.0};
};

}  // namespace symport
